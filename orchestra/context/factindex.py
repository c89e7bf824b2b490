"""Many facts, and whether one of them says the same as another, without a look at each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orchestra.context.compare import is_figure, letters, same_fact
from orchestra.context.units import in_base
from orchestra.values.facts import Fact

FEW = 12
"""So many facts are looked at one by one; to find their keys would take longer."""
_NEAR = 2e-9
"""A part of a value; twice of what `same_fact` takes for the same."""

_Key = tuple[object, ...]


class FactIndex:
    """Facts by what two of them share if they say the same."""

    __slots__ = ("_all", "_by_key")

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._all = tuple({(fact.kind, fact.text, fact.value, fact.unit): fact for fact in facts}.values())
        self._by_key: dict[_Key, list[Fact]] | None = None

    def has(self, fact: Fact) -> bool:
        """Whether one of them says the same."""
        if len(self._all) <= FEW:
            return any(same_fact(fact, other) for other in self._all)
        if self._by_key is None:
            self._by_key = {}
            for other in self._all:
                for key in _kept_under(other):
                    self._by_key.setdefault(key, []).append(other)
        known = self._by_key
        return any(same_fact(fact, other) for key in _found_under(fact) for other in known.get(key, ()))


def _kept_under(fact: Fact) -> Iterator[_Key]:
    yield from _words(fact)
    yield from ((*dimension, _rounded(value)) for dimension, value in _sizes(fact))


def _found_under(fact: Fact) -> Iterator[_Key]:
    yield from _words(fact)
    for dimension, value in _sizes(fact):
        for near in {_rounded(value * (1 - _NEAR)), _rounded(value * (1 + _NEAR))}:
            yield (*dimension, near)
    if fact.kind == "date" and fact.value.isdecimal():  # a year may stand as a bare number
        yield ("", _rounded(float(fact.value)))


def _words(fact: Fact) -> Iterator[_Key]:
    """Keys of what is compared as it is written."""
    if fact.kind in ("number", "id", "date"):
        yield "text", fact.text.lower().lstrip("v")
        yield "value", fact.value
    if fact.kind in ("date", "time"):
        yield (fact.kind,)  # compared by the parts that both name
    elif not is_figure(fact) or fact.unit == "score":
        yield fact.kind, letters(fact.value)
        yield "value", fact.value


def _sizes(fact: Fact) -> Iterator[tuple[_Key, float]]:
    """What a figure may be: by itself, in its unit's base, as a fraction, in millions."""
    if not is_figure(fact) or fact.unit == "score":
        return
    value = abs(float(fact.value))
    yield ("",), value
    if fact.unit:
        dimension, base = in_base(value, fact.unit)
        yield ("in", dimension), base
    if fact.unit == "%":
        yield ("",), value / 100
    if fact.unit == "m":
        yield ("",), value * 1e6


def _rounded(value: float) -> float:
    """Coarser than the difference that is forgiven, so that a value's neighbours fall to it or the next."""
    return float(f"{value:.7g}") if value > 1e-15 else 0.0
