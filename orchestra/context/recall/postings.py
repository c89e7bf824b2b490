"""Which units hold which terms: the inverted lists of a recall index and BM25 over them.

Everything is kept up by addition: a new unit touches only its own terms, whatever the number of units.
BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the idf of Lucene.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

K1 = 1.2
B = 0.75
MOST = 2_000
"""Entries that are looked at for one question; in a long talk what is said all the time tells nothing."""
_RENEWED = 16
"""The mean length of units is taken anew whenever there is a sixteenth more of them."""


class _Term:
    """The units that hold a term or have it lent, rising, and how often; `own`: how many hold it themselves.

    `worth`: of each, what BM25 makes of how often, kept for the first `sure` from one question to the next as
    long as the `mean` length it was made with holds.
    """

    __slots__ = ("counts", "mean", "own", "sure", "units", "worth")

    def __init__(self) -> None:
        self.units = array("I")
        self.counts = array("f")
        self.own = 0
        self.worth: array[float] | None = None  # most terms are never asked for
        self.sure = 0
        self.mean = 0.0

    def count(self, unit: int, count: float) -> None:
        """Count it for the newest unit or the one before it."""
        units, counts = self.units, self.counts
        at = len(units)
        if at and units[-1] > unit:
            at -= 1
        if at and units[at - 1] == unit:
            counts[at - 1] += count
        else:
            units.insert(at, unit)
            counts.insert(at, count)


class Postings:
    """Units numbered from 0 with the counts of their terms; a unit may lend its terms to its neighbours."""

    __slots__ = ("_b", "_k1", "_last", "_lengths", "_mean", "_renew", "_terms", "_total", "_units")

    def __init__(self, k1: float = K1, b: float = B) -> None:
        self._k1, self._b = k1, b
        self._terms: dict[str, _Term] = {}
        self._units: list[tuple[str, ...]] = []  # the terms of each
        self._lengths = array("f")
        self._last: tuple[dict[str, float], dict[str, float]] = ({}, {})  # counts of the newest two units
        self._total = 0.0
        self._mean = 0.0
        self._renew = _RENEWED

    def __len__(self) -> int:
        return len(self._lengths)

    def new(self) -> None:
        """Begin a unit that has no terms yet."""
        count = len(self._lengths)
        if count >= self._renew:
            self._mean = self._total / count
            self._renew = count + count // _RENEWED
        self._units.append(())
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
            entry = self._terms.get(term)
            if entry is None:
                entry = self._terms[term] = _Term()
            if term not in own:
                entry.own += 1
            own[term] = own.get(term, 0.0) + count
            entry.count(unit, count)
        self._units[unit] += tuple(counts)
        self._lengths[unit] += size
        self._total += size

    def lend(self, to_next: float, to_previous: float) -> None:
        """Let the newest unit count its terms in part for the one before it, and that one's for itself."""
        unit = len(self._lengths) - 1
        before, own = self._last
        for term, count in before.items() if to_next else ():
            self._terms[term].count(unit, to_next * count)
        for term, count in own.items() if to_previous else ():
            self._terms[term].count(unit - 1, to_previous * count)
        lent, borrowed = to_previous * sum(own.values()), to_next * sum(before.values())
        self._lengths[unit] += borrowed
        self._lengths[unit - 1] += lent
        self._total += borrowed + lent

    def frequency(self, term: str) -> int:
        """The number of units that hold the term themselves."""
        entry = self._terms.get(term)
        return entry.own if entry is not None else 0

    def units_with(self, term: str) -> Sequence[int]:
        """The units that hold the term or have it lent, rising."""
        entry = self._terms.get(term)
        return entry.units if entry is not None else ()

    def terms_of(self, unit: int) -> Sequence[str]:
        """A unit's terms; what it was filled with twice stands there twice."""
        return self._units[unit]

    def idf(self, frequency: int) -> float:
        return math.log(1 + (len(self._lengths) - frequency + 0.5) / (frequency + 0.5))

    def _telling(self, asked: Mapping[str, float]) -> list[tuple[_Term, float]]:
        """The terms asked for that are held; where they are in too many units, without the commonest."""
        known = self._terms.get
        held = [(entry, weight) for term, weight in asked.items() if (entry := known(term)) is not None]
        left = MOST - sum(len(entry.units) for entry, _ in held)
        if left >= 0:
            return held
        rarest = sorted(held, key=lambda pair: len(pair[0].units))
        while len(rarest) > 1 and left < 0:
            left += len(rarest.pop()[0].units)
        return rarest

    def scores(self, asked: Mapping[str, float]) -> dict[int, float]:
        """BM25 of the units that hold a term asked for, themselves or by a neighbour that lends it."""
        found: defaultdict[int, float] = defaultdict(float)
        self.add_scores(found, asked)
        return dict(found)

    def add_scores(
        self, found: defaultdict[int, float] | list[float], asked: Mapping[str, float], share: float = 1.0
    ) -> None:
        """Add a share of the same scores to what was found for each unit by something else."""
        if not self._total:
            return
        share *= self._k1 + 1
        mean = self._mean or self._total / len(self._lengths)
        for entry, weight in self._telling(asked):
            gain = share * weight * self.idf(entry.own)
            for unit, worth in zip(entry.units, self._worth(entry, mean), strict=True):
                found[unit] += gain * worth

    def _worth(self, entry: _Term, mean: float) -> array[float]:
        """What BM25 makes of how often each of its units holds a term; but for the idf."""
        if entry.worth is None or entry.mean != mean:
            entry.worth, entry.mean, entry.sure = array("f"), mean, 0
        worth, lengths, first = entry.worth, self._lengths, entry.sure
        slope = self._k1 * self._b / mean
        flat = self._k1 * (1 - self._b)
        del worth[first:]
        units = entry.units[first:]
        worth.extend(
            [
                count / (count + flat + slope * lengths[unit])
                for unit, count in zip(units, entry.counts[first:], strict=True)
            ]
        )
        growing = len(lengths) - 2  # the newest two units may still be lent something
        entry.sure = len(worth) - sum(unit >= growing for unit in units[-2:])
        return worth
