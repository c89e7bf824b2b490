"""`ask_larger_model`: an agent's own word that the next step needs the large tier. Made for each agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orchestra.errors import ToolFailed
from orchestra.tools.port import Effects, ToolOutput
from orchestra.values.messages import ToolSpec

SPEC = ToolSpec(
    name="ask_larger_model",
    description="Hand the next step to a larger model. Only when you cannot do it yourself.",
    parameters={
        "type": "object",
        "properties": {"reason": {"type": "string", "description": "Why, in one sentence."}},
        "required": ["reason"],
        "additionalProperties": False,
    },
)


class EscalateTool:
    """The tool of one agent; `times`: how often it may be used. `lift` is told of each use."""

    __slots__ = ("_left", "_lift")
    spec = SPEC
    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, lift: Callable[[], None], times: int) -> None:
        self._lift = lift
        self._left = times

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        if self._left <= 0:
            raise ToolFailed("The larger model has helped as often as it may; go on with what you have.")
        self._left -= 1
        self._lift()
        return ToolOutput(text="The larger model takes the next step.", ephemeral=True)
