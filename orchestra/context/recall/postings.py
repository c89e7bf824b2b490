"""Which units hold which terms: the inverted lists of a recall index and BM25 over them.

Everything is kept up by addition: a new unit touches only its own terms, whatever the number of units.
BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the idf of Lucene.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

K1 = 1.2
B = 0.75


class Postings:
    """Units numbered from 0 with the counts of their terms; a unit may lend its terms to its neighbours."""

    __slots__ = ("_after", "_b", "_before", "_docs", "_k1", "_lengths", "_own", "_terms", "_total")

    def __init__(self, k1: float = K1, b: float = B) -> None:
        self._k1, self._b = k1, b
        self._docs: dict[str, tuple[list[int], list[float]]] = {}
        self._terms: list[tuple[str, ...]] = []
        self._own: list[float] = []
        self._lengths: list[float] = []
        self._after: list[float] = []
        self._before: list[float] = []
        self._total = 0.0

    def __len__(self) -> int:
        return len(self._lengths)

    def new(self) -> None:
        """Begin a unit that has no terms yet."""
        self._terms.append(())
        self._own.append(0.0)
        self._lengths.append(0.0)
        self._after.append(0.0)
        self._before.append(0.0)

    def fill(self, terms: Iterable[str], weight: float = 1.0) -> None:
        """Add terms to the newest unit, each counted `weight` times."""
        unit = len(self._lengths) - 1
        counts: dict[str, float] = {}
        size = 0.0
        for term in terms:
            counts[term] = counts.get(term, 0.0) + weight
            size += weight
        for term, count in counts.items():
            units, found = self._docs.setdefault(term, ([], []))
            if units and units[-1] == unit:
                found[-1] += count
            else:
                units.append(unit)
                found.append(count)
        self._terms[unit] += tuple(counts)
        self._own[unit] += size
        self._lengths[unit] += size
        self._total += size

    def lend(self, to_next: float, to_previous: float) -> None:
        """Let the newest unit count its terms in part for the one before it, and that one's for itself."""
        unit = len(self._lengths) - 1
        own, before = self._own[unit], self._own[unit - 1]
        self._after[unit - 1] = to_next
        self._before[unit] = to_previous
        self._lengths[unit] += to_next * before
        self._lengths[unit - 1] += to_previous * own
        self._total += to_next * before + to_previous * own

    def frequency(self, term: str) -> int:
        """The number of units that hold the term."""
        entry = self._docs.get(term)
        return len(entry[0]) if entry else 0

    def units_with(self, term: str) -> list[int]:
        """The units that hold the term, rising."""
        entry = self._docs.get(term)
        return entry[0] if entry else []

    def terms_of(self, unit: int) -> tuple[str, ...]:
        """A unit's different terms."""
        return self._terms[unit]

    def idf(self, frequency: int) -> float:
        return math.log(1 + (len(self._lengths) - frequency + 0.5) / (frequency + 0.5))

    def scores(self, asked: Mapping[str, float]) -> dict[int, float]:
        """BM25 of the units that hold a term asked for, themselves or by a neighbour that lends it."""
        if not self._total:
            return {}
        slope = self._k1 * self._b * len(self._lengths) / self._total
        flat = self._k1 * (1 - self._b)
        lengths, after, before = self._lengths, self._after, self._before
        found: dict[int, float] = {}
        for term, weight in asked.items():
            entry = self._docs.get(term)
            if entry is None:
                continue
            gain = weight * self.idf(len(entry[0])) * (self._k1 + 1)
            counts: dict[int, float] = {}
            for unit, count in zip(*entry, strict=True):
                counts[unit] = counts.get(unit, 0.0) + count
                if after[unit]:
                    counts[unit + 1] = counts.get(unit + 1, 0.0) + count * after[unit]
                if before[unit]:
                    counts[unit - 1] = counts.get(unit - 1, 0.0) + count * before[unit]
            for unit, amount in counts.items():
                found[unit] = found.get(unit, 0.0) + gain * amount / (amount + flat + slope * lengths[unit])
        return found
