"""Which of the turns a recalled view shows as they are."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.context.blocks import Block
from orchestra.context.policy import Policy
from orchestra.context.tokens import Counter
from orchestra.context.trimming import Unit, cut_block, cut_unit

STANDING_IN = ("summary", "archive")
"""Blocks that stand for what left; where the values themselves are listed there is no room for them."""
CLIPPED = 0.16
"""Of the room, what one result in a small window is clipped to, but at least LEAST tokens."""
LEAST = 60
"""Tokens below which recall is not tried: a heading and a line would not fit."""


def asking(blocks: Sequence[Block], question: Block) -> str:
    """What to look for: the current input, and what the agent itself said since."""
    since = [
        block.message.text for block in blocks if block.number > question.number and block.source == "reply"
    ]
    return "\n".join((question.message.text, *since[-1:]))


def window(
    units: Sequence[Unit], policy: Policy, room: int, counter: Counter
) -> tuple[dict[int, Block], int]:
    """The blocks that stay, by number: what may not be cut and the newest turns, long results clipped.

    With them the room that is left. A call and its results stay together. What the agent has just asked for
    stays, cut to the room there is: it would ask again.
    """
    said: list[Unit] = []
    kept: dict[int, Block] = {}
    asked = 0
    for unit in units:
        first = unit.blocks[0]
        if first.zone == "history" and not unit.protected:
            said.append(unit)
            continue
        if first.zone == "input" and first.number > asked:
            asked = first.number
        if policy.values_share and first.source in STANDING_IN:
            continue
        room -= unit.tokens
        for block in unit.blocks:
            kept[block.number] = block
    room = max(room, 0)
    newest = max(
        int(room * (1 - policy.recall_share)), room - policy.recall_tokens if not policy.values_share else 0
    )
    clipped = max(int(room * CLIPPED), LEAST)
    for unit in reversed(said):
        short, size = unit.blocks, unit.tokens
        if unit is said[-1] and len(short) > 1 and short[0].number > asked:
            newest = max(newest, min(size, room))
            short = short if size <= room else cut_unit(unit, room, counter) or short
        if policy.values_share:  # the values of what is cut are shown anyway
            short = tuple(
                cut_block(b, clipped, counter) if b.message.role == "tool" else b for b in unit.blocks
            )
        if short is not unit.blocks:
            size = sum(block.tokens for block in short)
        if size > newest:
            break
        newest -= size
        room -= size
        for old, new in zip(unit.blocks, short, strict=True):
            kept[old.number] = new
    return kept, room
