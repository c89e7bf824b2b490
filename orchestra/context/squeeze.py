"""Making room for a prompt that would not fit, once and for several turns.

Left to itself, assembly would cut something else for each prompt, and no provider's cache of it would hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from orchestra.context.archive import Archive
from orchestra.context.assembly import Frame, assemble
from orchestra.context.blocks import Block
from orchestra.context.budget import Budget
from orchestra.context.levels import Compaction, Leaving
from orchestra.context.tokens import Counter
from orchestra.context.trimming import NO_ROOM
from orchestra.errors import ContextOverflow


def squeeze(
    blocks: Sequence[Block], budget: Budget, counter: Counter, frame: Frame, low: float
) -> Compaction:
    """What leaves and what is cut for the prompt to have at most `low` of its budget, or else what it may.

    Raises ContextOverflow when what may never be cut does not fit.
    """
    target = int(budget.usable * low)
    try:
        made = assemble(blocks, structs.replace(budget, usable=target), counter, frame)
    except ContextOverflow:
        target = budget.usable
        made = assemble(blocks, budget, counter, frame)
    before = {block.number: block for block in blocks}
    shown = {block.number for block in made.blocks}
    return Compaction(
        "full",
        sum(block.tokens for block in blocks) + made.manifest.overhead,
        target,
        tuple(Leaving((block,), NO_ROOM) for block in blocks if block.number not in shown),
        tuple(block for block in made.blocks if block is not before[block.number]),
    )


def kept_findable(blocks: Sequence[Block], archive: Archive) -> list[Block]:
    """The blocks, with references for the data that may be cut, so that the rest of it can be recalled."""
    return [
        structs.replace(
            block, ref=archive.put(block.source, block.message.text, turn=block.born, at=block.at)
        )
        if block.zone in ("memory", "knowledge") and not block.ref and not block.protected
        else block
        for block in blocks
    ]
