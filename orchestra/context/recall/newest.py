"""The naive window: the newest blocks that fit and nothing of what came before, for comparison."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.context.blocks import Block
from orchestra.context.tokens import Counter
from orchestra.context.trimming import Unit, cut_unit, units_of


def newest(blocks: Sequence[Block], room: int, counter: Counter) -> tuple[Block, ...]:
    """The instructions, the current input and as many of the newest blocks as `room` tokens hold.

    `blocks` in the order of the prompt. A call and its results stay together, or else no endpoint would take
    them; a newest result that is too long is cut.
    """
    units = units_of(blocks)
    fixed = [unit for unit in units if unit.zone == "fixed"]
    turns = [unit for unit in units if unit.zone != "fixed"]
    asked = next((unit for unit in reversed(turns) if unit.zone == "input"), None)
    room -= sum(unit.tokens for unit in fixed)
    room -= asked.tokens if asked is not None else 0
    kept: list[tuple[Block, ...]] = []
    full = False
    for unit in reversed(turns):
        if unit is asked:
            kept.append(unit.blocks)
        elif not full:
            short, size, full = _fitted(unit, room, counter, newest=not kept)
            room -= size
            kept.append(short)
    shown = [unit.blocks for unit in fixed] + kept[::-1]
    return tuple(block for part in shown for block in part)


def _fitted(unit: Unit, room: int, counter: Counter, *, newest: bool) -> tuple[tuple[Block, ...], int, bool]:
    """What of a unit fits, its tokens, and whether that was the end of the room."""
    if unit.tokens <= room:
        return unit.blocks, unit.tokens, False
    short = cut_unit(unit, room, counter) if newest else None
    return short or (), sum(block.tokens for block in short or ()), True
