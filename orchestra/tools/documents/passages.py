"""Passages: the parts of a document that are found, shown and quoted.

A passage lies within one section, ends where a paragraph or a listing ends, and is about as long as a person
reads at once. Passages follow each other and cover everything that is not blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from orchestra.tools.documents.outline import Heading
from orchestra.tools.documents.reading import Reading
from orchestra.values.sources import Passage

VERSION = 2
"""Raised when the same file gives other passages than before, so that an index knows it is old."""

# Sizes are in pieces: a word of up to 12 letters, a sign, a character of a script without spaces. English
# prose has about 1.1 tokens a piece; nothing is budgeted by it.
LEAST = 80
TARGET = 200
MOST = 280
_SURELY_TOO_LONG = 20 * MOST  # characters, unless most are blanks

_PIECE = re.compile(
    "[\u0e01-\u0ece\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003134f]"
    r"|\w{1,12}|[^\w\s]"
)
_GAP = re.compile(r"(?>\r\n|[\r\n])(?:[ \t\f\v]*(?>\r\n|[\r\n]))+|[^\S\r\n]{200,}")
_WIDE = 200  # characters of blanks over which nothing is joined
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\r\n]*)", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？])[”」』）]*")
_LINE_END = re.compile(r"[\r\n]+")
_BLANK = re.compile(r"\s+")


class Section(Struct, frozen=True):
    """A stretch of text under one heading; `path` are the headings from the outermost, joined by " > "."""

    start: int
    end: int
    path: str


class Span(Struct, frozen=True):
    """Characters [start, end) and how many pieces they are, counted no further than just beyond MOST."""

    start: int
    end: int
    size: int


def cut(reading: Reading) -> tuple[Passage, ...]:
    """All passages of a document in order."""
    document, content = reading.document, reading.content
    text = document.text
    spans: list[tuple[Span, str]] = []
    for section in _sections(reading):
        atoms = _atoms(text, section, by_lines=content.by_lines)
        for span in _pack(text, atoms):
            if content.by_lines and spans and _belong(spans[-1][0], span):
                last, path = spans.pop()
                spans.append((_joined(last, span), path))
            else:
                spans.append((span, section.path))
    return tuple(
        Passage(document, text[span.start : span.end], span.start, span.end, path) for span, path in spans
    )


def _sections(reading: Reading) -> Iterator[Section]:
    """The preamble, the text before the first heading, then one for each heading that has text of its own."""
    document, content = reading.document, reading.content
    end = len(document.text)
    starts = [
        0,
        *([content.preamble] if content.preamble else []),
        *(head.start for head in content.headings),
    ]
    heads: list[Heading | None] = [None, *([None] if content.preamble else []), *content.headings]
    above: list[Heading] = []
    held: int | None = None  # where a heading without text of its own began
    for at, head in enumerate(heads):
        if head is not None:
            above = [*(other for other in above if other.level < head.level), head]
        stop = max(starts[at + 1] if at + 1 < len(starts) else end, starts[at])
        begin = starts[at] if held is None else held
        if head is not None and at + 1 < len(heads) and _is_bare(document.text[starts[at] : stop], head):
            held = begin
            continue
        held = None
        yield Section(begin, stop, _path(above, document.title))


def _is_bare(text: str, head: Heading) -> bool:
    """Whether a section holds nothing but its heading and the line drawn under it."""
    if len(text) > 4 * len(head.title) + 80:
        return False
    body = _BLANK.sub(" ", text).strip().strip("=-~^\"'`#*+_.: ")
    return len(body) <= len(head.title) + 2


def _path(above: list[Heading], title: str) -> str:
    names = [head.title for head in above]
    if names and names[0].casefold() == title.casefold():
        names = names[1:]
    return " > ".join(names)


def _atoms(text: str, section: Section, *, by_lines: bool) -> list[Span]:
    """What stays together: paragraphs, fenced listings, runs of indented blocks; what is too long is cut."""
    atoms: list[Span] = []
    for group in _groups(text, list(_blocks(text, section.start, section.end))):
        whole = _span(text, group[0][0], group[-1][1])
        if whole.size <= MOST:
            atoms.append(whole)
            continue
        for start, end in group:
            block = _span(text, start, end)
            listing = by_lines or len(group) > 1 or text[start] in " \t|`~"
            atoms.extend([block] if block.size <= MOST else _slices(text, block, by_lines=listing))
    return atoms


def _span(text: str, start: int, end: int) -> Span:
    if end - start < _SURELY_TOO_LONG:
        return Span(start, end, len(_PIECE.findall(text, start, end)))
    return Span(start, end, sum(1 for _ in islice(_PIECE.finditer(text, start, end), MOST + 1)))


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches between empty lines or very many blanks, with the indent of their first line."""
    at = start
    gaps = [(found.start(), found.end()) for found in _GAP.finditer(text, start, end)]
    for gap_start, gap_end in [*gaps, (end, end)]:
        stop = at + len(text[at:gap_start].rstrip())
        if stop > at:
            yield at, stop
        at = gap_end


