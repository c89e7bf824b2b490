"""Pinned facts: what was said once and matters, as `key=value` with its turn; constraints word for word.

Facts of the user are held from the moment they are said. A prompt shows those whose own words are no longer
in it. A corrected value takes the old one's place, and wherever the old one is still to be seen it is marked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct, structs

from orchestra.context.facts import is_hard, same_fact
from orchestra.context.keys import Keyed, json_facts, keyed_facts
from orchestra.context.sayings import Saying, is_old, sayings
from orchestra.context.tokens import Counter
from orchestra.text.terms import terms
from orchestra.values.facts import Fact

_FIGURES = frozenset(("number", "percent", "money"))
_LONGEST_RESULT = 8_000
"""Characters of a result that are read for facts; the rest of it is found by its reference."""
_MOST_MARKS = 12


class Pin(Struct, frozen=True, kw_only=True):
    """One fact, or a constraint (`key` "") in the user's own words. `block`: the number of where it was said;
    `entity`: what the talk was about then.

    `within`: it stands in a constraint that is pinned.
    """

    value: str
    block: int
    turn: int
    who: str
    key: str = ""
    fact: Fact | None = None
    entity: str = ""
    within: bool = False
    tokens: int = 0

    @property
    def short(self) -> str:
        return f"{self.key}={self.value}"

    @property
    def origin(self) -> str:
        """What a result's pins share a line under: they are many."""
        return f"{self.who}, turn {self.turn}"

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

    def unmarked_in(self, text: str) -> bool:
        return stands_in(self.old, text) and f"{self.old} holds no longer" not in text

    @property
    def line(self) -> str:
        return f"{self.key}: {self.old} holds no longer; it is {self.new} (turn {self.turn})"


