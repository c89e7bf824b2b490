"""Sentences of English, Chinese and Japanese text, with exact offsets.

A heading, a list item's sentences, a table row, a code block and a field line are units of their own; within
prose a full stop ends a sentence unless it belongs to an abbreviation, a number, inline code, a quotation
or brackets.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from msgspec import Struct

from orchestra.text.lines import Block, Kind, blocks

LONGEST = 2_000  # characters; what runs on without a full stop is cut at a space near here

_END = re.compile(r"[.!?…]+|[。！？!?；]+")
_CLOSERS = "\"'”’)]}»」』）】》*_`"
_WIDE_END = frozenset("。！？；")
_ABBREVIATIONS = frozenset(
    "e.g i.e cf vs etc al approx resp dr mr mrs ms prof st no nos fig figs sec ch eq ed eds vol pp p op inc ltd co"
    " corp jr sr dept est univ jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k a.m p.m viz ca".split()
)
_ENDS_ANYWAY = frozenset({"etc", "al", "inc", "ltd", "co", "corp", "jr", "sr", "a.m", "p.m", "u.s", "u.k"})
_WORD_BEFORE = re.compile(r"[\w.]+$")
_PROTECTED = re.compile(
    r"``.{1,300}?``|`[^`\n]{1,300}`|“[^”]{1,400}”|「[^」]{1,400}」|『[^』]{1,400}』|《[^》]{1,100}》"
    r"|(?<![\w\"])\"[^\"]{1,300}\"(?!\w)|(?<!\w)\((?:[^()]|\([^()]{0,100}\)){1,400}\)|（[^（）]{1,300}）",
    re.DOTALL,
)


class Span(Struct, frozen=True):
    """`text[start:end]` is the unit; `block` numbers the paragraph, item, row or code block it stands in."""

    start: int
    end: int
    kind: Kind
    block: int


def sentences(text: str) -> list[Span]:
    """The units of `text` in order; they do not overlap and carry no outer white space."""
    spans: list[Span] = []
    for number, block in enumerate(blocks(text)):
        if block.kind in ("prose", "item"):
            spans.extend(
                Span(start, end, block.kind, number) for start, end in _prose(text, block.start, block.end)
            )
        else:
            spans.extend(_long(text, block, number))
    return spans


def _long(text: str, block: Block, number: int) -> list[Span]:
    return [
        Span(start, end, block.kind, number) for start, end in _capped(text, block.start, block.end)
    ]


def _prose(text: str, start: int, end: int) -> list[tuple[int, int]]:
    body = text[start:end]
    shields = [match.span() for match in _PROTECTED.finditer(body)]
    opens = [first for first, _ in shields]
    cuts: list[int] = []
    for match in _END.finditer(body):
        at = _boundary(body, match, shields, opens)
        if at is not None and (not cuts or at > cuts[-1]):
            cuts.append(at)
    edges = [0, *cuts, len(body)]
    found: list[tuple[int, int]] = []
    for first, last in zip(edges, edges[1:], strict=False):
        piece = body[first:last]
        if piece.strip():
            left = first + len(piece) - len(piece.lstrip())
            right = first + len(piece.rstrip())
            found.extend(_capped(text, start + left, start + right))
    return found


def _boundary(
    body: str, match: re.Match[str], shields: list[tuple[int, int]], opens: list[int]
) -> int | None:
    """Where the sentence that ends in `match` ends, closing marks included; None: it does not end here."""
    end = match.end()
    shield = bisect_right(opens, match.start()) - 1
    inside = shield >= 0 and match.start() < shields[shield][1]
    if not inside:
        while end < len(body) and body[end] in _CLOSERS:
            end += 1
    else:
        if end < shields[shield][1] - 2 or body[shields[shield][1] - 1] in ")）`":
            return None
        end = shields[shield][1]
    if match.group()[0] in _WIDE_END:
        return end if end >= len(body) or body[end] not in "，、,的" else None
    if end >= len(body):
        return end
    if not body[end].isspace():
        return end if match.group()[0] in "!?" and "\u3000" < body[end] else None
    return end if _starts_new(body, end) and not _abbreviated(body, match) else None


def _starts_new(body: str, end: int) -> bool:
    """Whether what follows can open a sentence: not a small letter, unless the word is code or a name."""
    rest = body[end : end + 40].lstrip()
    if not rest:
        return True
    first = rest.lstrip("\"'“‘([*_:`")[:1] or rest[0]
    if not first.islower():
        return first not in ",;:)"
    word = re.match(r"[\"'“‘(*:`]*([\w.\-()]+)", rest)
    return rest[0] in "`:*" or (word is not None and bool(re.search(r"[_(\d]|\w\.\w|[a-z][A-Z]", word.group(1))))


def _abbreviated(body: str, match: re.Match[str]) -> bool:
    if match.group() != ".":
        return False
    before = _WORD_BEFORE.search(body[max(0, match.start() - 20) : match.start()])
    if before is None:
        return False
    word = before.group().lower()
    if word in _ENDS_ANYWAY:
        return False
    if len(word) == 1 and word.isalpha():
        return before.group().isupper() and word != "i"  # an initial: "G. van Rossum"
    if word in ("no", "nos", "fig", "sec", "ch", "p", "pp", "vol", "eq"):
        return body[match.end() : match.end() + 4].lstrip()[:1].isdigit()
    return word in _ABBREVIATIONS


def _capped(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span in pieces of at most LONGEST characters, cut at white space or a comma where there is one."""
    found = []
    while end - start > LONGEST:
        window = text[start : start + LONGEST]
        cut = max(window.rfind(mark) for mark in (" ", "\n", "，", "、"))
        cut = cut + 1 if cut > LONGEST // 2 else LONGEST
        piece = text[start : start + cut]
        found.append((start, start + len(piece.rstrip()) if piece.strip() else start + cut))
        start += cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        found.append((start, end))
    return found
