"""Which claims can be duplicates or in conflict at all, from their words alone.

Reading a claim's facts costs ten times what its words do, and hardly any two claims need it. All here is
what the full rules (`likeness.py`) cannot do without: what is left out here they would not find either.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain

from orchestra.context.plainly import READ
from orchestra.context.units import CURRENCY_SIGNS, unit_heads
from orchestra.text.known import Known
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
# A clause with a number in it; its group are further ones, with what follows the second.
_MEASURING = re.compile("(?<![nwum])[wum]*(?:N|n[wum]*(?:(N|n[nwum]*[NWU|]?)|[WU|]?))")
_SWALLOWED = re.compile("n[uUm]|m[nN]")  # of the kinds of words, see _look
_LONGEST = 2_000  # characters of a statement; a longer one is read


Clauses = list[frozenset[str]] | None
"""For each clause that may measure something the telling words that its measure has for sure.

None where only reading the facts can tell.
"""


@cache
def generic() -> frozenset[str]:
    """The terms of words that say that, not what."""
    return frozenset(terms(_GENERIC))


@cache
def _swallowing() -> frozenset[str]:
    return unit_heads() | _SCALES


def _look(word: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The kind of a word of plain English, its terms, and those of them that a measure has for sure.

    `n` is a number, `m` a sign of money in letters, `u` may be a unit, `w` is none of these; a large letter
    where a clause ends with it. `|`: a clause begins after it. `o`: the statement has to be read.
    """
    found = tuple(terms(word))
    if word in ("-", "(", ")"):
        return "|", found, ()
    bare = word.rstrip(_EDGES)
    telling = tuple([term for term in found if term not in generic()])
    if _NUMBER.fullmatch(bare):
        kind, telling = "n", ()
    elif "*" in word or "$" in word or _ODD_DIGIT.search(word) or not READ.isdisjoint(letter_runs(word)):
        return "o", found, ()
    elif word.endswith(_MONEY):
        kind = "m"
    else:
        head = _HEAD.match(word)
        kind = "u" if head and head[0].lower() in _swallowing() else "w"
    return kind.upper() if bare != word else kind, found, telling


_looks = Known(_look, 1 << 14)


def worded(text: str) -> tuple[list[str], Clauses]:
    """The terms of a statement, and its clauses that may measure something.

    A clause of plain English can measure only where a number stands in it in digits. If the numbers stand
    alone, and nothing beside them may be their unit, a figure takes up a number and nothing else, so that
    all other words are those of the measure; where there is one number only, there are no more than these.
    """
    if len(text) > _LONGEST or not text.isascii():
        return terms(text), None
    apart = text.replace("(", " ( ").replace(")", " ) ") if "(" in text or ")" in text else text
    words = apart.split()
    if not words:
        return [], []
    letters, parts, telling = zip(*map(_looks.__getitem__, words), strict=True)
    kinds = "".join(letters)
    found = list(chain.from_iterable(parts))
    if "o" in kinds or _SWALLOWED.search(kinds):
        return found, None
    clauses: list[frozenset[str]] = []
    for clause in _MEASURING.finditer(kinds):
        start, end = clause.span()
        held = frozenset(chain.from_iterable(telling[start:end]))
        if len(held) >= LEAST_SHARED or clause[1]:
            clauses.append(held)
    return found, clauses


def same_span(one: Quote, other: Quote) -> bool:
    """Whether both quote nearly the same place of one document."""
    if one.locator != other.locator:
        return False
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared >= _SAME_SPAN * max(one.end - one.start, other.end - other.start)


class Statements:
    """Statements by what a duplicate of one, or one in conflict with it, must share with it."""

    def __init__(self) -> None:
        self._words: list[frozenset[str]] = []
        self._clauses: list[Clauses] = []
        self._known: set[str] = set()  # all words
        self._shared: set[str] = set()  # those that more than one has
        self._bits: dict[str, int] = defaultdict(int)
        self._marked = 0  # statements that have their bits
        self._quotes: dict[str, list[tuple[int, Quote]]] = defaultdict(list)

    def add(self, words: frozenset[str], clauses: Clauses, quotes: Iterable[Quote]) -> None:
        """One more; it has the next number."""
        self._shared |= words & self._known
        self._known |= words
        at = len(self._words)
        for quote in quotes:
            self._quotes[quote.locator].append((at, quote))
        self._words.append(words)
        self._clauses.append(clauses)

    def quote(self, at: int, quotes: Iterable[Quote]) -> None:
        """More quotes of one that is here."""
        for quote in quotes:
            self._quotes[quote.locator].append((at, quote))

    def twins(self, words: frozenset[str], length: int, quotes: Iterable[Quote]) -> Sequence[int]:
        """Those that quote nearly the same place, or may have nearly all of `words`; the first first.

        `length`: of the statement, in terms.
        """
        mask = 0
        for quote in quotes:
            for at, other in self._quotes.get(quote.locator, ()):
                if same_span(quote, other):
                    mask |= 1 << at
        # Of so many words one must be in a duplicate, whichever they are; the rarest say most.
        enough = int(length * (1 - SAME_WORDS) + 1e-9) + 1
        if len(words - self._known) < enough:
            holders = self._holders()
            for held in sorted([holders.get(word, 0) for word in words], key=int.bit_count)[:enough]:
                mask |= held
        return list(_bits(mask)) if mask else ()

    def possible_conflicts(self, most: int) -> Iterator[tuple[int, int]]:
        """Pairs (later, earlier) of the first `most` that may measure the same thing; see `Clauses`.

        Of two measures of one thing the shorter's words are all in the longer (a few pairs of characters may
        differ in Chinese or Japanese, which are read).
        """
        clauses = self._clauses[:most]
        held_by_two = self._shared.issuperset
        if None not in clauses and not any(map(held_by_two, chain.from_iterable(filter(None, clauses)))):
            return  # as a rule each clause that measures something has a word that no other has
        figured = unread = 0
        for at, found in enumerate(clauses):
            if found is None:
                unread |= 1 << at
            elif found:
                figured |= 1 << at
        figured |= unread
        pairs: set[tuple[int, int]] = set()
        for at, found in enumerate(clauses):
            others = figured & ~(1 << at)
            partners = others if found is None else others & unread if found else 0
            for held in found or ():
                partners |= self._with_all(held, others)
            if partners:
                partners &= self._sharing_two(self._words[at])
                pairs |= {(max(at, other), min(at, other)) for other in _bits(partners)}
        yield from sorted(pairs)

    def _holders(self) -> dict[str, int]:
        """Of a word, a bit for each statement that has it. Mostly nobody asks."""
        for at in range(self._marked, len(self._words)):
            for word in self._words[at]:
                self._bits[word] |= 1 << at
        self._marked = len(self._words)
        return self._bits

    def _with_all(self, words: Iterable[str], mask: int) -> int:
        holders = self._holders()
        for word in words:
            mask &= holders[word]
        return mask

    def _sharing_two(self, words: Iterable[str]) -> int:
        holders = self._holders()
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
