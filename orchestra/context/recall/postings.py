"""Which units hold which terms: the inverted lists of a recall index and BM25 over them.

Everything is kept up by addition: a new unit touches only its own terms, whatever the number of units.
BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the idf of Lucene.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

K1 = 1.2
B = 0.75
MOST = 8_000
"""Entries that are looked at for one question; in a long talk what is said all the time tells nothing."""


class Postings:
    """Units numbered from 0 with the counts of their terms; a unit may lend its terms to its neighbours."""

    __slots__ = ("_b", "_docs", "_frequencies", "_k1", "_last", "_lengths", "_terms", "_total")

    def __init__(self, k1: float = K1, b: float = B) -> None:
        self._k1, self._b = k1, b
        self._docs: dict[str, tuple[list[int], list[float]]] = {}  # with what neighbours lend
        self._frequencies: dict[str, int] = {}  # without
        self._terms: list[list[str]] = []
        self._lengths: list[float] = []
        self._last: tuple[dict[str, float], dict[str, float]] = ({}, {})  # counts of the newest two units
        self._total = 0.0

    def __len__(self) -> int:
        return len(self._lengths)

    def new(self) -> None:
        """Begin a unit that has no terms yet."""
        self._terms.append([])
        self._lengths.append(0.0)
        self._last = (self._last[1], {})

    def fill(self, terms: Iterable[str], weight: float = 1.0) -> None:
        """Add terms to the newest unit, each counted `weight` times."""
        unit = len(self._lengths) - 1
        own = self._last[1]
        counts: dict[str, float] = {}
        size = 0.0
        for term in terms:
            counts[term] = counts.get(term, 0.0) + weight
            size += weight
        for term, count in counts.items():
            if term not in own:
                self._frequencies[term] = self._frequencies.get(term, 0) + 1
            own[term] = own.get(term, 0.0) + count
            self._count(term, unit, count)
        self._terms[unit].extend(counts)
        self._lengths[unit] += size
        self._total += size

    def lend(self, to_next: float, to_previous: float) -> None:
        """Let the newest unit count its terms in part for the one before it, and that one's for itself."""
        unit = len(self._lengths) - 1
        before, own = self._last
        for term, count in before.items() if to_next else ():
            self._count(term, unit, to_next * count)
        for term, count in own.items() if to_previous else ():
            self._count(term, unit - 1, to_previous * count)
        lent, borrowed = to_previous * sum(own.values()), to_next * sum(before.values())
        self._lengths[unit] += borrowed
        self._lengths[unit - 1] += lent
        self._total += borrowed + lent

    def _count(self, term: str, unit: int, count: float) -> None:
        """Count a term for the newest unit or the one before it."""
        units, found = self._docs.setdefault(term, ([], []))
        at = len(units)
        while at and units[at - 1] > unit:
            at -= 1
        if at and units[at - 1] == unit:
            found[at - 1] += count
        else:
            units.insert(at, unit)
            found.insert(at, count)

    def frequency(self, term: str) -> int:
        """The number of units that hold the term themselves."""
        return self._frequencies.get(term, 0)

    def units_with(self, term: str) -> list[int]:
        """The units that hold the term or have it lent, rising."""
        entry = self._docs.get(term)
        return entry[0] if entry else []

    def terms_of(self, unit: int) -> Sequence[str]:
        """A unit's terms; what it was filled with twice stands there twice."""
        return self._terms[unit]

    def idf(self, frequency: int) -> float:
        return math.log(1 + (len(self._lengths) - frequency + 0.5) / (frequency + 0.5))

    def _telling(self, asked: Mapping[str, float]) -> list[tuple[str, float]]:
        """The terms asked for that are held; where they are in too many units, without the commonest."""
        held = [(term, weight) for term, weight in asked.items() if term in self._docs]
        left = MOST - sum(len(self._docs[term][0]) for term, _ in held)
        if left >= 0:
            return held
        rarest = sorted(held, key=lambda pair: len(self._docs[pair[0]][0]))
        while len(rarest) > 1 and left < 0:
            left += len(self._docs[rarest.pop()[0]][0])
        return rarest

    def scores(self, asked: Mapping[str, float]) -> dict[int, float]:
        """BM25 of the units that hold a term asked for, themselves or by a neighbour that lends it."""
        if not self._total:
            return {}
        slope = self._k1 * self._b * len(self._lengths) / self._total
        flat = self._k1 * (1 - self._b)
        lengths = self._lengths
        found: dict[int, float] = {}
        known = found.get
        for term, weight in self._telling(asked):
            entry = self._docs[term]
            gain = weight * self.idf(self._frequencies[term]) * (self._k1 + 1)
            for unit, count in zip(*entry, strict=True):
                found[unit] = known(unit, 0.0) + gain * count / (count + flat + slope * lengths[unit])
        return found
