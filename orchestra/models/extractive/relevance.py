"""What a question and its best passages are about: weights of terms, and how well a passage fits."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from orchestra.models.extractive.prose import looks_like_code
from orchestra.models.extractive.reading import Hit, Task
from orchestra.models.extractive.words import hints, pale_stems, phrases, strong_terms
from orchestra.text.terms import query_terms, terms

FEEDBACK_HITS = 8
FEEDBACK_TERMS = 40
RARITY = 0.5  # tempered: among passages found by a word, that word is common because it matters
WHOLE = 0.2  # what a word of the whole question counts beside one of the sub-question
PHRASE = 0.6  # two words that stand side by side in the question
HINT = 0.15
COMPOUND = 2.0  # "capture pattern" where patterns are asked for: a kind of what the question names
KIND = 3.0  # the same where the question asks for kinds
COMPOUND_FROM = 0.04  # the share of a term in the question from which its compounds count
DATA = 0.3  # what program text and data keep of their fit: they name things and explain nothing
FLOOR = 0.3  # a passage that covers less of a short question than this holds no answer
FLOOR_TERMS = 4  # of a question with more telling words a passage need not hold so large a part


class Read(Struct, frozen=True):
    """A passage with its terms; `fit` is how well it answers, `cover` which share of the question's own
    words it has, both 0 to 1."""

    hit: Hit
    terms: Counter[str]
    around: frozenset[str]
    fit: float
    cover: float
    data: bool = False


class Relevance(Struct, frozen=True):
    """`asked`: weight of each term of the question, the sum is 1. `taught`: of terms that the passages
    add, best first, the sum is 1. `rarity`: how telling a term is among these passages. `words`: how many
    telling terms the question has of its own."""

    asked: Mapping[str, float]
    taught: Mapping[str, float]
    rarity: Mapping[str, float]
    reads: tuple[Read, ...]
    words: int

    def good(self) -> list[Read]:
        """The passages that may hold an answer."""
        floor = FLOOR * min(1.0, FLOOR_TERMS / max(1, self.words))
        return [read for read in self.reads if read.cover >= floor]

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
    """The question's terms: strong ones in full, pale ones a little, those of the whole question less."""
    weights: dict[str, float] = {}
    pale = pale_stems()
    for term in strong_terms(task.question):
        weights[term] = 0.6 if term in pale else 1.0
    for term in query_terms(task.question):
        weights.setdefault(term, 0.5)
    for term in strong_terms(task.whole):
        weights.setdefault(term, 0.1 if term in pale else WHOLE)
    weights.update((phrase, PHRASE) for phrase in phrases(task.question))
    for hint in hints(task.question):
        for term in terms(hint):
            weights.setdefault(term, HINT)
    return weights


def without_echoes(task: Task, hits: Sequence[Hit]) -> list[Hit]:
    """The passages without data that holds the question itself, such as a list of questions in the folder."""
    asked = " ".join(task.whole.split()).casefold()
    return [
        hit
        for hit in hits
        if asked not in " ".join(hit.text.split()).casefold() or not looks_like_code(hit.text)
    ]


def relevance(task: Task, hits: Sequence[Hit]) -> Relevance:
    counted = [(hit, _count(hit.text), frozenset(_count(f"{hit.title} . {hit.section}"))) for hit in hits]
    total = len(counted)
    spread: Counter[str] = Counter()
    for _, inside, around in counted:
        spread.update(inside.keys() | around)
    rarity = {term: math.log(1 + (total + 1) / (count + 0.5)) ** RARITY for term, count in spread.items()}
    unseen = math.log(1 + (total + 1) / 0.5) ** RARITY
    raw = {
        term: weight * rarity.get(term, 0.0 if " " in term else unseen)
        for term, weight in asked_terms(task).items()
    }
    whole = sum(raw.values()) or 1.0
    asked = {term: weight / whole for term, weight in raw.items()}
    own = {term: math.log(1 + (total + 1) / (spread[term] + 0.5)) for term in strong_terms(task.question)}
    every = sum(own.values()) or 1.0
    words = {term: weight / every for term, weight in own.items()}
    reads = tuple(_read(hit, inside, around, asked, words) for hit, inside, around in counted)
    return Relevance(asked, _taught(kind_asked(task.question), asked, reads, rarity), rarity, reads, len(own))


def _count(text: str) -> Counter[str]:
    """How often each term and each pair of neighbours stands in `text`."""
    found = terms(text)
    counts = Counter(found)
    counts.update(f"{one} {two}" for one, two in itertools.pairwise(found))
    return counts


def _read(
    hit: Hit,
    inside: Counter[str],
    around: frozenset[str],
    asked: Mapping[str, float],
    words: Mapping[str, float],
) -> Read:
    data = looks_like_code(hit.text)
    factor = DATA if data else 1.0
    return Read(
        hit, inside, around, factor * _fit(asked, inside, around), factor * _fit(words, inside, around), data
    )


def _fit(asked: Mapping[str, float], inside: Mapping[str, int], around: frozenset[str]) -> float:
    fit = 0.0
    for term, weight in asked.items():
        count = inside.get(term, 0)
        fit += weight * max(count / (count + 0.4) if count else 0.0, 0.6 if term in around else 0.0)
    return min(1.0, fit)


def kind_asked(question: str) -> str:
    """The term of what "which kinds of patterns" asks the kinds of; "" where kinds are not asked for."""
    match = re.search(
        r"\b(?:kinds?|types?|sorts?|forms?|classes|categories) of (?:[\w-]+ )??([\w-]+)",
        question,
        re.IGNORECASE,
    )
    found = terms(match.group(1)) if match else []
    return found[-1] if found else ""


def _taught(
    kind: str, asked: Mapping[str, float], reads: Sequence[Read], rarity: Mapping[str, float]
) -> dict[str, float]:
    """Terms that the best passages share or repeat and the question does not name."""
    best = sorted((read for read in reads if not read.data), key=lambda read: -read.fit)[:FEEDBACK_HITS]
    top = best[0].fit if best else 1.0
    pale = pale_stems()
    weights: dict[str, float] = defaultdict(float)
    seen = Counter(term for read in best for term in read.terms)
    for read in best:
        share = (read.fit / top) ** 2 if top else 0.0
        length = sum(read.terms.values()) / 2 or 1
        for term, count in read.terms.items():
            if term in asked or term in pale or len(term) < 2 or term.isdigit():
                continue
            if " " in term and (count < 2 or not pale.isdisjoint(term.split())):
                continue
            if seen[term] == 1 and count == 1 and term not in read.around:
                continue
            known = 1.4 if term in read.around else 1.0
            if " " in term:
                pair = term.split(" ", 1)
                compound = any(asked.get(one, 0.0) >= COMPOUND_FROM for one in pair)
                if not pale.isdisjoint(pair) or (count < 2 and not compound):
                    continue
                known *= COMPOUND if compound else 1.0
                known *= KIND if pair[1] == kind and pair[0] not in asked else 1.0
            weights[term] += share * known * min(count, 4) / (count + 1.5) * min(1.0, 120 / length)
    scored = {term: weight * rarity.get(term, 1.0) for term, weight in weights.items()}
    kept = sorted(scored.items(), key=lambda pair: (-pair[1], pair[0]))[:FEEDBACK_TERMS]
    whole = sum(weight for _, weight in kept) or 1.0
    return {term: weight / whole for term, weight in kept}
