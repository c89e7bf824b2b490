"""How alike two claims are: duplicates, and claims that say something different of the same thing."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from orchestra.context.clauses import find_negations
from orchestra.context.facts import Find, figures_and_names, plain, same_fact
from orchestra.context.units import in_base
from orchestra.evidence.screening import (
    CLAUSE,
    LEAST_SHARED,
    SAME_WORDS,
    Statements,
    generic,
    same_span,
    worded,
)
from orchestra.text.terms import terms
from orchestra.values.facts import Fact, FactKind
from orchestra.values.sources import Claim, Quote

_LEAST_SHARED_PAIRS = 5  # of Chinese or Japanese character pairs
_BOUND = re.compile(
    r"\b(?:at most|at least|up to|no more than|more than|less than|over|under|below|above|limits?|maximum"
    r"|minimum|permit\w*|allow\w*|from)\b|最多|至多|最少|至少|不超过|超过|不少于|不低于|以上|以下|以内"
)
_LABELLED = re.compile(  # "Table 3", "number 5": such a figure names a thing and measures nothing
    r"\b(?:no\.|number|table|figure|chapter|section|step|line|page|part|item|version|level|option|question)\s*$",
    re.IGNORECASE,
)
_MEASURING: frozenset[FactKind] = frozenset(("number", "percent", "money", "date"))
_MOST_COMPARED = 1_000  # claims; more are not compared with each other


class Reading:
    """A claim with what comparing it needs, the facts only when they are asked for."""

    def __init__(self, claim: Claim, find: Find = figures_and_names) -> None:
        self.claim = claim
        self.terms, self.clauses = worded(claim.text)
        self.words = frozenset(self.terms)
        self._find = find

    def join(self, quotes: Iterable[Quote]) -> None:
        """Give the claim the quotes of its duplicate, each once."""
        claim = self.claim
        joined = {(quote.locator, quote.start, quote.end): quote for quote in (*claim.quotes, *quotes)}
        self.claim = Claim(claim.id, claim.text, tuple(joined.values()), claim.question)

    @property
    def locators(self) -> frozenset[str]:
        """Of the documents that it quotes."""
        return frozenset([quote.locator for quote in self.claim.quotes])

    @cached_property
    def facts(self) -> list[Fact]:
        return self._find(self.claim.text)

    @cached_property
    def values(self) -> frozenset[tuple[str, str]]:
        return frozenset((fact.value, fact.unit) for fact in self.facts if fact.kind != "name")

    @cached_property
    def denies(self) -> bool:
        return next(find_negations(plain(self.claim.text)), None) is not None

    @cached_property
    def measures(self) -> list[Measure]:
        return list(_measures(self))


class Measure(Struct, frozen=True, gc=False):
    """A clause with a figure or a year: its telling words, values of one dimension, the other facts.

    `bound`: whether the value is a limit rather than a measure.
    """

    words: frozenset[str]
    dimension: str
    values: list[Fact]
    others: list[Fact]
    bound: bool


def is_duplicate(one: Reading, other: Reading) -> bool:
    """Whether keeping one of both loses nothing: same figures and polarity, and the same quote or wording."""
    # What is quick to see, first: the facts of most claims are never read.
    alike = any(same_span(mine, theirs) for mine in one.claim.quotes for theirs in other.claim.quotes)
    if not alike and not _same_words(one.terms, other.terms):
        return False
    return one.values == other.values and one.denies == other.denies


def _same_words(one: Sequence[str], other: Sequence[str]) -> bool:
    both = sum((Counter(one) & Counter(other)).values())
    either = len(one) + len(other) - both
    return either > 0 and both / either >= SAME_WORDS


def find_conflicts(readings: Sequence[Reading], statements: Statements) -> Iterator[tuple[int, int, str]]:
    """Pairs of claims of different documents whose clauses name the same thing with different values.

    Made to be right rather than complete: the shorter clause must be borne by the longer word for word, but
    for words that say nothing, and no other date, name or figure may set the two apart. `statements` are
    those of the readings.
    """
    for at, before in statements.possible_conflicts(_MOST_COMPARED):
        one, other = readings[before], readings[at]
        if one.locators.isdisjoint(other.locators):
            about = disagreement(one, other)
            if about:
                yield before, at, about


def disagreement(one: Reading, other: Reading) -> str:
    """The different values that both give for the same thing; "" where there is none."""
    for mine in one.measures:
        for theirs in other.measures:
            # What is quick to see, first.
            if mine.dimension != theirs.dimension or mine.bound != theirs.bound:
                continue
            if _same_subject(mine, theirs) and _differ(mine, theirs):
                return f"{_listed(mine.values)} / {_listed(theirs.values)}"
    return ""


def _measures(reading: Reading) -> Iterator[Measure]:
    text = reading.claim.text
    edges = [0, *(match.end() for match in CLAUSE.finditer(text)), len(text)]
    for start, end in pairwise(edges):
        inside = [fact for fact in reading.facts if start <= fact.start and fact.end <= end]
        figures = [fact for fact in inside if _is_measure(fact, text)]
        if not figures:
            continue
        bare = text[start:end]
        for fact in sorted(figures, key=lambda fact: -fact.start):
            bare = bare[: fact.start - start] + " " + bare[fact.end - start :]
        words = frozenset(terms(bare)) - generic()
        bound = _BOUND.search(text, start, end) is not None
        of: dict[str, list[Fact]] = defaultdict(list)
        for fact in figures:
            of[_dimension(fact)].append(fact)
        for dimension, values in of.items():
            others = [fact for fact in inside if fact not in values]
            yield Measure(words, dimension, values, others, bound)


def _is_measure(fact: Fact, text: str) -> bool:
    return (
        fact.kind in _MEASURING
        and fact.unit != "ordinal"
        and not _LABELLED.search(text, max(0, fact.start - 12), fact.start)
    )


def _dimension(fact: Fact) -> str:
    if fact.kind == "date":
        return "date"
    return in_base(1.0, fact.unit)[0] if fact.unit else "count"


def _same_subject(one: Measure, other: Measure) -> bool:
    few, many = one.words, other.words
    if len(many) < len(few):
        few, many = many, few
    if len(few) < LEAST_SHARED or len(shared := few & many) < LEAST_SHARED:
        return False
    if len(few) - len(shared) > len(few) // 6:  # more than may differ in any script
        return False
    wide = sum(not word.isascii() for word in few) > len(few) / 2
    if len(shared) < (_LEAST_SHARED_PAIRS if wide else LEAST_SHARED):
        return False
    loose = len(few) // 6 if wide else 0  # pairs of characters overlap, so one word differs in several
    more = len(few) if one.dimension not in ("count", "date") else 2 + loose
    if len(few - shared) > loose or len(many - shared) > more:
        return False
    return _no_rival(one.others, other.others) and _no_rival(other.others, one.others)


def _no_rival(facts: Sequence[Fact], others: Sequence[Fact]) -> bool:
    return all(_borne(fact, others) or not _rivals(fact, others) for fact in facts)


def _borne(fact: Fact, others: Sequence[Fact]) -> bool:
    return any(same_fact(fact, other) for other in others)


def _rivals(fact: Fact, others: Sequence[Fact]) -> bool:
    """Whether the other side names something of the same kind instead: another cup, year or city."""
    return any(other.kind == fact.kind and _dimension(other) == _dimension(fact) for other in others)


def _differ(one: Measure, other: Measure) -> bool:
    """No value in common, and none within the other's range."""
    if any(same_fact(mine, theirs) for mine in one.values for theirs in other.values):
        return False
    if one.dimension in ("date", "score"):
        return len(one.values) == len(other.values) == 1
    return not (_within(one.values, other.values) or _within(other.values, one.values))


def _within(values: Sequence[Fact], bounds: Sequence[Fact]) -> bool:
    sizes = [in_base(float(fact.value), fact.unit)[1] for fact in bounds]
    return len(sizes) > 1 and all(
        min(sizes) <= in_base(float(fact.value), fact.unit)[1] <= max(sizes) for fact in values
    )


def _listed(values: Sequence[Fact]) -> str:
    return ", ".join(dict.fromkeys(fact.text.strip() for fact in values))
