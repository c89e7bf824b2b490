"""What a question and its best passages are about: weights of terms, and how well a passage fits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from orchestra.models.extractive.reading import Hit, Task
from orchestra.models.extractive.words import pale_stems, strong_terms
from orchestra.text.terms import query_terms, terms

FEEDBACK_HITS = 8
FEEDBACK_TERMS = 40
FLOOR = 0.3  # passages that cover less of the question than this hold no answer


class Read(Struct, frozen=True):
    """A passage with its terms; `fit` is how much of the question it covers, 0 to 1."""

    hit: Hit
    terms: Counter[str]
    around: frozenset[str]
    fit: float


class Relevance(Struct, frozen=True):
    """`asked`: weight of each term of the question, the sum is 1. `taught`: of terms that the passages
    add, best first, the sum is 1. `rarity`: how telling a term is among these passages."""

    asked: Mapping[str, float]
    taught: Mapping[str, float]
    rarity: Mapping[str, float]
    reads: tuple[Read, ...]

    def document_fits(self) -> dict[str, float]:
        """How well each document fits: its best three passages, the best one counting half."""
        fits: dict[str, list[float]] = {}
        for read in self.reads:
            fits.setdefault(read.hit.locator, []).append(read.fit)
        best = {name: sorted(values, reverse=True)[:3] for name, values in fits.items()}
        return {name: 0.5 * values[0] + 0.5 * sum(values) / 3 for name, values in best.items()}

    def documents(self) -> list[str]:
        fits = self.document_fits()
        return sorted(fits, key=lambda name: (-fits[name], name))


def asked_terms(task: Task) -> dict[str, float]:
    """The question's terms: strong ones count in full, pale ones a little, those of the whole question less."""
    weights: dict[str, float] = {}
    pale = pale_stems()
    for term in strong_terms(task.question):
        weights[term] = 0.35 if term in pale else 1.0
    for term in query_terms(task.question):
        weights.setdefault(term, 0.25)
    for term in strong_terms(task.whole):
        weights.setdefault(term, 0.1 if term in pale else 0.35)
    return weights


def relevance(task: Task, hits: Sequence[Hit]) -> Relevance:
    counted = [(hit, Counter(terms(hit.text)), frozenset(terms(f"{hit.title} {hit.section}"))) for hit in hits]
    total = len(counted)
    spread: Counter[str] = Counter()
    for _, inside, around in counted:
        spread.update(inside.keys() | around)
    rarity = {term: math.log(1 + (total + 1) / (count + 0.5)) for term, count in spread.items()}
    unseen = math.log(1 + (total + 1) / 0.5)
    raw = {term: weight * rarity.get(term, unseen) for term, weight in asked_terms(task).items()}
    whole = sum(raw.values()) or 1.0
    asked = {term: weight / whole for term, weight in raw.items()}
    reads = tuple(
        Read(hit, inside, around, _fit(asked, inside, around)) for hit, inside, around in counted
    )
    return Relevance(asked, _taught(asked, reads, rarity), rarity, reads)


def _fit(asked: Mapping[str, float], inside: Mapping[str, int], around: frozenset[str]) -> float:
    fit = 0.0
    for term, weight in asked.items():
        count = inside.get(term, 0)
        fit += weight * max(count / (count + 0.4) if count else 0.0, 0.6 if term in around else 0.0)
    return min(1.0, fit)


def _taught(
    asked: Mapping[str, float], reads: Sequence[Read], rarity: Mapping[str, float]
) -> dict[str, float]:
    """Terms that the best passages share or repeat and the question does not name."""
    best = sorted(reads, key=lambda read: -read.fit)[:FEEDBACK_HITS]
    top = best[0].fit if best else 1.0
    pale = pale_stems()
    weights: Counter[str] = Counter()
    for read in best:
        share = (read.fit / top) ** 2 if top else 0.0
        length = sum(read.terms.values()) or 1
        for term, count in read.terms.items():
            if term in asked or term in pale or len(term) < 2 or term.isdigit():
                continue
            known = 1.4 if term in read.around else 1.0
            weights[term] += share * known * min(count, 4) / (count + 1.5) * min(1.0, 120 / length)
    scored = {term: weight * min(rarity.get(term, 1.0), 1.5) for term, weight in weights.items()}
    kept = sorted(scored.items(), key=lambda pair: (-pair[1], pair[0]))[:FEEDBACK_TERMS]
    whole = sum(weight for _, weight in kept) or 1.0
    return {term: weight / whole for term, weight in kept}
