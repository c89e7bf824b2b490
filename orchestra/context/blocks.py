"""The smallest pieces of a context.

Blocks are immutable and belong to one agent's context; what changes is which of them it holds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct, structs
from msgspec.structs import force_setattr

from orchestra.context.tokens import Counter
from orchestra.values.messages import Message

Zone = Literal["fixed", "tools", "memory", "knowledge", "history", "state", "input"]
ZONES: tuple[Zone, ...] = ("fixed", "tools", "memory", "knowledge", "history", "state", "input")
"""In the order in which a prompt shows them: stable first."""

Exit = Literal["never", "turn", "used", "full"]
"""When a block leaves: never; after one turn; when it is used; when room is needed."""

Fate = Literal["kept", "trimmed", "summarised", "offloaded", "dropped"]

NEVER_CUT: frozenset[Zone] = frozenset(("fixed", "state", "input"))

_ZONE_STEP = 1 << 40
LATE = len(ZONES) * _ZONE_STEP
"""Places from here on are taken in the order of arrival, see `Block.place`."""


class Entry(Struct, frozen=True, omit_defaults=True, gc=False):
    """What became of one block: `tokens` in the prompt (0: not in it), `whole` before anything was cut.

    In JSON, what is as it usually is is left out.
    """

    block: str
    zone: Zone
    source: str
    tokens: int
    whole: int = 0
    fate: Fate = "kept"
    why: str = ""
    born: int = 0
    pinned: bool = False
    ref: str = ""


BLANK = Entry("", "fixed", "", 0)


class _Ids(dict[int, str]):
    """Ids of blocks by their numbers, the usual ones each once, whoever's block it is."""

    def __missing__(self, number: int) -> str:
        return f"b{number}"


_IDS = _Ids({number: f"b{number}" for number in range(256)})


def id_of(number: int) -> str:
    """The id of the block with this number."""
    return _IDS[number]


class Block(Struct, frozen=True, kw_only=True, gc=False):
    """Text, or a part of a call with its result, as one message of the prompt.

    `number`: counted from 1 within its context, in the order of arrival. `tokens`: of the whole message.
    `place`: blocks are shown by rising place; what was there when the context last settled stands by zone,
    what came later behind it in the order of arrival, so that a prompt only grows at its end.
    A call and its results share a place; they stay or leave together.
    `priority`: higher stays longer. `born`: the turn it came in. `at`: seconds since the epoch.
    `why`: the reason it is here. `ref`: where the archive holds its original, "" nowhere.
    `whole`: the original's tokens, 0 when it is shown whole.
    `key`: what makes two blocks the same thing (a call's name and arguments); "" never the same.
    `used`: nothing in it is needed any more (empty, failed, or its facts are in the state).
    `entry`: its line in a manifest that keeps it as it is.
    """

    number: int
    zone: Zone
    source: str
    message: Message
    tokens: int
    place: int = LATE
    priority: int = 50
    born: int = 1
    at: float = 0.0
    why: str = ""
    leaves: Exit = "full"
    pinned: bool = False
    ref: str = ""
    whole: int = 0
    key: str = ""
    used: bool = False
    entry: Entry = BLANK

    def __post_init__(self) -> None:
        tokens, whole = self.tokens, self.whole
        entry = Entry(
            _IDS[self.number],
            self.zone,
            self.source,
            tokens,
            whole or tokens,
            "trimmed" if whole > tokens else "kept",
            self.why,
            self.born,
            self.pinned,
            self.ref,
        )
        force_setattr(self, "entry", entry)  # nobody else has seen it yet

    @property
    def id(self) -> str:
        return id_of(self.number)

    @property
    def protected(self) -> bool:
        return self.pinned or self.zone in NEVER_CUT


def entry_of(block: Block, fate: Fate = "kept", why: str = "") -> Entry:
    """A block's line in a manifest; a block that is not kept has no tokens in the prompt."""
    whole = block.whole or block.tokens
    here = fate in ("kept", "trimmed")
    if fate == "kept" and whole > block.tokens:
        fate = "trimmed"
    return Entry(
        id_of(block.number),
        block.zone,
        block.source,
        block.tokens if here else 0,
        whole,
        fate,
        why or block.why,
        block.born,
        block.pinned,
        block.ref,
    )


@lru_cache(maxsize=256)  # of the roles that are at work
def first_block(instructions: str, counter: Counter) -> Block:
    """The role's instructions, number 1 of every context: one block for all its agents."""
    message = Message("system", instructions)
    return Block(
        number=1,
        zone="fixed",
        source="instructions",
        message=message,
        tokens=counter.message(message),
        place=settled_place("fixed", 1),
        leaves="never",
        why="the role's instructions",
    )


def resettled(block: Block) -> Block:
    """The block in the place it has when its context settles; what shares a place goes on sharing it."""
    place = settled_place(block.zone, block.place % _ZONE_STEP)
    return block if place == block.place else structs.replace(block, place=place)


def settled_place(zone: Zone, number: int) -> int:
    """The place of a block that is there when its context settles: by zone, turns by arrival."""
    shown_as: Zone = "history" if zone == "input" else zone
    return ZONES.index(shown_as) * _ZONE_STEP + number
