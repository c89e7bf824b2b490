"""Whether a text drifts from its source: by rule, without a model, in about 2 ms for a summary.

A summary of blocks is held against those blocks with this. What it finds, in the order of how sure it is:
a figure, a date, an id or a name that the source does not have; a figure or a date that the source has
elsewhere while the place that the sentence is about has another; a negation that the source never makes;
a word where the source has its opposite. Measured by benchmarks/facts.py.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Literal

from msgspec import Struct

from orchestra.context.facts import HARD, Evidence, find_facts, plain, same_fact
from orchestra.context.opposites import opposites
from orchestra.text.terms import STOP_WORDS, stem
from orchestra.values.facts import Fact

DoubtKind = Literal["figure", "date", "id", "name", "elsewhere", "negation", "opposite"]

ELSEWHERE = 0.05  # how much better the place with the other value must fit than the best with this one
OPPOSITE = 0.35  # how well the place with the opposite must fit; both chosen on four domains of SummEdits
_PLACED = frozenset(("number", "percent", "money", "date", "time"))
_REACH = 4  # words after which a neighbour counts half
_SCOPE = 6  # words that a negation reaches, of which the first two that tell something
_TELLING = 2

_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(#])|\n+|(?<=[。！？；])")
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d[\d,.]*\d|\d|[\u3400-\u9fff]|[,;:()，；：（）、。]|(?<=no)-")
_BREAKS = frozenset(  # where the reach of a negation ends
    """, ; : ( ) ， ； ： （ ） 、 。 - and but or because since so until only longer if when while although
    though unless""".split()
)
_NEGATIONS = frozenset(
    """not no never none nobody nothing neither nor without cannot can't unable lack lacks lacking refuse
    refuses refused fail fails failed hardly barely except""".split()
)
_SMALL_WORDS = frozenset("的了是在和与也都而及着或一个这那其之为以于被把")


class Doubt(Struct, frozen=True):
    """One thing that the source does not bear out; `instead` is what it says there, "" if unknown."""

    kind: DoubtKind
    text: str
    instead: str = ""

    @property
    def is_hard(self) -> bool:
        """Whether a summary is to be refused for it; the other kinds are a warning."""
        return self.kind not in ("negation", "opposite")


class _Unit:
    """A sentence or a turn: its words as stems with their places, what it negates, its facts with theirs."""

    def __init__(self, text: str) -> None:
        self.text = text
        even = plain(text).lower()
        matches = list(_TOKEN.finditer(even))
        self.words = [match[0] for match in matches]
        self.stems = [_stem(word) for word in self.words]
        self.starts = [match.start() for match in matches]
        self.places: dict[str, list[int]] = defaultdict(list)
        for at, word in enumerate(self.stems):
            self.places[word].append(at)
        self.negated = set(self._negated())

    @cached_property
    def facts(self) -> list[Fact]:
        return [fact for fact in find_facts(self.text) if fact.kind in HARD | {"name"}]

    def telling(self) -> list[tuple[int, str]]:
        """Places and stems of the words that carry meaning."""
        return [(at, self.stems[at]) for at, word in enumerate(self.words) if _tells(word)]

    def span(self, fact: Fact) -> tuple[int, int]:
        """The words that `fact` covers, as [first, last)."""
        inside = [at for at, start in enumerate(self.starts) if fact.start <= start < fact.end]
        return (inside[0], inside[-1] + 1) if inside else (0, 0)

    def _negated(self) -> Iterator[str]:
        for at, word in enumerate(self.words):
            if not _is_negation(word):
                continue
            told = 0
            for next_at in range(at + 1, min(len(self.words), at + 1 + _SCOPE)):
                following = self.words[next_at]
                if following in _BREAKS or told == _TELLING:
                    break
                if following not in STOP_WORDS and not _is_negation(following):
                    yield self.stems[next_at]
                    told += 1


class Source:
    """A text, read once, that other texts are held against."""

    def __init__(self, text: str) -> None:
        self.evidence = Evidence([text])
        self.units = [_Unit(part) for part in _SPLIT.split(text) if part and part.strip()]
        self.counts: Counter[str] = Counter()
        for unit in self.units:
            self.counts.update(unit.places.keys())
        self.negated = frozenset(word for unit in self.units for word in unit.negated)

    def weight(self, word: str) -> float:
        """How rare a stem is among the units."""
        return math.log(1 + len(self.units) / (0.5 + self.counts.get(word, 0)))


def find_drift(text: str, source: Source) -> tuple[Doubt, ...]:
    """Everything in `text` that `source` does not bear out, in order, each once."""
    doubts: dict[Doubt, None] = {}
    for part in _SPLIT.split(text):
        if part and part.strip():
            doubts.update(dict.fromkeys(_drift(_Unit(part), source)))
    return tuple(doubts)


def _drift(unit: _Unit, source: Source) -> Iterator[Doubt]:
    missing = source.evidence.missing(unit.text)
    for fact in missing:
        yield Doubt(_kind(fact), fact.text)
    absent = {(fact.start, fact.end) for fact in missing}
    for fact in unit.facts:
        if (
            fact.kind in ("number", "percent", "money", "date", "time")
            and (fact.start, fact.end) not in absent
        ):
            instead = _elsewhere(unit, fact, source)
            if instead:
                yield Doubt("elsewhere", fact.text, instead)
    for word in sorted(unit.negated):
        if word in source.counts and word not in source.negated:
            yield Doubt("negation", word)
    yield from _opposites(unit, source)


def _kind(fact: Fact) -> DoubtKind:
    if fact.kind in ("number", "percent", "money"):
        return "figure"
    if fact.kind in ("date", "time"):
        return "date"
    return "name" if fact.kind == "name" else "id"


def _elsewhere(unit: _Unit, fact: Fact, source: Source) -> str:
    """The value at the place that the sentence is about, if it fits clearly better than its own."""
    siblings = [other for other in unit.facts if other is not fact]
    context = _Context(unit, *unit.span(fact), source)
    own = rival = 0.0
    instead = ""
    words = [word for word, _ in context.words]
    for place in source.units:
        if place.places.keys().isdisjoint(words):  # nothing fits there, whatever it says
            continue
        for other in place.facts:
            same = same_fact(fact, other)
            if not same and (not _comparable(fact, other) or any(same_fact(one, other) for one in siblings)):
                continue
            fit = context.fit(place, place.span(other)[0])
            if same:
                own = max(own, fit)
            elif fit > rival:
                rival, instead = fit, other.text
    return instead if rival - own > ELSEWHERE else ""


def _comparable(one: Fact, other: Fact) -> bool:
    if one.kind != other.kind:
        return False
    if one.kind == "date":
        return (one.value[0] == "w") == (other.value[0] == "w")
    return one.unit == other.unit or not one.unit or not other.unit


def _opposites(unit: _Unit, source: Source) -> Iterator[Doubt]:
    for at, word in unit.telling():
        for opposite in sorted(opposites().get(word, ())):
            if opposite not in source.counts or opposite in unit.places or word in unit.negated:
                continue
            context = _Context(unit, at, at + 1, source)
            rival = context.best(opposite, [place for place in source.units if opposite not in place.negated])
            if rival > OPPOSITE and rival - context.best(word, source.units) > OPPOSITE:
                yield Doubt("opposite", word, opposite)
                break


class _Context:
    """The words around a place in a sentence: nearer and rarer ones weigh more."""

    def __init__(self, unit: _Unit, first: int, last: int, source: Source) -> None:
        self.words = [
            (word, source.weight(word) * _near(at - first))
            for at, word in unit.telling()
            if not first <= at < last
        ]
        self.whole = sum(weight for _, weight in self.words)

    def fit(self, place: _Unit, at: int) -> float:
        """How much of these words stands around `at` in another sentence, 0 to 1."""
        if not self.whole:
            return 0.0
        found = 0.0
        for word, weight in self.words:
            places = place.places.get(word)
            if places:
                found += weight * math.sqrt(_near(min(abs(other - at) for other in places)))
        return found / self.whole

    def best(self, word: str, places: Sequence[_Unit]) -> float:
        """The best fit of any place where `word` stands."""
        return max(
            (self.fit(place, at) for place in places for at in place.places.get(word, ())), default=0.0
        )


def _near(distance: int) -> float:
    return 1 / (1 + abs(distance) / _REACH)


def _tells(word: str) -> bool:
    if len(word) == 1 and not word.isascii():
        return word not in _SMALL_WORDS and word not in _BREAKS
    return len(word) > 1 and word not in STOP_WORDS and word not in _BREAKS and not _is_negation(word)


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


@lru_cache(maxsize=1 << 15)
def _stem(word: str) -> str:
    return stem(word.removesuffix("'s").replace("'", "")) if word.isascii() else word
