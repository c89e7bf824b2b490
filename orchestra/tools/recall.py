"""`recall`: brings back what left one agent's context. Made for each agent, over its own past alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from orchestra.context.context import Context
from orchestra.errors import ToolArguments
from orchestra.tools.port import Effects, ToolOutput
from orchestra.values.messages import ToolSpec

THREAD_CHARACTERS = 50_000
"""More than this is indexed in a worker thread: 50,000 characters take up to 50 ms."""

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

    __slots__ = ("_context", "_one")
    spec = SPEC
    repeats = True
    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, context: Context) -> None:
        self._context = context
        self._one: anyio.Lock | None = None  # calls of one step would index at once

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        wanted = arguments.get("wanted")
        if not isinstance(wanted, str) or not wanted.strip():
            raise ToolArguments('recall needs "wanted": a reference such as r17, or a few words.')
        recall = partial(self._context.recall, wanted, self._context.policy.result_tokens)
        if self._one is None:
            self._one = anyio.Lock()
        async with self._one:
            if self._context.recollector.backlog > THREAD_CHARACTERS:
                return ToolOutput(text=await anyio.to_thread.run_sync(recall), ephemeral=True)
            return ToolOutput(text=recall(), ephemeral=True)


def recall_tool(context: Context) -> RecallTool:
    return RecallTool(context)
