"""One pinned fact, and one value that holds no longer."""

from __future__ import annotations

from msgspec import Struct

from orchestra.context.facts import find_facts
from orchestra.values.facts import Fact

USER = "user"
_FIGURES = frozenset(("number", "percent", "money"))


class Pin(Struct, frozen=True, kw_only=True):
    """One fact, or a constraint (`key` "") in the user's own words. `block`: the number of where it was said;
    `entity`: what the talk was about then.

    `of`: the word behind a bare number, such as the people that are counted. `within`: it stands in a
    constraint that is pinned. `loose`: see `Saying`. `told`: how a prompt says it, in
    `tokens` with its line's end; results' pins of one turn share a line.
    """

    value: str
    block: int
    turn: int
    who: str
    key: str = ""
    of: str = ""
    fact: Fact | None = None
    entity: str = ""
    within: bool = False
    loose: bool = False
    told: str = ""
    tokens: int = 0

    @property
    def short(self) -> str:
        return f"{self.key}={self.value} {self.of}".rstrip()

    @property
    def line(self) -> str:
        stem = self.short if self.key else f"- {self.value}"
        about = f"{self.entity}, " if self.entity and self.entity not in stem else ""
        return f"{stem} ({about}turn {self.turn})"


class Superseded(Struct, frozen=True):
    """A value that holds no longer, and what took its place in block number `by`."""

    key: str
    old: str
    new: str
    turn: int
    by: int
    facts: tuple[Fact, ...] = ()

    def unmarked_in(self, text: str) -> bool:
        return stands_in(self.old, text) and f"{self.old} holds no longer" not in text

    @property
    def line(self) -> str:
        return f"{self.key}: {self.old} holds no longer; it is {self.new} (turn {self.turn})"


def superseded(key: str, old: str, new: str, turn: int, by: int) -> Superseded:
    """The same with the old value's facts read."""
    return Superseded(key, old, new, turn, by, tuple(find_facts(old)))


def is_figure(fact: Fact) -> bool:
    return fact.kind in _FIGURES


def comparable(one: Fact, other: Fact) -> bool:
    """Whether one can take the other's place: the same kind of value, in the same unit if both have one."""
    if is_figure(one) and is_figure(other):
        return one.unit == other.unit or not one.unit or not other.unit
    return one.kind == other.kind


def stands_in(value: str, text: str) -> bool:
    """Whether a text has this value and not just a longer one that contains it."""
    at = text.find(value)
    if at >= 0 and not value.isascii():
        return True
    while at >= 0:
        end = at + len(value)
        before, after = text[at - 1 : at] if at else "", text[end : end + 1]
        longer = (
            after.isalnum() or after == "_" or (after in (".", ",") and text[end + 1 : end + 2].isdigit())
        )
        if not longer and not (before.isalnum() or before in ("_", ".", ",")):
            return True
        at = text.find(value, at + 1)
    return False
