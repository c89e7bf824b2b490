"""Finding what a model quotes in the document it quotes from: verbatim, or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from orchestra.text.fold import Folded, fold, folded
from orchestra.values.sources import Document, Quote

LEAST_WEIGHT = 10  # letters and digits, a Chinese or Japanese character counting three: "the" is no quote

SHELF_CHARACTERS = 4_000_000  # of texts whose folded forms are kept for all sessions

_ELLIPSIS = re.compile(r"\s*(?:[\[(]\s*(?:\.{3}|…+)\s*[\])]|\.{3,}|…+|\. \. \.)\s*")
_OUTER = "\"'`“”‘’„«»「」『』* \t\r\n"
_STOPS = ".,;:!?。，；：！？、…\"'”’」』 "
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff]")
_LETTER = re.compile(r"[^\W_]")
_NO_LETTERS = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_MARKUP = re.compile(r"[*`]")
_MOST_PARTS = 8
_MOST_OCCURRENCES = 1_000  # of a span that stands everywhere but never between two edges
_NUMERALS = frozenset("零〇一二两三四五六七八九十百千万亿点")


class Folds:
    """A text's folded forms; the second is made when it is first needed."""

    __slots__ = ("_unmarked", "folded", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = fold(text)
        self._unmarked: Folded | None = None

    @property
    def unmarked(self) -> Folded:
        """Without marks of emphasis and code."""
        if self._unmarked is None:
            self._unmarked = fold(self.text, unmarked=True)
        return self._unmarked


class Shelf:
    """The folded forms of documents, for all sessions: those last asked for, up to so many characters.

    One session's text is never taken for another's: beside the hash, which a tool may have got wrong, the
    texts themselves are the same.
    """

    def __init__(self, characters: int = SHELF_CHARACTERS) -> None:
        self._room = characters
        self._folds: dict[str, Folds] = {}

    def folds(self, document: Document) -> Folds:
        """Those of a document's text."""
        digest = document.sha256
        known = self._folds.pop(digest, None)
        if known is not None and known.text == document.text:
            self._folds[digest] = known  # the last asked for
            return known
        self._room += len(known.text) if known is not None else 0
        made = self._folds[digest] = Folds(document.text)
        self._room -= len(made.text)
        while self._room < 0:
            self._room += len(self._folds.pop(next(iter(self._folds))).text)
        return made


Near = Callable[[], Sequence[tuple[int, int]]]
"""The spans that are preferred; asked for only where a text stands more than once."""


def find_quote(document: Document, text: str, near: Near = tuple) -> Quote | None:
    """The verbatim span of `document` that `text` quotes, None if it is not there or too short to be one.

    White space, Unicode form, typographic signs and marks of emphasis or code may differ, quotation marks may
    stand around it, its last stop may be missing and its first letter be large or small; nothing else may.
    A span inside one of `near` is preferred, then the first.
    """
    return _quote(document, text, near, Folds(document.text))


def find_quotes(
    document: Document, text: str, near: Near = tuple, folds: Folds | None = None
) -> tuple[Quote, ...]:
    """As `find_quote`, and where `text` leaves something out with an ellipsis, a quote for each part.

    The parts must all be there and in their order; otherwise there is none. `folds`: those of the document,
    where they are kept.
    """
    folds = folds or Folds(document.text)
    whole = _quote(document, text, near, folds)
    if whole is not None:
        return (whole,)
    parts = [part for part in _ELLIPSIS.split(text) if part.strip(_OUTER)]
    if not 2 <= len(parts) <= _MOST_PARTS:
        return ()
    found: list[Quote] = []
    for part in parts:
        after = found[-1].end if found else 0
        quote = _quote(document, part, partial(tuple, ((after, len(document.text)),)), folds)
        if quote is None or quote.start < after:
            return ()
        found.append(quote)
    return tuple(found)


def _quote(document: Document, text: str, near: Near, folds: Folds) -> Quote | None:
    span = _first_span(folds.folded, folded(text), near)
    if span is None and _MARKUP.search(folds.text):
        span = _first_span(folds.unmarked, folded(text, unmarked=True), near)
    if span is None:
        return None
    start, end = span
    return Quote(document.locator, document.title, document.text[start:end], start, end)


def _first_span(source: Folded, given: str, near: Near) -> tuple[int, int] | None:
    if not _is_enough(given):
        return None
    span = _span(source, given, near)
    if span is None:
        for wanted in _forms(given):
            if not _is_enough(wanted):
                return None
            span = _span(source, wanted, near)
            if span is not None:
                break
    return span


def _forms(given: str) -> Iterator[str]:
    """What else to look for, nearest to the letter first."""
    bare = given.strip(_OUTER)
    if bare != given:
        yield bare
    ended = bare.rstrip(_STOPS)
    if ended != bare:
        yield ended
    if ended and ended[0].swapcase() != ended[0] and len(ended[0].swapcase()) == 1:
        for form in (bare, ended):
            yield form[0].swapcase() + form[1:]


def _is_enough(text: str) -> bool:
    if text.isascii():
        return " " in text and len(text.encode().translate(None, _NO_LETTERS)) >= LEAST_WEIGHT
    wide = len(_WIDE.findall(text))
    letters = len(_LETTER.findall(text)) - wide
    return letters + 3 * wide >= LEAST_WEIGHT and (wide > 3 or " " in text)


def _span(source: Folded, wanted: str, near: Near) -> tuple[int, int] | None:
    """Where `wanted` stands between the edges of words and numbers, by preference inside one of `near`."""
    text = source.text
    start = text.find(wanted)
    if start < 0:
        return None
    first: tuple[int, int] | None = None
    preferred: Sequence[tuple[int, int]] = ()
    for _ in range(_MOST_OCCURRENCES):
        end = start + len(wanted)
        further = text.find(wanted, start + 1)
        if _stands_apart(text, start, end):
            span = source.span(start, end)
            if first is None:
                preferred = near() if further >= 0 else ()
                if not preferred:
                    return span
                first = span
            for left, right in preferred:
                if left <= span[0] and span[1] <= right:
                    return span
        if further < 0:
            break
        start = further
    return first


def _stands_apart(text: str, start: int, end: int) -> bool:
    """Whether no word or number is cut in two at either end."""
    if start > 0 and text[start - 1] != " " and _cuts_left(text, start):
        return False
    return end == len(text) or text[end] == " " or not _cuts_right(text, end)


def _cuts_left(text: str, at: int) -> bool:
    """Whether a word, a number or its sign is cut in two before `at`: no `1,250 units` from 11,250 units."""
    before, first = text[at - 1], text[at]
    if first.isdigit():
        joined = (
            before in ".,-+"
            and at > 1
            and (text[at - 2].isdigit() or (before in "-+." and not text[at - 2].isalnum()))
        )
        return before.isdigit() or joined or _is_latin(before) or (before == "-" and at == 1)
    if first in _NUMERALS:
        return before in _NUMERALS or before.isdigit()
    return _is_latin(first) and (_is_latin(before) or before == "_")


def _cuts_right(text: str, end: int) -> bool:
    last, after = text[end - 1], text[end]
    if last.isdigit():
        more = text[end + 1 : end + 2].isdigit()
        return (
            after.isdigit()
            or (after in ".," and more)
            or _is_latin(after)
            or after in "%‰"
            or after in _NUMERALS
        )
    if last in _NUMERALS:
        return after in _NUMERALS
    return _is_latin(last) and (_is_latin(after) or after == "_")


def _is_latin(char: str) -> bool:
    return char.isalnum() and not _WIDE.match(char)
