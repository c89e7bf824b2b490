"""How evidence for a unit is added up.

Chosen on LoCoMo's conversations 1 to 5, held out 6 to 10; what did not help is in `benchmarks/recall.md`.
Each part is brought to at most 1 by its best unit before it is weighted and added.
"""

from __future__ import annotations

import heapq
from collections.abc import Container, Iterable, Iterator, Sequence
from math import log1p

from msgspec import Struct

from orchestra.context.recall.postings import Postings


class Weights(Struct, frozen=True):
    """The parts of a score, next to the words of a unit and its neighbours, which weigh 1.

    `topic`: what a shared topic counts beside a shared word. `echo`: words of the three best units that few
    others hold (a second hop). `sitting`: the whole sitting by words. `date`: the sitting's day. `speaker`:
    who is asked about. `meaning`, `meaning_near`, `meaning_sitting`: the cosine of the unit, of it with its
    neighbours, of its whole sitting. `telling`: how many different words a unit has. `smooth`: what a unit
    gains from the next one, halved with each step up to three. `variety`: what a unit loses by the better
    ones of its own sitting.
    """

    topic: float = 0.5
    echo: float = 0.2
    sitting: float = 0.3
    date: float = 0.3
    speaker: float = 0.35
    meaning: float = 0.4
    meaning_near: float = 0.4
    meaning_sitting: float = 0.2
    telling: float = 0.05
    smooth: float = 0.1
    variety: float = 0.07


ECHOED = 5
"""Words taken from the best units for the second hop."""
ECHO_SHARE = 0.03
"""The share of units that may hold such a word."""


def echoed(words: Postings, found: list[float], known: Container[str]) -> dict[str, float]:
    """Telling words of the three best units that were not asked for: the bridge to what is meant by them."""
    gains: dict[str, float] = {}
    most = max(2.0, ECHO_SHARE * len(words))
    for unit in best_of(found, 3):
        score = found[unit]
        for term in words.terms_of(unit):
            frequency = words.frequency(term)
            if 2 <= frequency <= most and term not in known:
                gains[term] = gains.get(term, 0.0) + score * words.idf(frequency)
    best = heapq.nlargest(ECHOED, gains.items(), key=lambda item: (item[1], item[0]))
    return {term: 1.0 for term, _ in best}


def best_of(found: list[float], count: int) -> list[int]:
    """The units with the highest scores over 0, the first of equals first."""
    rest = found[:]
    best: list[int] = []
    while len(best) < count and (score := max(rest, default=0.0)) > 0:
        best.append(rest.index(score))
        rest[best[-1]] = 0.0
    return best


def by_best(found: dict[int, float]) -> dict[int, float]:
    """Scores divided by the best of them."""
    best = max(found.values(), default=0.0)
    return {unit: score / best for unit, score in found.items()} if best > 0 else {}


def spread(values: list[float]) -> list[float]:
    """Values brought to 0 … 1; all 0 where they do not differ."""
    low, high = min(values), max(values)
    if high - low < 1e-9:
        return [0.0] * len(values)
    scale = 1 / (high - low)
    return [(value - low) * scale for value in values]


def with_neighbours(cosines: list[float], sittings: Sequence[int]) -> list[float]:
    """Each unit's cosine with those of the one before (0.7) and after (0.3) in its sitting."""
    last = len(cosines) - 1
    near: list[float] = []
    for unit, value in enumerate(cosines):
        weight = 1.0
        if unit and sittings[unit - 1] == sittings[unit]:
            value += 0.7 * cosines[unit - 1]
            weight += 0.7
        if unit < last and sittings[unit + 1] == sittings[unit]:
            value += 0.3 * cosines[unit + 1]
            weight += 0.3
        near.append(value / weight)
    return near


def means(values: list[float], sittings: Sequence[int], count: int) -> list[float]:
    """The mean of each sitting's values."""
    sums, sizes = [0.0] * count, [0] * count
    for value, sitting in zip(values, sittings, strict=True):
        sums[sitting] += value
        sizes[sitting] += 1
    return [total / size if size else 0.0 for total, size in zip(sums, sizes, strict=True)]


def smooth(scores: list[float], stretches: Iterable[tuple[int, int]], share: float) -> None:
    """Give each score in these stretches shares of up to three neighbours on either side in the same one.

    The next neighbour lends `share`, each further one half as much.
    """
    if not share:
        return
    half, quarter = share / 2, share / 4
    line = _GAP[:]
    for start, end in stretches:
        line += scores[start:end]
        line += _GAP
    found = [
        here + share * (before + after) + half * (before2 + after2) + quarter * (before3 + after3)
        for before3, before2, before, here, after, after2, after3 in zip(
            line, line[1:], line[2:], line[3:], line[4:], line[5:], line[6:], strict=False
        )
    ]
    at = 0
    for start, end in stretches:
        scores[start:end] = found[at : at + end - start]
        at += end - start + len(_GAP)


_GAP = [0.0, 0.0, 0.0]
_CHUNK = 16


def likely(
    scores: list[float], bonus: Sequence[float], starts: Sequence[int], most: int
) -> list[tuple[int, int, int]]:
    """Where to look closer: about `most` units around the best, each stretch with its sitting.

    `scores` of units, `bonus` of sittings that begin at `starts`. What is asked in a long talk takes no
    longer than in a short one, and what is left out is what neither a word nor a date speaks for.
    """
    count = len(scores)
    ends = [*starts[1:], count]
    stretches = list(zip(starts, ends, range(len(starts)), strict=True))
    if count <= most:
        return stretches
    chunks = [
        (first, min(first + _CHUNK, end), sitting)
        for start, end, sitting in stretches
        for first in range(start, end, _CHUNK)
    ]
    best = [max(scores[first:end]) + bonus[sitting] for first, end, sitting in chunks]
    chosen: list[int] = []
    for chunk in sorted(range(len(chunks)), key=best.__getitem__, reverse=True):
        chosen.append(chunk)
        most -= chunks[chunk][1] - chunks[chunk][0]
        if most <= 0:
            break
    found: list[tuple[int, int, int]] = []
    for chunk in sorted(chosen):
        first, end, sitting = chunks[chunk]
        if found and found[-1][1] == first and found[-1][2] == sitting:
            first = found.pop()[0]
        found.append((first, end, sitting))
    return found


def set_backs(share: float, count: int) -> list[float]:
    """What a unit loses by 0, 1, 2 … better ones of its sitting."""
    return [share * log1p(better) for better in range(count)]


def varied(
    scores: list[float], units: Iterable[int], sittings: Sequence[int], steps: Sequence[float]
) -> list[int]:
    """These units, best first, each set back by `steps`: one for each better unit of its sitting.

    What is asked about may lie in several sittings; the tenth piece of one says less than the first
    of another.
    """
    ranked = sorted(units, key=scores.__getitem__, reverse=True)
    seen = [0] * (sittings[-1] + 1)
    set_back = scores[:]
    for unit in ranked:
        sitting = sittings[unit]
        set_back[unit] -= steps[seen[sitting]]
        seen[sitting] += 1
    ranked.sort(key=set_back.__getitem__, reverse=True)
    return ranked


def matching(ranked: Iterable[int], scores: Sequence[float], least: float) -> Iterator[int]:
    """Of ranked units those that score at least this share of the first."""
    enough = None
    for unit in ranked:
        if enough is None:
            enough = least * scores[unit]
        if scores[unit] >= enough:
            yield unit
