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

Told = tuple[set[str], list[str]] | None
"""What has to stand in the evidence of a statement, in lower case: names, and figures with their units.

None where only reading the facts can tell.
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
    """What a statement tells: a name begins with a letter, a figure does not. English only."""
    if not statement.isascii():
        return None
    words = statement.split()
    if " ".join(words) != statement:  # a unit goes on only on the same line, and it may begin with a blank
        words = ["", *_BREAK.sub(" . ", statement).split()]
    names = {*map(_names.__getitem__, words[1:])}
    if words and (first := _names[words[0]]) not in COMMON:
        names.add(first)
    if _UNREAD in names:
        return None
    names.discard("")
    if not names.isdisjoint(COMMON):  # they say something but where a sentence begins
        later = map(_names.__getitem__, _FIRST.sub(" ", statement).split())
        names -= (names & COMMON).difference(later)
    figures = []
    words += ("", "")
    looked = [*map(_figures.__getitem__, words)]
    for at, figure in compress(enumerate(looked, 1), looked):
        if figure[-1] == " ":  # the words behind it may be its unit
            unit, further = _bare[words[at]], _bare[words[at + 1]]
            if (unit in _LINKS_ON or further in _LINKS) and unit[-1:] == " ":
                unit += further
            figure = f"{figure}{unit}".rstrip()
        figures.append(figure)
    return names, figures


def is_plainly_borne(told: Told, quoted: str, whole: str) -> bool:
    """True where every figure that is told stands in `quoted` with its unit and every name in `whole`.

    Both texts are in lower case. False says nothing: the facts have to be read.
    """
    if told is None:
        return False
    names, figures = told
    for figure in figures:  # loops, as it is called for every sentence, and all() takes twice as long
        if not stands(figure, quoted):
            return False
    for name in names:  # noqa: SIM110
        if not stands(name, whole):
            return False
    return True


def _name(word: str) -> str:
    """A word with a digit or a capital in it that begins with a letter, in lower case without marks.

    "" for another, `_UNREAD` for one with which a statement has to be read.
    """
    if not READ.isdisjoint(letter_runs(word)) or _FRACTION.match(word):
        return _UNREAD
    told = _told(word)
    return told if told[:1].isalpha() else ""


def _figure(word: str) -> str:
    """The same of one that begins with something else; with a blank behind it where its unit may follow."""
    told = _told(word)
    return "" if told[:1].isalpha() else _open(told, word)


def _told(word: str) -> str:
    return word.strip(_EDGES).lower() if _TELLING.search(word) else ""


def _open(bare: str, word: str) -> str:
    """What is left of a word without marks, with a blank behind it where none ends the word."""
    return f"{bare} " if bare and word[-1] not in _EDGES else bare


_names = Known(_name, 1 << 14)
_figures = Known(_figure, 1 << 14)
_bare = Known(lambda word: _open(word.lower().rstrip(_EDGES), word), 1 << 12)
