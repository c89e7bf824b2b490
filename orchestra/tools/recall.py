"""`recall`: brings back what left one agent's context. Made for each agent, over its own past alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestra.context.context import Context
from orchestra.errors import ToolArguments
from orchestra.tools.port import Effects, ToolOutput
from orchestra.values.messages import ToolSpec

SPEC = ToolSpec(
    name="recall",
    description="Bring back what left the context: by a reference such as r17, or by a few words.",
    parameters={
        "type": "object",
        "properties": {"wanted": {"type": "string", "description": "A reference, or words to search for."}},
        "required": ["wanted"],
        "additionalProperties": False,
    },
)


class RecallTool:
    """The tool over one context's past; `repeats`: what it says follows from the context alone."""

    __slots__ = ("_context",)
    spec = SPEC
    repeats = True
    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, context: Context) -> None:
        self._context = context

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        wanted = arguments.get("wanted")
        if not isinstance(wanted, str) or not wanted.strip():
            raise ToolArguments('recall needs "wanted": a reference such as r17, or a few words.')
        tokens = self._context.policy.result_tokens
        return ToolOutput(text=self._context.recall(wanted, tokens), ephemeral=True)


def recall_tool(context: Context) -> RecallTool:
    return RecallTool(context)
