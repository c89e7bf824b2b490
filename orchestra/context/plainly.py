"""The usual case of evidence, without reading facts: what a statement tells stands in a quote as it is."""

from __future__ import annotations

import re
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
_JOINED = re.compile(r"[\w.,-]")  # what may stand before a value and belong to it
_GOES_ON = re.compile(r"\w|[.,-][^\W_]")  # the same behind it
_EDGES = ".,;:!?()[]{}\"'`*"
_UNREAD = "?"  # no word is this when its marks are off
_BREAK = re.compile(r" *[^\S ]\s*")  # between two words, more than blanks
_FIRST = re.compile(r"\A\S+|(?<=[.!?])\s\S+")  # with which a sentence begins, as far as one can see
# A unit of more than one word goes on after one of these, or before it.
_LINKED = "per a an each of square cubic metric us cent degrees percentage basis".split()
_LINKS_ON = frozenset(f"{word} " for word in _LINKED)  # as of a word that a further one may follow
_LINKS = _LINKS_ON.union(_LINKED)

Told = set[str] | None
"""What has to stand in the evidence of a statement, in lower case: names, and figures with their units.

A name begins with a letter, a figure does not. None where only reading the facts can tell.
"""


def stands(value: str, text: str) -> bool:
    """Whether `value` stands in `text` as it is, touching no letter, digit or point: the usual case."""
    if f" {value} " in text:
        return value != ""
    at = text.find(value) if value else -1
    while at >= 0:
        begins = at == 0 or text[at - 1] == " " or not _JOINED.match(text, at - 1)
        if begins and not _GOES_ON.match(text, at + len(value)):
            return True
        at = text.find(value, at + 1)
    return False


def told_plainly(statement: str) -> Told:
    """What a statement tells. English only."""
    if not statement.isascii():
        return None
    words = statement.split()
    even = " ".join(words) == statement
    if not even:  # a unit goes on only on the same line
        words = _BREAK.sub(" . ", statement).split()
    looked = [*map(_looks.__getitem__, words)]
    told = set()
    for at in compress(range(len(looked)), looked):
        word = looked[at]
        if word[0].isalpha():
            if word not in COMMON or (even and at and words[at - 1][-1] not in ".!?"):
                told.add(word)
        elif word == _UNREAD:
            return None
        else:
            told.add(_with_unit(words, at, word) if word[-1] == " " else word)
    if not even:
        told.update(COMMON.intersection(map(_looks.__getitem__, _FIRST.sub(" ", statement).split())))
    return told


def _with_unit(words: list[str], at: int, figure: str) -> str:
    """A figure with the words that may be its unit, as far as its sentence's part goes."""
    after = words[at + 1 : at + 3]
    if not after:
        return figure[:-1]
    unit = _bare[after[0]]
    if len(after) > 1 and unit[-1:] == " ":
        further = _bare[after[1]]
        if unit in _LINKS_ON or further in _LINKS:
            unit += further
    return f"{figure}{unit}".rstrip()


def is_plainly_borne(told: Told, quoted: str, whole: str) -> bool:
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

    With a blank behind a figure that its unit may follow; `_UNREAD` for one with which a statement has to be
    read.
    """
    if not READ.isdisjoint(letter_runs(word)) or _FRACTION.match(word):
        return _UNREAD
    if not _TELLING.search(word):
        return ""
    told = word.strip(_EDGES).lower()
    return told if told[0].isalpha() else _open(told, word)


def _open(bare: str, word: str) -> str:
    """What is left of a word without marks, with a blank behind it where none ends the word."""
    return f"{bare} " if bare and word[-1] not in _EDGES else bare


_looks = Known(_look, 1 << 14)
_bare = Known(lambda word: _open(word.lower().rstrip(_EDGES), word), 1 << 12)
