"""The usual case of evidence, without reading facts: what a statement tells stands in a quote as it is."""

from __future__ import annotations

import re

from orchestra.context.dates import MONTH_WORDS, WEEKDAY_WORDS
from orchestra.context.figures import NUMBER_WORDS
from orchestra.context.names import COMMON
from orchestra.text.shape import letter_runs

# Words with which a statement has to be read: numbers in words, parts of dates, a share of something.
READ = NUMBER_WORDS | MONTH_WORDS | WEEKDAY_WORDS | frozenset((b"quarter", b"quarters", b"century"))
_TELLING = re.compile(r"(?<!\S)[^\s0-9A-Z]*+[0-9A-Z]\S*")  # a word with a digit or a capital in it
_EDGES = ".,;:!?()[]{}\"'`*"
_NEXT = re.compile(r"[ ]+(\S+)(?:[ ]+(\S+))?")
# A unit of more than one word goes on after one of these, or before it.
_LINKS = frozenset("per a an each of square cubic metric us cent degrees percentage basis".split())


def stands(value: str, text: str) -> bool:
    """Whether `value` stands in `text` as it is, touching no letter, digit or point: the usual case."""
    at = text.find(value) if value else -1
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(value) : at + len(value) + 2]
        apart = not (before.isalnum() or before in ("_", ".", ",", "-")) or at == 0
        point = after[:1] in (".", ",", "-") and after[1:].isalnum()
        if apart and not (after[:1].isalnum() or after[:1] == "_" or point):
            return True
        at = text.find(value, at + 1)
    return False


def is_plainly_borne(statement: str, quoted: str, whole: str) -> bool:
    """True where every figure of `statement` stands in `quoted` with its unit and every name in `whole`.

    Both texts are in lower case. False says nothing: the facts have to be read. English only.
    """
    if not statement.isascii() or not READ.isdisjoint(letter_runs(statement)):
        return False
    for match in _TELLING.finditer(statement):
        word = match[0].strip(_EDGES).lower()
        if not word:
            continue
        if word[0].isalpha():
            starts = match.start() == 0 or statement[match.start() - 2 : match.start() - 1] in (".", "!", "?")
            if not (starts and word in COMMON) and not stands(word, whole):
                return False
        elif not stands(_with_unit(statement, match, word), quoted):
            return False
    return True


def _with_unit(statement: str, match: re.Match[str], word: str) -> str:
    """A figure with the words that may be its unit, as far as its sentence's part goes."""
    if match[0][-1] in _EDGES:
        return word
    after = _NEXT.match(statement, match.end())
    if after is None:
        return word
    unit = after[1].lower()
    bare = unit.rstrip(_EDGES)
    further = (after[2] or "").lower().rstrip(_EDGES)
    if bare == unit and further and (bare in _LINKS or further in _LINKS):
        return f"{word} {bare} {further}"
    return f"{word} {bare}" if bare else word