class Pins:
    """One agent's pinned facts, in the order in which they were said."""

    __slots__ = ("_corrected", "_counter", "_entity", "_pins", "superseded")

    def __init__(self, counter: Counter, *, corrected: bool = True) -> None:
        self._counter = counter
        self._corrected = corrected
        self._pins: list[Pin] = []
        self._entity = ""
        self.superseded: tuple[Superseded, ...] = ()

    def __iter__(self) -> Iterator[Pin]:
        return iter(self._pins)

    def __len__(self) -> int:
        return len(self._pins)

    def hear(self, text: str, block: int, turn: int, entity: str = "") -> None:
        """What the user said about `entity`: constraints, exclusions, facts, corrections of earlier ones."""
        self._entity = entity
        for saying in sayings(text):
            mine = [(keyed, fact) for keyed, fact in keyed_facts(saying.text)]
            if saying.corrects and self._corrected:
                mine = self._correct(saying, mine, block, turn)
            if saying.binds:
                self._put(Pin(value=saying.text, block=block, turn=turn, who="user"))
            for keyed, fact in mine:
                self._put(_pin(keyed, fact, block, turn, within=saying.binds))

    def read(self, text: str, about: Pin, *, used: str = "", seen: str = "") -> None:
        """What a result says, pinned as `about` but for key and value.

        Of prose only what `used`, the words that came after it, took up. What `seen` shows is left out.
        """
        found = json_facts(text[:_LONGEST_RESULT]) if len(text) <= _LONGEST_RESULT else []
        if not found:
            found = [
                keyed
                for keyed, fact in keyed_facts(text[:_LONGEST_RESULT])
                if is_hard(fact) and stands_in(fact.text, used)
            ]
        for keyed in found:
            if not stands_in(keyed.value, seen):
                self._put(structs.replace(about, key=keyed.key, value=keyed.value, fact=keyed.fact))

    def text(self, tokens: int, shown: Collection[int] = ()) -> tuple[str, tuple[Pin, ...]]:
        """The pins whose own words are not `shown`, newest first, within `tokens`; and what had no room."""
        constraints: list[str] = []
        facts: list[str] = []
        results: dict[str, list[str]] = {}
        out: list[Pin] = []
        room = tokens - 2 * _HEADING_TOKENS
        for pin in self._ranked(shown):
            fresh = pin.who != "user" and pin.origin not in results
            size = pin.tokens + (_HEADING_TOKENS if fresh else 0)
            if size > room:
                out.append(pin)
                continue
            room -= size
            if not pin.key:
                constraints.append(pin.line)
            elif pin.who == "user":
                facts.append(pin.line)
            else:
                results.setdefault(pin.origin, []).append(pin.short)
        parts = []
        if constraints:
            parts.append("\n".join(("The user's constraints, word for word:", *constraints)))
        if facts or results:
            grouped = (f"{origin}: {'; '.join(found)}" for origin, found in results.items())
            parts.append("\n".join(("Facts:", *facts, *grouped)))
        return "\n".join(parts), tuple(out)

    def marks(self, texts: Iterable[tuple[int, str]]) -> str:
        """A line for each superseded value that one of these texts (block number, text) still shows."""
        if not self.superseded:
            return ""
        known = [(number, text) for number, text in texts]
        lines = [
            gone.line
            for gone in reversed(self.superseded)
            if any(number != gone.by and gone.unmarked_in(text) for number, text in known)
        ]
        return "\n".join(lines[:_MOST_MARKS])

    def holds(self, key: str) -> Pin | None:
        """What the user last said under this key, None if nothing."""
        wanted = terms(key)
        if not wanted:
            return None
        for pin in reversed(self._pins):
            if pin.who == "user" and pin.key and terms(pin.key) == wanted:
                return pin
        return None

    def constraints(self) -> tuple[Pin, ...]:
        return tuple(pin for pin in self._pins if not pin.key)

    def _ranked(self, shown: Collection[int]) -> list[Pin]:
        """Constraints, then what the user said, then what results said; each newest first."""
        away = [pin for pin in reversed(self._pins) if pin.block not in shown]
        spoken = {pin.block for pin in away if not pin.key}
        ranks: tuple[list[Pin], list[Pin], list[Pin]] = ([], [], [])
        seen: set[tuple[str, str]] = set()
        for pin in away:
            if pin.within and pin.block in spoken:
                continue
            same = (pin.key, pin.value)
            if same not in seen:
                seen.add(same)
                ranks[0 if not pin.key else 1 if pin.who == "user" else 2].append(pin)
        return [pin for rank in ranks for pin in rank]

    def _put(self, pin: Pin) -> None:
        if pin.who == "user":
            pin = structs.replace(pin, entity=self._entity)
        told = pin.line if pin.who == "user" else pin.short
        self._pins.append(structs.replace(pin, tokens=self._counter.count(told) + 1))

    def _correct(
        self, saying: Saying, mine: list[tuple[Keyed, Fact]], block: int, turn: int
    ) -> list[tuple[Keyed, Fact]]:
        """Take old values out of their places; returns the facts that now hold, under the old ones' keys."""
        old = [at for at, (_, fact) in enumerate(mine) if is_old(saying.text, fact.start)]
        kept = [pair for at, pair in enumerate(mine) if at not in old]
        named = [mine[at] for at in old]
        if not named:  # "from 3,200 to 4,500" and the like: a value that is known stands beside a new one
            known = [pair for pair in kept if is_hard(pair[1]) and self._known(pair[1]) is not None]
            fresh = [pair for pair in kept if is_hard(pair[1]) and self._known(pair[1]) is None]
            if fresh and any(_comparable(fact, other) for _, fact in known for _, other in fresh):
                named = [pair for pair in known if any(_comparable(pair[1], other) for _, other in fresh)]
                kept = [pair for pair in kept if pair not in named]
        done: list[tuple[Keyed, Fact]] = []
        for keyed, fact in kept:
            done.append((self._replaced(keyed, fact, named, (saying.text, block, turn)), fact))
        return done

    def _replaced(
        self, keyed: Keyed, fact: Fact, named: list[tuple[Keyed, Fact]], where: tuple[str, int, int]
    ) -> Keyed:
        said, block, turn = where
        rivals = [other for _, other in named if _comparable(fact, other)]
        pin = next((found for other in rivals if (found := self._known(other)) is not None), None)
        if pin is None and rivals:  # what somebody else said, and the user says is wrong
            gone = Superseded(keyed.key, rivals[0].text, fact.text, turn, block)
            self.superseded += (gone,)
            return keyed
        if pin is None:
            pin = self._nearest(keyed, fact, said)
        if pin is None or pin.value == fact.text:
            return keyed
        self._retire(pin, fact.text, turn, block)
        return keyed._replace(key=pin.key)

    def _retire(self, pin: Pin, new: str, turn: int, block: int) -> None:
        self.superseded += (Superseded(pin.key, pin.value, new, turn, block),)
        self._pins.remove(pin)
        for at, other in enumerate(self._pins):
            if not other.key and other.block == pin.block and stands_in(pin.value, other.value):
                note = f"{other.value} [{pin.value} holds no longer: it is {new}, turn {turn}]"
                self._pins[at] = structs.replace(
                    other, value=note, tokens=self._counter.count(note) + _MARK_TOKENS
                )

    def _known(self, fact: Fact) -> Pin | None:
        for pin in reversed(self._pins):
            if pin.fact is not None and pin.who == "user" and same_fact(pin.fact, fact):
                return pin
        return None

    def _nearest(self, keyed: Keyed, fact: Fact, said: str) -> Pin | None:
        """The newest pin of the same kind whose key the correction names, of the same entity before others.

        None without one, and where several other entities have one.
        """
        words = set(terms(said))
        near: list[tuple[float, Pin]] = []
        for pin in reversed(self._pins):
            if pin.fact is None or pin.who != "user" or not _comparable(pin.fact, fact):
                continue
            key = set(terms(pin.key))
            share = len(key & words) / len(key) if key else 0.0
            if share >= _SHARED_KEY:
                near.append((share, pin))
        own = [pair for pair in near if pair[1].entity in ("", self._entity)]
        if not own and len({pin.entity for _, pin in near}) > 1:
            return None
        return max(own or near, key=lambda pair: pair[0], default=(0.0, None))[1]


_SHARED_KEY = 0.5
_HEADING_TOKENS = 10
_MARK_TOKENS = 10


def _pin(keyed: Keyed, fact: Fact, block: int, turn: int, *, within: bool) -> Pin:
    return Pin(key=keyed.key, value=keyed.value, fact=fact, block=block, turn=turn, who="user", within=within)


def _comparable(one: Fact, other: Fact) -> bool:
    """Whether one can take the other's place: the same kind of value, in the same unit if both have one."""
    if one.kind in _FIGURES and other.kind in _FIGURES:
        return one.unit == other.unit or not one.unit or not other.unit
    return one.kind == other.kind


def stands_in(value: str, text: str) -> bool:
    """Whether a text has this value and not just a longer one that contains it."""
    if value not in text:
        return False
    return (
        re.search(rf"(?<![\w.,]){re.escape(value)}(?![\w]|[.,]\d)", text) is not None or not value.isascii()
    )
