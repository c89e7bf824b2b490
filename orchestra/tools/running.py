"""The calls of a session that run, so that somebody can stop them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import anyio
from msgspec import Struct

from orchestra.errors import ToolError, ToolTimeout
from orchestra.tools import effects
from orchestra.tools.port import Tool
from orchestra.tools.results import NOTHING
from orchestra.tools.toolbox import LATE, ToolResult, decode_arguments
from orchestra.tools.within import Timekeeper
from orchestra.values.messages import ToolCall

STOPPED = "{name} was {reason}."


class Running(Struct):
    """A call that runs and can be stopped; `why` it was, "" if it was not."""

    agent: str
    tool: str
    scope: anyio.CancelScope
    why: str = ""


class Calls:
    """The calls of a session that run. `times` ends what takes too long."""

    __slots__ = ("_times", "running")

    def __init__(self, times: Timekeeper) -> None:
        self._times = times
        self.running: list[Running] = []

    def stop(self, tool: str, agent: str, why: str) -> bool:
        """End a tool's calls, of one agent or ("") of all; False where there are none."""
        found = [each for each in self.running if each.tool == tool and agent in ("", each.agent)]
        for each in found:
            each.why = why
            each.scope.cancel()
        return bool(found)

    async def run(
        self, tool: Tool, call: ToolCall, arguments: Mapping[str, Any] | None, agent: str, sentence: str
    ) -> ToolResult:
        """An agent's call in the time that its tool may take, one of those that can be stopped meanwhile.

        What the tool says no to is a text for the model, and so is `sentence` where it was stopped.
        `arguments` None: they are not read yet.
        """
        seconds = tool.seconds
        began = time.perf_counter()
        with self._times.within(seconds) as scope:
            running = Running(agent, call.name, scope)
            self.running.append(running)
            output, error, timed_out = NOTHING, "", False
            try:
                output = await tool.call(decode_arguments(call) if arguments is None else arguments)
            except ToolError as problem:
                error, timed_out = str(problem), isinstance(problem, ToolTimeout)
            finally:
                self.running.remove(running)
            took = time.perf_counter() - began
            return ToolResult(call=call, output=output, error=error, seconds=took, timed_out=timed_out)
        # It was cancelled: somebody stopped it, or it took too long.
        timed_out = seconds is not None and not running.why
        if timed_out:
            error = LATE.format(name=call.name, seconds=seconds)
        else:
            error = sentence.format(name=call.name, reason=running.why)
        return ToolResult(
            call=call,
            output=NOTHING,
            error=error,
            seconds=time.perf_counter() - began,
            timed_out=timed_out,
            unknown=not timed_out and sentence is effects.STOPPED,
        )
