"""Which passages answer a query: BM25 over candidates, no repeats, several documents.

Pure: candidates in, an order out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

# BM25 with its usual k1; b below the usual 0.75, since passages are cut to one length anyway.
K1 = 1.2
B = 0.5
AVERAGE_TERMS = 90.0

SECTION_WEIGHT = 1.5
TITLE_WEIGHT = 1.0
SAME_SHARE = 0.8
"""Passages that share more of their different terms than this say the same."""


class Candidate(Struct, frozen=True):
    """A passage that has some of the terms, with its own terms by field."""

    passage: int
    file: int
    locator: str
    start: int
    worth: float
    title: str
    section: str
    body: str


class Ranked(Struct, frozen=True):
    candidate: Candidate
    score: float


def weights(frequencies: Mapping[str, int], passages: int) -> dict[str, float]:
    """Each term's weight, from the number of passages that have it."""
    return {
        term: math.log(1.0 + (passages - count + 0.5) / (count + 0.5)) if count <= passages else 0.0
        for term, count in frequencies.items()
    }


def rank(
    candidates: Sequence[Candidate], weight: Mapping[str, float], *, limit: int, per_document: int
) -> tuple[Ranked, ...]:
    """The best `limit` candidates, at most `per_document` of a document, none that repeats a better one."""
    scored = [Ranked(candidate, _score(candidate, weight)) for candidate in candidates]
    scored.sort(key=lambda ranked: (-ranked.score, ranked.candidate.locator, ranked.candidate.start))
    chosen: list[Ranked] = []
    contents: list[frozenset[str]] = []
    taken: dict[int, int] = {}
    for ranked in scored:
        if len(chosen) == limit:
            break
        file = ranked.candidate.file
        if taken.get(file, 0) >= per_document:
            continue
        content = frozenset(ranked.candidate.body.split())
        if any(_same(content, other) for other in contents):
            continue
        chosen.append(ranked)
        contents.append(content)
        taken[file] = taken.get(file, 0) + 1
    return tuple(chosen)


def _score(candidate: Candidate, weight: Mapping[str, float]) -> float:
    body = candidate.body.split()
    section = candidate.section.split()
    title = candidate.title.split()
    norm = K1 * (1.0 - B + B * len(body) / AVERAGE_TERMS)
    score = 0.0
    for term, value in weight.items():
        count = body.count(term) + SECTION_WEIGHT * section.count(term) + TITLE_WEIGHT * title.count(term)
        if count:
            score += value * count * (K1 + 1.0) / (count + norm)
    return score * candidate.worth


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    union = len(one | other)
    return union > 0 and len(one & other) > SAME_SHARE * union
