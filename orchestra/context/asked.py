"""Making room because a person asks for it, and not because the prompt is nearly full."""

from __future__ import annotations

from msgspec import structs

from orchestra.context.context import Context
from orchestra.context.levels import Compaction, Held, due
from orchestra.context.policy import Levels
from orchestra.values.messages import ToolSpec

# Every occupancy is the medium level's, which makes all the room it can: the last turns stay.
_ALL = Levels(light=0.0, medium=0.0, heavy=2.0, medium_to=0.0)


def asked_for(context: Context, tools: tuple[ToolSpec, ...] = ()) -> Compaction | None:
    """What leaves when a person wants the talk shortened: all but the last turns; None: there is no more."""
    blocks = context.blocks
    tokens = context.occupied(tools)
    budget = structs.replace(context.budget, usable=max(tokens, 1))
    policy = structs.replace(context.policy, levels=_ALL)
    return due(blocks, Held(tokens), budget, policy, context.turn, context.keeping.importance)
