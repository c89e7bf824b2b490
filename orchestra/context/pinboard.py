"""Where pins are kept: found by key, value and block without a look at all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from orchestra.context.facts import same_fact
from orchestra.context.pinned import USER, Pin, comparable, is_figure
from orchestra.context.units import in_base
from orchestra.text.terms import terms
from orchestra.values.facts import Fact

CONSTRAINTS, SAID, RETURNED, TOLD = range(4)
"""Ranks of pins, in the order in which they are shown."""

FEW = 8
NEWEST = 64
"""Of what shares a word or a value, so many of the newest are looked at for one correction."""

_Numbers = dict[int, None]  # a set that keeps its order


class Pinboard:
    """Pins in the order in which they were said; what is said again takes the place of its first time.

    `version` changes with each change.
    """

    __slots__ = (
        "_bound",
        "_counts",
        "_entities",
        "_keys",
        "_next",
        "_pins",
        "_ranks",
        "_same",
        "_values",
        "_words",
        "version",
    )

    def __init__(self) -> None:
        self.version = 0
        self._next = 0
        self._pins: dict[int, Pin] = {}
        self._ranks: tuple[_Numbers, ...] = ({}, {}, {}, {})
        self._same: dict[tuple[object, ...], int] = {}
        self._counts: dict[int, int] = {}  # by block, of the pins that have a rank
        self._bound: dict[int, _Numbers] = {}  # constraints by block
        self._keys: dict[tuple[str, ...], _Numbers] = {}  # the user's facts by their key
        self._words: dict[tuple[str, str], _Numbers] = {}  # and by entity and each word of it
        self._entities: dict[str, dict[str, None]] = {}  # by such a word
        self._values: dict[object, _Numbers] = {}  # and by their value

    def __iter__(self) -> Iterator[Pin]:
        return iter(self._pins.values())

    def __len__(self) -> int:
        return len(self._pins)

    def __contains__(self, block: object) -> bool:
        """Whether a block, by its number, has pins that can be shown."""
        return block in self._counts

    def put(self, pin: Pin) -> None:
        """Add the newest pin."""
        self.version += 1
        old = self._same.get(_identity(pin))
        if old is not None:
            self._take(old)
        number = self._next = self._next + 1
        self._same[_identity(pin)] = number
        self._pins[number] = pin
        rank = _rank(pin)
        if rank is not None:
            self._ranks[rank][number] = None
            self._counts[pin.block] = self._counts.get(pin.block, 0) + 1
        for index, key in self._places(pin):
            index.setdefault(key, {})[number] = None
        for word in terms(pin.key) if pin.who == USER else ():
            self._entities.setdefault(word, {})[pin.entity] = None

    def remove(self, pin: Pin) -> None:
        self.version += 1
        self._take(self._same[_identity(pin)])

    def amend(self, pin: Pin, new: Pin) -> None:
        """Change a constraint in its place."""
        self.version += 1
        number = self._same.pop(_identity(pin))
        self._same[_identity(new)] = number
        self._pins[number] = new

    def newest(self, rank: int) -> Iterator[Pin]:
        """The pins of a rank, newest first."""
        return map(self._pins.__getitem__, reversed(self._ranks[rank]))

    def count_away(self, shown: Iterable[int]) -> int:
        """How many pins have a block that is not shown."""
        here = sum(self._counts.get(block, 0) for block in shown)
        return sum(map(len, self._ranks)) - here

    def constraints(self) -> Iterator[Pin]:
        """Newest first."""
        return (self._pins[number] for number in reversed(self._ranks[CONSTRAINTS]))

    @property
    def binding(self) -> Collection[int]:
        """The blocks that set constraints, also those since taken back."""
        return self._bound.keys()

    def bound_in(self, block: int) -> list[Pin]:
        """The constraints that a block set."""
        return [self._pins[number] for number in self._bound.get(block, ())]

    def holds(self, key: str) -> Pin | None:
        """What the user last said under this key, None if nothing."""
        numbers = self._keys.get(tuple(terms(key)))
        return self._pins[next(reversed(numbers))] if numbers else None

    def known(self, fact: Fact) -> Pin | None:
        """The newest thing the user said that says the same as `fact`."""
        found = (islice(reversed(self._values.get(value, {})), NEWEST) for value in _values_of(fact))
        numbers = {number for newest in found for number in newest}
        for number in sorted(numbers, reverse=True):
            pin = self._pins[number]
            if pin.fact is not None and same_fact(pin.fact, fact):
                return pin
        return None

    def near(self, fact: Fact, words: Collection[str], entity: str) -> Iterator[tuple[float, Pin]]:
        """An entity's facts of the same kind as `fact`, newest first, each with its key's share of `words`.

        The entity's own name in a key does not count: a correction need not repeat it.
        """
        found = (islice(reversed(self._words.get((entity, word), {})), NEWEST) for word in words)
        for number in sorted({number for numbers in found for number in numbers}, reverse=True):
            pin = self._pins[number]
            if pin.fact is not None and comparable(pin.fact, fact):
                key = set(terms(pin.key)).difference(terms(pin.entity)) or set(terms(pin.key))
                yield len(key.intersection(words)) / len(key), pin

    def entities_of(self, words: Iterable[str]) -> Iterator[str]:
        """Entities with a fact whose key shares one of `words`: the last few named for each."""
        seen: set[str] = set()
        for word in words:
            for entity in islice(reversed(self._entities.get(word, {})), FEW):
                if entity not in seen:
                    seen.add(entity)
                    yield entity

    def _take(self, number: int) -> None:
        pin = self._pins.pop(number)
        del self._same[_identity(pin)]
        rank = _rank(pin)
        if rank is not None:
            del self._ranks[rank][number]
            self._counts[pin.block] -= 1
            if not self._counts[pin.block]:
                del self._counts[pin.block]
        for index, key in self._places(pin):
            index[key].pop(number, None)

    def _places(self, pin: Pin) -> Iterator[tuple[dict[object, _Numbers], object]]:
        """The indexes that a pin stands in, and under what."""
        if pin.who != USER:
            return
        if not pin.key:
            yield self._bound, pin.block  # type: ignore[misc]  # the key's type is the index's own
            return
        words = terms(pin.key)
        if words:
            yield self._keys, tuple(words)  # type: ignore[misc]
        for word in dict.fromkeys(words):
            yield self._words, (pin.entity, word)  # type: ignore[misc]
        if pin.fact is not None:
            for value in dict.fromkeys(_values_of(pin.fact)):
                yield self._values, value


def _identity(pin: Pin) -> tuple[object, ...]:
    """What a pin said again shares with its first time; a value of another entity is another fact."""
    return (pin.who == USER, pin.key, pin.value, pin.entity if pin.key else "", pin.within)


def _rank(pin: Pin) -> int | None:
    """None for what stands in a constraint, which is shown in its place."""
    if pin.within:
        return None
    if not pin.key:
        return TOLD if pin.loose else CONSTRAINTS
    return SAID if pin.who == USER else RETURNED


def _values_of(fact: Fact) -> Iterator[object]:
    """What two facts share if they may say the same."""
    yield fact.text.lower().lstrip("v")
    if is_figure(fact) and fact.unit != "score":
        value = float(fact.value)
        yield f"{value:.9g}"
        if fact.unit:
            dimension, base = in_base(value, fact.unit)
            yield dimension, f"{base:.6g}"
        if fact.unit == "%":
            yield f"{value / 100:.9g}"
    elif fact.kind in ("date", "time"):
        yield fact.kind  # dates are the same when what both name of year, month and day is
    else:
        yield "".join(char for char in fact.value if char.isalnum())