def _groups(text: str, blocks: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Joins the blocks of a fenced listing, and indented blocks that follow each other."""
    group: list[tuple[int, int]] = []
    fence = ""
    for start, end in blocks:
        if group and (start - group[-1][1] > _WIDE or not (fence or _continues(text, group[-1][0], start))):
            yield group
            group = []
        group.append((start, end))
        fence = _open_fence(text[start:end], fence)
    if group:
        yield group


def _continues(text: str, before: int, start: int) -> bool:
    """Whether an indented block follows another, as in a listing with empty lines."""
    return text.startswith(("  ", "\t"), before) and text.startswith(("  ", "\t"), start)


def _open_fence(block: str, fence: str) -> str:
    """The fence that is open after a block, "" where none is."""
    if "```" in block or "~~~" in block:
        for mark, rest in _FENCE.findall(block):
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not rest.strip():
                fence = ""
    return fence


def _slices(text: str, block: Span, *, by_lines: bool) -> Iterator[Span]:
    """A block that is too long, cut at ends of sentences (or lines), else at blanks, else anywhere."""
    at = block.start
    while True:
        found = list(islice(_PIECE.finditer(text, at, block.end), MOST + 1))
        if len(found) <= MOST:
            if found:
                yield Span(at, block.end, len(found))
            return
        low, high = found[LEAST].start(), found[TARGET].start()
        stop = _last(_LINE_END if by_lines else _SENTENCE_END, text, low, high)
        stop = stop or _last(_LINE_END, text, low, high) or _last(_BLANK, text, low, high) or high
        size = sum(1 for piece in found if piece.start() < stop)
        yield Span(at, at + len(text[at:stop].rstrip()), size)
        at = _line_start(text, stop, block.end)


def _line_start(text: str, at: int, end: int) -> int:
    """Where the text goes on after `at`: at its line's beginning if that lies between, to keep indents."""
    blank = _BLANK.match(text, at, end)
    if blank is None:
        return at
    newline = max(text.rfind("\n", at - 1, blank.end()), text.rfind("\r", at - 1, blank.end()))
    return newline + 1 if newline >= 0 else blank.end()


def _last(pattern: re.Pattern[str], text: str, low: int, high: int) -> int:
    """The end of the last match in [low, high), 0 where there is none."""
    return max((found.end() for found in pattern.finditer(text, low, high) if found.end() > low), default=0)


def _pack(text: str, atoms: Iterable[Span]) -> list[Span]:
    """Neighbours joined up to the target; a short rest, or what a colon announces, joins what precedes."""
    packed: list[Span] = []
    for atom in atoms:
        last = packed[-1] if packed else None
        if last and atom.start - last.end <= _WIDE:
            close = min(last.size, atom.size) < LEAST // 3 or text[last.end - 1] in ":："
            if last.size + atom.size <= (MOST if close else TARGET):
                packed[-1] = _joined(last, atom)
                continue
        packed.append(atom)
    return packed


def _joined(first: Span, second: Span) -> Span:
    return Span(first.start, second.end, first.size + second.size)


def _belong(last: Span, span: Span) -> bool:
    """Small definitions next to each other make one passage."""
    if span.start - last.end > _WIDE:
        return False
    return min(last.size, span.size) < LEAST // 2 and last.size + span.size <= TARGET
