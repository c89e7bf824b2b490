"""Pinned facts: what was said once and matters, as `key=value` with its turn; constraints word for word.

Facts of the user are held from the moment they are said. A prompt shows those whose own words are no longer
in it. A corrected value takes the old one's place, and wherever the old one is still to be seen it is marked.
Nothing here looks at all pins for one prompt or one turn.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from msgspec import structs

from orchestra.context.facts import is_hard
from orchestra.context.keys import Keyed, behind, json_facts, keyed_facts
from orchestra.context.pinboard import Pinboard
from orchestra.context.pinned import USER, Pin, Superseded, comparable, stands_in, superseded
from orchestra.context.sayings import Saying, is_old, sayings
from orchestra.context.tokens import Counter
from orchestra.text.terms import terms
from orchestra.values.facts import Fact

LONGEST_RESULT = 8_000
"""Characters of a result that are read for facts; the rest of it is found by its reference."""
_MOST_MARKS = 12
_MISSES = 24
"""Pins in a row that did not fit, after which the rest of their rank is not tried."""
_LEAST = 4
"""Tokens below which no pin fits."""
_SHARED_KEY = 0.5
_HEADING_TOKENS = 10
_MARK_TOKENS = 10
_HEAD = re.compile(r"[A-Za-z]+|[0-9]+")

_NOT_READ: tuple[int, frozenset[int]] = (0, frozenset())


class Pins:
    """One agent's pinned facts, in the order in which they were said."""

    __slots__ = (
        "_board",
        "_corrected",
        "_counter",
        "_entity",
        "_heads",
        "_marked",
        "_places",
        "_told",
        "superseded",
    )

    def __init__(self, counter: Counter, *, corrected: bool = True) -> None:
        self._counter = counter
        self._corrected = corrected
        self._board = Pinboard()
        self._entity = ""
        self.superseded: tuple[Superseded, ...] = ()
        self._places: dict[tuple[str, str], list[int]] = {}  # superseded values by key and what holds now
        self._heads: dict[str, list[int]] = {}  # superseded values by their first word or number
        self._marked: dict[tuple[int, int], tuple[int, frozenset[int]]] = {}  # see `_unmarked`
        self._told: tuple[object, tuple[str, int]] = (None, ("", 0))

    def __iter__(self) -> Iterator[Pin]:
        return iter(self._board)

    def __len__(self) -> int:
        return len(self._board)

    def hear(self, text: str, block: int, turn: int, entity: str = "") -> None:
        """What the user said about `entity`: constraints, exclusions, facts, corrections of earlier ones."""
        self._entity = entity
        for saying in sayings(text):
            mine = [(keyed, fact) for keyed, fact in keyed_facts(saying.text)]
            if saying.corrects and self._corrected:
                mine = self._correct(saying, mine, block, turn)
            if saying.binds:
                self._put(Pin(value=saying.text, block=block, turn=turn, who=USER, loose=saying.loose))
            for keyed, fact in mine:
                self._put(
                    Pin(
                        key=keyed.key,
                        value=keyed.value,
                        of=behind(saying.text, fact),
                        fact=fact,
                        block=block,
                        turn=turn,
                        who=USER,
                        within=saying.binds,
                    )
                )

    def read(self, text: str, about: Pin, *, used: str = "", seen: str = "") -> None:
        """What a result says, pinned as `about` but for key and value.

        Of prose only what `used`, the words that came after it, took up. What `seen` shows is left out.
        """
        found = json_facts(text[:LONGEST_RESULT]) if len(text) <= LONGEST_RESULT else []
        if not found:
            found = [
                keyed
                for keyed, fact in keyed_facts(text[:LONGEST_RESULT])
                if is_hard(fact) and stands_in(fact.text, used)
            ]
        for keyed in found:
            if not stands_in(keyed.value, seen):
                self._put(structs.replace(about, key=keyed.key, value=keyed.value, fact=keyed.fact))

    def text(self, tokens: int, shown: Collection[int] = (), binding: int = 0) -> tuple[str, int]:
        """The pins whose own words are not `shown`, newest first, within `tokens`; how many had no room.

        `binding`: tokens for constraints, where that is more.
        """
        of = (self._board.version, tokens, binding, frozenset(b for b in shown if b in self._board))
        if self._told[0] != of:
            self._told = (of, self._text(tokens, of[3], binding))
        return self._told[1]

    def _text(self, tokens: int, shown: Collection[int], binding: int) -> tuple[str, int]:
        chosen: tuple[list[Pin], ...] = ([], [], [], [])
        origins: set[tuple[str, int]] = set()
        known: set[tuple[str, str]] = set()
        repeated = 0
        room = max(tokens, binding) - 2 * _HEADING_TOKENS
        for rank, into in enumerate(chosen):
            if rank == 1:
                room -= max(binding - tokens, 0)
            misses = 0
            for pin in self._board.newest(rank):
                if pin.block in shown:
                    continue
                if room < _LEAST or misses > _MISSES:
                    break
                size = pin.tokens
                if pin.who != USER:
                    if (pin.key, pin.value) in known:
                        repeated += 1
                        continue
                    if (pin.who, pin.turn) not in origins:
                        size += _HEADING_TOKENS
                if size > room:
                    misses += 1
                    continue
                room -= size
                misses = 0
                into.append(pin)
                known.add((pin.key, pin.value))
                if pin.who != USER:
                    origins.add((pin.who, pin.turn))
        out = self._board.count_away(shown) - sum(map(len, chosen)) - repeated
        constraints, said, returned, told = chosen
        return _rendered(constraints + told, said, returned), out

    def marks(self, texts: Iterable[tuple[int, str]]) -> str:
        """A line for each superseded value that one of these texts (block number, text) still shows.

        Number 0 is for a text that is no block's.
        """
        if not self.superseded:
            return ""
        found: set[int] = set()
        seen: dict[tuple[int, int], tuple[int, frozenset[int]]] = {}
        for number, text in texts:
            here = self._unmarked(number, text, seen)
            found.update(at for at in here if self.superseded[at].by != number or not number)
        self._marked = seen
        lines = [self.superseded[at].line for at in sorted(found, reverse=True)]
        return "\n".join(lines[:_MOST_MARKS])

    def _unmarked(
        self, number: int, text: str, seen: dict[tuple[int, int], tuple[int, frozenset[int]]]
    ) -> frozenset[int]:
        """Which superseded values a text shows without a mark; a block is read once for each of them."""
        place = (number, len(text))
        known, found = self._marked.get(place, _NOT_READ) if number else _NOT_READ
        if known < len(self.superseded):
            heads = set(_HEAD.findall(text)) | {""}
            new = [at for head in heads for at in self._heads.get(head, ()) if at >= known]
            found = found.union(at for at in new if self.superseded[at].unmarked_in(text))
        if number:
            seen[place] = (len(self.superseded), found)
        return found

    def holds(self, key: str) -> Pin | None:
        """What the user last said under this key, None if nothing."""
        return self._board.holds(key)

    def constraints(self) -> Iterator[Pin]:
        """What binds, newest first."""
        return self._board.constraints()

    @property
    def binding(self) -> Collection[int]:
        """The blocks that set constraints."""
        return self._board.binding

    def bound_in(self, block: int) -> list[Pin]:
        """The constraints that a block set, in their order."""
        return self._board.bound_in(block)

    def _put(self, pin: Pin) -> None:
        if pin.who == USER:
            pin = structs.replace(pin, entity=self._entity)
        told = pin.line if pin.who == USER else pin.short
        self._board.put(structs.replace(pin, told=told, tokens=self._counter.count(told) + 1))

    def _correct(
        self, saying: Saying, mine: list[tuple[Keyed, Fact]], block: int, turn: int
    ) -> list[tuple[Keyed, Fact]]:
        """Take old values out of their places; returns the facts that now hold, under the old ones' keys."""
        old = [at for at, (_, fact) in enumerate(mine) if is_old(saying.text, fact.start)]
        kept = [pair for at, pair in enumerate(mine) if at not in old]
        named = [mine[at] for at in old]
        if not named:  # "from 3,200 to 4,500" and the like: a value that is known stands beside a new one
            known = [pair for pair in kept if is_hard(pair[1]) and self._board.known(pair[1]) is not None]
            fresh = [pair for pair in kept if is_hard(pair[1]) and self._board.known(pair[1]) is None]
            if fresh and any(comparable(fact, other) for _, fact in known for _, other in fresh):
                named = [pair for pair in known if any(comparable(pair[1], other) for _, other in fresh)]
                kept = [pair for pair in kept if pair not in named]
        done: list[tuple[Keyed, Fact]] = []
        for keyed, fact in kept:
            done.append((self._replaced(keyed, fact, named, (saying.text, block, turn)), fact))
        return done

    def _replaced(
        self, keyed: Keyed, fact: Fact, named: list[tuple[Keyed, Fact]], where: tuple[str, int, int]
    ) -> Keyed:
        said, block, turn = where
        rivals = [other for _, other in named if comparable(fact, other)]
        pin = next((found for other in rivals if (found := self._board.known(other)) is not None), None)
        if pin is None and rivals:  # what somebody else said, and the user says is wrong
            self._supersede(superseded(keyed.key, rivals[0].text, fact.text, turn, block))
            return keyed
        if pin is None:
            pin = self._nearest(keyed, fact, said)
        if pin is None or pin.value == fact.text:
            return keyed
        self._retire(pin, fact.text, turn, block)
        return keyed._replace(key=pin.key)

    def _retire(self, pin: Pin, new: str, turn: int, block: int) -> None:
        self._supersede(superseded(pin.key, pin.value, new, turn, block))
        self._board.remove(pin)
        for other in self._board.bound_in(pin.block):
            if stands_in(pin.value, other.value):
                note = f"{other.value} [{pin.value} holds no longer: it is {new}, turn {turn}]"
                tokens = self._counter.count(note) + _MARK_TOKENS
                new_pin = structs.replace(other, value=note, tokens=tokens)
                self._board.amend(other, structs.replace(new_pin, told=new_pin.line))

    def _supersede(self, gone: Superseded) -> None:
        head = _HEAD.search(gone.old)
        self._heads.setdefault(head[0] if head else "", []).append(len(self.superseded))
        known = [*self.superseded, gone]
        # What took an older value's place holds no longer either.
        followed = self._places.pop((gone.key, gone.old), [])
        for at in followed:
            known[at] = structs.replace(known[at], new=gone.new, turn=gone.turn)
        self._places.setdefault((gone.key, gone.new), []).extend((*followed, len(known) - 1))
        self.superseded = tuple(known)

    def _nearest(self, keyed: Keyed, fact: Fact, said: str) -> Pin | None:
        """The newest pin of the same kind whose key the correction names, of the same entity before others.

        None without one, and where several other entities have one.
        """
        words = set(terms(said))
        mine = [pair for of in {"", self._entity} for pair in self._near(fact, words, of)]
        if mine:
            return max(mine, key=lambda pair: (pair[0], pair[1].turn))[1]
        others: list[tuple[float, Pin]] = []
        for entity in self._board.entities_of(words):
            near = self._near(fact, words, entity)
            if near and others:
                return None
            others = others or near
        return max(others, key=lambda pair: pair[0], default=(0.0, None))[1]

    def _near(self, fact: Fact, words: set[str], entity: str) -> list[tuple[float, Pin]]:
        return [pair for pair in self._board.near(fact, words, entity) if pair[0] >= _SHARED_KEY]


def _rendered(constraints: list[Pin], said: list[Pin], returned: list[Pin]) -> str:
    parts = []
    if constraints:
        parts.append(
            "\n".join(["The user's constraints, word for word:", *(pin.told for pin in constraints)])
        )
    results: dict[tuple[str, int], list[str]] = {}
    for pin in returned:
        results.setdefault((pin.who, pin.turn), []).append(pin.told)
    if said or results:
        grouped = [f"{who}, turn {turn}: {'; '.join(found)}" for (who, turn), found in results.items()]
        parts.append("\n".join(["Facts:", *(pin.told for pin in said), *grouped]))
    return "\n".join(parts)
