"""Which claims can be duplicates or in conflict at all, from their words alone.

Reading a claim's facts costs ten times what its words do, and hardly any two claims need it. All here is
what the full rules (`likeness.py`) cannot do without: what is left out here they would not find either.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from orchestra.context.plainly import READ
from orchestra.context.units import CURRENCY_SIGNS, unit_heads
from orchestra.text.shape import letter_runs
from orchestra.text.terms import terms
from orchestra.values.sources import Quote

SAME_WORDS = 0.9  # of the words that either has, those that two statements of the same thing share
LEAST_SHARED = 3  # words of two measures of the same thing
_SAME_SPAN = 0.8
# Words that say that, not what: they may differ between two statements of the same thing.
_GENERIC = """contain hold have provide give report say state show average typical typically approximately
    estimate estimated measure measured find found roughly around nearly almost about total average mean
    usually generally brew brewed standard normal one single per each every amount level number value reach
    count stand come make take become remain use used according published current currently overall
    limit maximum minimum"""
CLAUSE = re.compile(r"[,;:](?=\s)|[.!?](?=\s|$)|[，。；：！？]|\s[-–—]\s|[()（）]")
_EDGES = ",;:.!?"  # where one ends a word, a clause ends
# A number in digits alone; a digit inside a word that cannot begin one, nor a quarter (Q3).
_NUMBER = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?%?", re.ASCII)
_ODD_DIGIT = re.compile(r"[0-9](?:(?<![A-Za-z0-9][0-9])|(?<=Q[1-4]))")
_HEAD = re.compile("[A-Za-z]+|.", re.DOTALL)
_SCALES = frozenset("k m b t mln bln mn bn tn".split())
_MONEY = tuple(sign for sign in CURRENCY_SIGNS if sign.isascii() and sign.isalpha())
_SWALLOWED = re.compile("n[uUm]|m[nN]")  # of the kinds of words, see _looked_at
_LONGEST = 2_000  # characters of a statement; a longer one is read


class Wording(NamedTuple):
    """A statement's terms, and for each clause that may measure something the telling words that its
    measure has for sure; None where only reading the facts can tell.
    """

    terms: list[str]
    clauses: list[frozenset[str]] | None


@cache
def generic() -> frozenset[str]:
    """The terms of words that say that, not what."""
    return frozenset(terms(_GENERIC))


@cache
def _swallowing() -> frozenset[str]:
    return unit_heads() | _SCALES


@lru_cache(maxsize=1 << 14)
def _looked_at(word: str) -> tuple[str, tuple[str, ...]]:
    """The kind of a word of plain English, and its terms.

    `n` is a number, `m` a sign of money in letters, `u` may be a unit, `w` is none of these; a large letter
    where a clause ends with it. `|`: a clause begins after it. `o`: the statement has to be read.
    """
    found = tuple(terms(word))
    if word in ("-", "(", ")"):
        return "|", found
    bare = word.rstrip(_EDGES)
    if _NUMBER.fullmatch(bare):
        kind = "n"
    elif _ODD_DIGIT.search(word) or not READ.isdisjoint(letter_runs(word)):
        return "o", found
    elif word.endswith(_MONEY):
        kind = "m"
    else:
        head = _HEAD.match(word)
        kind = "u" if head and head[0].lower() in _swallowing() else "w"
    return kind.upper() if bare != word else kind, found


def worded(text: str) -> Wording:
    """A clause of plain English can measure only where a number stands in it in digits. If the numbers stand
    alone, and nothing beside them may be their unit, a figure takes up a number and nothing else, so that
    all other words are those of the measure; where there is one number only, there are no more than these.
    """
    if len(text) > _LONGEST or not text.isascii() or "*" in text or "$" in text:
        return Wording(terms(text), None)
    apart = text.replace("(", " ( ").replace(")", " ) ") if "(" in text or ")" in text else text
    words = list(map(_looked_at, apart.split()))
    found = [term for _, some in words for term in some]
    kinds = "".join([kind for kind, _ in words])
    if "o" in kinds or _SWALLOWED.search(kinds):
        return Wording(found, None)
    clauses: list[frozenset[str]] = []
    if "n" in kinds or "N" in kinds:
        held: list[str] = []
        numbers = 0
        for kind, some in (*words, ("|", ())):
            if kind in "nN":
                numbers += 1
            else:
                held += some
            if kind in "NWU|":
                if numbers:
                    telling = frozenset(held) - generic()
                    if numbers > 1 or len(telling) >= LEAST_SHARED:
                        clauses.append(telling)
                held, numbers = [], 0
    return Wording(found, clauses)


def possible_conflicts(
    clauses: Sequence[list[frozenset[str]] | None], words: Sequence[frozenset[str]]
) -> Iterator[tuple[int, int]]:
    """Pairs (later, earlier) of statements that may measure the same thing, in order; see `Wording`.

    Of two measures of one thing the shorter's words are all in the longer (a few pairs of characters may
    differ in Chinese or Japanese, which are read).
    """
    figured = unread = 0
    for at, found in enumerate(clauses):
        if found is None or found:
            figured |= 1 << at
        if found is None:
            unread |= 1 << at
    if figured.bit_count() < 2:
        return
    holders: defaultdict[str, int] = defaultdict(int)
    for at, mine in enumerate(words):
        for word in mine if figured >> at & 1 else ():
            holders[word] |= 1 << at
    pairs: set[tuple[int, int]] = set()
    for at, found in enumerate(clauses):
        partners = figured if found is None else unread if found else 0
        for held in found or ():
            partners |= _common(held, holders, figured)
        partners &= ~(1 << at)
        if partners:
            partners &= _sharing_two(words[at], holders)
            pairs |= {(max(at, other), min(at, other)) for other in _bits(partners)}
    yield from sorted(pairs)


def _common(words: Iterable[str], holders: dict[str, int], all_of: int) -> int:
    for word in words:
        all_of &= holders[word]
        if not all_of:
            break
    return all_of


def _sharing_two(words: Iterable[str], holders: dict[str, int]) -> int:
    once = twice = 0
    for word in words:
        held = holders[word]
        twice |= once & held
        once |= held
    return twice


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def same_span(one: Quote, other: Quote) -> bool:
    """Whether both quote nearly the same place of one document."""
    if one.locator != other.locator:
        return False
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared >= _SAME_SPAN * max(one.end - one.start, other.end - other.start)


class Twins:
    """The statements so far, to be found by what a duplicate must share with them."""

    def __init__(self) -> None:
        self._holders: dict[str, int] = {}
        self._quotes: dict[str, list[tuple[int, Quote]]] = {}

    def near(self, words: Sequence[str], quotes: Iterable[Quote]) -> Iterator[int]:
        """Those that quote nearly the same place, or may have nearly all of `words`; the first first."""
        mask = 0
        for quote in quotes:
            for at, other in self._quotes.get(quote.locator, ()):
                if same_span(quote, other):
                    mask |= 1 << at
        # Of so many words one must be in a duplicate, whichever they are; the rarest say most.
        enough = int(len(words) * (1 - SAME_WORDS) + 1e-9) + 1
        holders = [self._holders.get(word, 0) for word in set(words)]
        for held in sorted(holders, key=int.bit_count)[:enough]:
            mask |= held
        return _bits(mask)

    def add(self, at: int, words: Iterable[str], quotes: Iterable[Quote]) -> None:
        """One more statement, or more quotes of one that is here."""
        for word in words:
            self._holders[word] = self._holders.get(word, 0) | 1 << at
        for quote in quotes:
            self._quotes.setdefault(quote.locator, []).append((at, quote))
