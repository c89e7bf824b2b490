"""The smallest pieces of a context.

Blocks are immutable and belong to one agent's context; what changes is which of them it holds.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, structs

from orchestra.values.messages import Message

Zone = Literal["fixed", "tools", "memory", "knowledge", "history", "state", "input"]
ZONES: tuple[Zone, ...] = ("fixed", "tools", "memory", "knowledge", "history", "state", "input")
"""In the order in which a settled prompt shows them: stable first."""

Exit = Literal["never", "turn", "used", "full"]
"""When a block leaves: never; after one turn; when it is used; when room is needed."""

Fate = Literal["kept", "trimmed", "summarised", "offloaded", "dropped"]

NEVER_CUT: frozenset[Zone] = frozenset(("fixed", "state", "input"))

# Layout: `place` orders the messages. What was there at the last settling stands by zone below LATE, the task
# at the head of the turns; what came later stands behind it in the order of arrival, so that a prompt only
# grows at its end.
_ZONE_STEP = 1 << 40
LATE = len(ZONES) * _ZONE_STEP


class Entry(Struct, frozen=True):
    """What became of one block: `tokens` in the prompt (0: not in it), `whole` before anything was cut."""

    block: str
    zone: Zone
    source: str
    tokens: int
    whole: int
    fate: Fate = "kept"
    why: str = ""
    born: int = 0
    pinned: bool = False
    ref: str = ""


class Block(Struct, frozen=True, kw_only=True):
    """Text, or a part of a call with its result, as one message of the prompt.

    `number`: counted from 1 within its context, in the order of arrival. `tokens`: of the whole message.
    `group`: the same for a call and its results, which stay or leave together; 0 alone.
    `born`: the turn it came in. `at`: seconds since the epoch. `why`: the reason it is here.
    `ref`: where the archive holds its original, "" if nowhere. `whole`: the original's tokens.
    `key`: what makes two blocks the same thing (a call's name and arguments), "" never the same.
    `seen`: whether the model has replied since. `entry`: its line in a manifest that keeps it as it is.
    """

    number: int
    zone: Zone
    source: str
    message: Message
    tokens: int
    place: int
    priority: int = 50
    group: int = 0
    born: int = 1
    at: float = 0.0
    why: str = ""
    leaves: Exit = "full"
    pinned: bool = False
    ref: str = ""
    whole: int = 0
    key: str = ""
    entry: Entry

    @property
    def id(self) -> str:
        return f"b{self.number}"

    @property
    def protected(self) -> bool:
        return self.pinned or self.zone in NEVER_CUT


def block(number: int, zone: Zone, source: str, message: Message, tokens: int, **fields: object) -> Block:
    """A block with its entry and, unless given, its place behind everything that came before."""
    values = {"place": LATE + number, "whole": tokens, **fields}
    made = Block(
        number=number, zone=zone, source=source, message=message, tokens=tokens, entry=_BLANK, **values  # type: ignore[arg-type]  # checked by Block's own fields
    )
    structs.force_setattr(made, "entry", entry_of(made))  # before anyone else has seen it
    return made


def changed(old: Block, **fields: object) -> Block:
    """A copy with other fields and the entry that belongs to them."""
    made = structs.replace(old, **fields)
    structs.force_setattr(made, "entry", entry_of(made))  # before anyone else has seen it
    return made


def entry_of(block: Block) -> Entry:
    whole = block.whole or block.tokens
    fate: Fate = "trimmed" if whole > block.tokens else "kept"
    return Entry(
        block.id, block.zone, block.source, block.tokens, whole, fate, block.why, block.born, block.pinned, block.ref
    )


def gone(block: Block, fate: Fate, why: str) -> Entry:
    """The line of a block that is not in the prompt."""
    return Entry(
        block.id, block.zone, block.source, 0, block.whole or block.tokens, fate, why, block.born, block.pinned, block.ref
    )


def settled_place(zone: Zone, number: int) -> int:
    """The place of a block that is there when the context settles: by zone, then by arrival."""
    return ZONES.index(zone) * _ZONE_STEP + number


_BLANK = Entry("", "fixed", "", 0, 0)
