"""Choosing statements that together cover what was asked and what the sources add to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from orchestra.models.extractive.words import pale_stems


class Choice(Struct, frozen=True):
    """One statement to choose from; `group` is its document, `fit` its relevance on its own (0 to about 1)."""

    key: int
    terms: frozenset[str]
    words: int
    fit: float
    group: str
    section: str = ""
    part: int = 0


class Wants(Struct, frozen=True):
    """What a selection should hold: weights of the terms asked (sum 1) and of those taught (sum 1)."""

    asked: Mapping[str, float]
    taught: Mapping[str, float]


class Limits(Struct, frozen=True):
    """Where choosing ends; `words` and `count` are upper bounds."""

    words: int
    count: int


ASKED = 1.0
TAUGHT = 0.8
FIT = 0.15
NEW_GROUP = 0.1
NEW_SECTION = 0.4
REPEAT = 0.55  # what a term is worth again after each statement that holds it
SAME = 0.6  # Jaccard overlap from which two statements say the same
HELD = 0.8  # share of a shorter statement's terms inside a longer one from which they say the same
FIT_POWER = 0.85
COST = 0.35  # exponent of a statement's length


def choose(
    choices: Sequence[Choice], wants: Wants, limits: Limits, chosen: Sequence[Choice] = ()
) -> list[Choice]:
    """Greedy: the statement with the best gain for its length, until nothing fits.

    `chosen` are already in; they count as covered and are part of the result.
    """
    picked = list(chosen)
    seen: Counter[str] = Counter(term for choice in picked for term in choice.terms)
    groups: Counter[str] = Counter(place for choice in picked for place in (choice.group, choice.section))
    room = limits.words - sum(choice.words for choice in picked)
    taken = {choice.key for choice in picked}
    left = [choice for choice in choices if choice.key not in taken and choice.fit > 0]
    while left and len(picked) < limits.count:
        left = [choice for choice in left if choice.words <= room]
        best = max(left, key=_scorer(wants, seen, groups), default=None)
        if best is None:
            break
        left.remove(best)
        if any(same(best.terms, other.terms) for other in picked):
            continue
        picked.append(best)
        room -= best.words
        seen.update(best.terms)
        groups.update((best.group, best.section))
    return picked


def _scorer(
    wants: Wants, seen: Mapping[str, int], groups: Mapping[str, int]
) -> Callable[[Choice], tuple[float, int]]:
    def score(choice: Choice) -> tuple[float, int]:
        asked = taught = 0.0
        for term in choice.terms:
            repeat = REPEAT ** seen.get(term, 0)
            asked += wants.asked.get(term, 0.0) * repeat
            taught += wants.taught.get(term, 0.0) * repeat
        gain = ASKED * asked + TAUGHT * taught + FIT * choice.fit
        gain *= choice.fit**FIT_POWER
        gain *= 1 + NEW_GROUP * 0.5 ** groups.get(choice.group, 0)
        gain *= 1 + NEW_SECTION * 0.5 ** groups.get(choice.section, 0)
        return gain / (6 + choice.words) ** COST, -choice.key

    return score


def same(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two statements say the same: nearly the same terms, or one inside the other."""
    pale = pale_stems()
    left = {term for term in first if term not in pale and ' ' not in term}
    right = {term for term in second if term not in pale and ' ' not in term}
    if not left or not right:
        return first == second
    shared = len(left & right)
    return shared / len(left | right) >= SAME or shared / min(len(left), len(right)) >= HELD
