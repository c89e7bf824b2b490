"""The usual case of evidence, without reading facts: what a statement tells stands in a quote as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress

from orchestra.context.dates import MONTH_WORDS, WEEKDAY_WORDS
from orchestra.context.figures import NUMBER_WORDS
from orchestra.context.names import COMMON
from orchestra.text.known import Known
from orchestra.text.shape import letter_runs

# Words with which a statement has to be read: numbers in words, parts of dates, a share of something.
READ = NUMBER_WORDS | MONTH_WORDS | WEEKDAY_WORDS | frozenset((b"quarter", b"quarters", b"century"))
_TELLING = re.compile("[0-9A-Z]")
_FRACTION = re.compile(r"[^0-9A-Za-z]*\.[0-9]")  # its point is no mark beside it
_EDGES = ".,;:!?()[]{}\"'`*"
_UNREAD = "?"  # no word is this when its marks are off
_WORD = re.compile(r"\S+")
# A unit of more than one word goes on after one of these, or before it.
_LINKS = frozenset("per a an each of square cubic metric us cent degrees percentage basis".split())


def stands(value: str, text: str) -> bool:
    """Whether `value` stands in `text` as it is, touching no letter, digit or point: the usual case."""
    if f" {value} " in text:
        return value != ""
    at = text.find(value) if value else -1
    while at >= 0:
        end = at + len(value)
        before, after, more = text[at - 1 : at], text[end : end + 1], text[end + 1 : end + 2]
        joined = before != " " and at > 0 and (before.isalnum() or before in "_.,-")
        if not (joined or after.isalnum() or after == "_" or (after in ".,-" and more.isalnum())):
            return True
        at = text.find(value, at + 1)
    return False


def told_plainly(statement: str) -> set[str] | None:
    """What has to stand in the evidence of `statement`: names, and figures with their units, in lower case.

    A name begins with a letter, a figure does not. None where only reading the facts can tell. English only.
    """
    if not statement.isascii():
        return None
    words = statement.split()
    looked = list(map(_looks.__getitem__, words))
    # What stands before each word and after the last, where it is not one blank between any two.
    gaps = None if " ".join(words) == statement else _WORD.split(statement)
    told = set()
    for at, word in compress(enumerate(looked), looked):
        if word[0].isalpha():
            if word not in COMMON or not _starts(words, at, gaps):
                told.add(word)
        elif word != _UNREAD:
            told.add(_with_unit(words, at, word, gaps))
        else:
            return None
    return told


def is_plainly_borne(told: set[str] | None, quoted: str, whole: str) -> bool:
    """True where every figure that is told stands in `quoted` with its unit and every name in `whole`.

    Both texts are in lower case. False says nothing: the facts have to be read.
    """
    if told is None:
        return False
    for value in told:  # noqa: SIM110 - it is called for every sentence, and all() takes twice as long
        if not stands(value, whole if value[0].isalpha() else quoted):
            return False
    return True


def _look(word: str) -> str:
    """A word with a digit or a capital in it, in lower case without marks; "" for another.

    `_UNREAD` for one with which a statement has to be read.
    """
    if not READ.isdisjoint(letter_runs(word)) or _FRACTION.match(word):
        return _UNREAD
    return word.strip(_EDGES).lower() if _TELLING.search(word) else ""


_looks = Known(_look, 1 << 14)
_bare = Known(lambda word: word.lower().rstrip(_EDGES), 1 << 12)


def _starts(words: Sequence[str], at: int, gaps: Sequence[str] | None) -> bool:
    """Whether a sentence begins with this word, as far as one can see."""
    if gaps is not None and len(gaps[at]) != (at > 0):
        return False
    return at == 0 or words[at - 1][-1] in ".!?"


def _with_unit(words: Sequence[str], at: int, word: str, gaps: Sequence[str] | None) -> str:
    """A figure with the words that may be its unit, as far as its sentence's part goes."""
    if words[at][-1] in _EDGES:
        return word
    after = words[at + 1 : at + 3]
    if gaps is not None:  # it goes on only on the same line
        blank = [not gap.strip(" ") for gap in gaps[at + 1 : at + 1 + len(after)]]
        after = after[: (*blank, False).index(False)]
    if not after:
        return word
    bare = _bare[after[0]]
    if len(after) > 1 and after[0][-1] not in _EDGES:
        further = _bare[after[1]]
        if further and (bare in _LINKS or further in _LINKS):
            return f"{word} {bare} {further}"
    return f"{word} {bare}" if bare else word
