"""A toolbox whose results are recorded, and come back from the record where there is one.

Around each call, from the outside in: the record, a person's approval, what is intended, the tool's own
run (which somebody may stop). What comes back is what is recorded: without secrets.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import anyio
from msgspec import Struct, structs

from orchestra.errors import ToolArguments, ToolError, alone
from orchestra.journal.track import Track
from orchestra.tools import effects
from orchestra.tools.approval import Ask, Asked, asks, refusal
from orchestra.tools.early import Early
from orchestra.tools.outputs import Cleaner, output_of, output_texts
from orchestra.tools.port import Tool, ToolOutput
from orchestra.tools.subset import chosen_for
from orchestra.tools.toolbox import Toolbox, ToolResult, decode_arguments
from orchestra.values.messages import ToolCall, ToolSpec

NOTHING = ToolOutput()
STOPPED = "{name} was {reason}."


class Running(Struct):
    """A call that runs and can be stopped; `why` it was, "" if it was not."""

    agent: str
    tool: str
    scope: anyio.CancelScope
    why: str = ""


class Calls:
    """The calls of a session that run."""

    def __init__(self) -> None:
        self.running: list[Running] = []

    def stop(self, tool: str, agent: str, why: str) -> bool:
        """End a tool's calls, of one agent or ("") of all; False where there are none."""
        found = [each for each in self.running if each.tool == tool and agent in ("", each.agent)]
        for each in found:
            each.why = why
            each.scope.cancel()
        return bool(found)


class Guard(Struct, frozen=True, kw_only=True):
    """What a toolbox is handed for one agent.

    `ask` waits for a person; `rules` are the role's, by tool. `durable` returns when what was recorded is
    safe. `calls` knows what runs.
    """

    ask: Ask
    durable: Callable[[], Awaitable[None]]
    calls: Calls
    clean: Cleaner
    rules: Mapping[str, str] = {}


class RecordedToolbox:
    """One agent's view of its tools. `own`: the names of those over its own context."""

    def __init__(
        self, toolbox: Toolbox, track: Track, guard: Guard, own: frozenset[str] = frozenset()
    ) -> None:
        self._toolbox = toolbox
        self._track = track
        self._guard = guard
        self._own = own

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._toolbox.specs

    def __len__(self) -> int:
        return len(self._toolbox)

    def joined(self, tools: Iterable[Tool]) -> RecordedToolbox:
        """This toolbox and the agent's own tools."""
        tools = list(tools)
        own = self._own | {tool.spec.name for tool in tools}
        return RecordedToolbox(self._toolbox.joined(tools), self._track, self._guard, own)

    def chosen(self, task: str) -> RecordedToolbox:
        """The tools that a task gets (see `subset`)."""
        return RecordedToolbox(chosen_for(task, self._toolbox), self._track, self._guard, self._own)

    def begin(self, early: Early, call: ToolCall) -> None:
        """The next call of a reply that is not recorded yet: begun if it may be.

        It may where it reads only, needs nobody's word and leaves the agent's context alone; and where no
        writing call stands before it, which it might be meant to see the effect of.
        """
        tool = self._toolbox.get(call.name)
        early.waits = early.waits or (tool is not None and tool.effects == "write")
        early.begin(call, None if early.waits or not self._may_begin(call, tool) else self._begun)

    def _may_begin(self, call: ToolCall, tool: Tool | None) -> bool:
        if tool is None or call.name in self._own:
            return False
        try:
            return not asks(tool, decode_arguments(call), self._guard.rules)
        except ToolArguments:
            return False

    async def _begun(self, call: ToolCall) -> ToolResult:
        return await self._stoppable(call, STOPPED)

    async def run_all(
        self, calls: tuple[ToolCall, ...], early: Early | None = None
    ) -> tuple[ToolResult, ...]:
        """All calls at once; results in the order of the calls, recorded as they come.

        `early`: what was begun of them while the reply came.
        """
        if early is None:
            return await self._run_all(calls, None)
        with early.settled(calls):
            return await self._run_all(calls, early)

    async def _run_all(self, calls: tuple[ToolCall, ...], early: Early | None) -> tuple[ToolResult, ...]:
        track = self._track
        for place, call in enumerate(calls):
            data = {"tool": call.name, "id": call.id, "n": place}
            await track.put("tool_called", data, {"arguments": call.arguments})
        results: dict[int, ToolResult] = {}
        for place, call in enumerate(calls):
            recorded = track.past.results.get((track.turn, place))
            if recorded is not None and not self._again(call):
                texts = {name: track.texts[where] for name, where in recorded.texts.items()}
                track.pass_over(place)
                results[place] = _result(call, recorded.data, texts, recorded.at)
                await track.put("tool_returned", recorded.data)
        missing = [place for place in range(len(calls)) if place not in results]
        if any(not self._again(calls[place]) for place in missing):
            await track.missing()
        if len(missing) == 1:  # the usual case needs no tasks
            results[missing[0]] = await self._recorded(missing[0], calls[missing[0]], early)
        elif missing:
            with alone():
                async with anyio.create_task_group() as group:
                    start = group.start_soon
                    handles = {place: start(self._recorded, place, calls[place], early) for place in missing}
            results |= {place: handle.return_value for place, handle in handles.items()}
        return tuple(results[place] for place in range(len(calls)))

    def _again(self, call: ToolCall) -> bool:
        """Whether the tool gives the same again from the agent's context alone, and needs no record."""
        return bool(getattr(self._toolbox.get(call.name), "repeats", False))

    async def _recorded(self, place: int, call: ToolCall, early: Early | None) -> ToolResult:
        result = await early.taken(place, call) if early is not None else None
        result = result or await self._run(place, call)
        at = self._track.clock()
        output = self._guard.clean(result.output)
        error = self._track.recording.clean(result.error)
        result = structs.replace(result, output=output, error=error, at=at)
        texts = {} if self._again(call) else output_texts(output)
        await self._track.put("tool_returned", _data(place, result), texts, at=at)
        return result

    async def _run(self, place: int, call: ToolCall) -> ToolResult:
        """Ask a person where that is due, say what is intended, run; a no is a text for the model."""
        tool = self._toolbox.get(call.name)
        try:
            arguments = decode_arguments(call) if tool is not None else {}
        except ToolArguments:
            return await self._toolbox.run(call)  # which says what is wrong with them
        if tool is None:
            return await self._toolbox.run(call)
        track = self._track
        if asks(tool, arguments, self._guard.rules):
            key = f"{track.path}/{track.turn}/{place}"
            what = f"{track.path} wants to call {call.name}"
            detail = track.recording.clean(call.arguments)
            answer = await self._guard.ask(
                Asked(key=key, what=what, agent=track.path, tool=call.name, detail=detail)
            )
            if not answer.approved:
                return ToolResult(call=call, output=NOTHING, error=refusal(answer))
        if tool.effects == "write":
            return await self._write(place, call, tool)
        return await self._stoppable(call, STOPPED)

    async def _write(self, place: int, call: ToolCall, tool: Tool) -> ToolResult:
        """A call that changes something: intended durably before it runs, and not run twice."""
        track = self._track
        intended = track.past.intents.get((track.turn, place))
        key = intended or effects.key_for(track.recording.session, track.path, track.turn, place)
        await track.put("intended", {"tool": call.name, "id": call.id, "n": place, "key": key})
        await self._guard.durable()
        if intended is not None:
            known = await self._checked(call, tool, key)
            if known is not None:
                return known
        with effects.keyed(key):
            result = await self._stoppable(call, effects.STOPPED)
        if result.unknown:
            return result
        if result.timed_out and tool.seconds is not None:
            error = effects.UNANSWERED.format(name=call.name, seconds=tool.seconds)
            return structs.replace(result, error=error, unknown=True)
        return result

    async def _checked(self, call: ToolCall, tool: Tool, key: str) -> ToolResult | None:
        """What came of a call that was cut off; None where it is known that it had no effect."""
        check = effects.check_of(tool)
        if check is None:
            return _unknown(call, effects.UNKNOWN.format(name=call.name))
        try:
            output = await check(key)
        except ToolError as error:
            return _unknown(call, f"{effects.UNKNOWN.format(name=call.name)} Its check said: {error}")
        return None if output is None else ToolResult(call=call, output=output)

    async def _stoppable(self, call: ToolCall, sentence: str) -> ToolResult:
        """The tool's own run, which somebody may stop while the agent goes on."""
        began = time.perf_counter()
        with anyio.CancelScope() as scope:
            running = Running(self._track.path, call.name, scope)
            self._guard.calls.running.append(running)
            try:
                return await self._toolbox.run(call)
            finally:
                self._guard.calls.running.remove(running)
        error = sentence.format(name=call.name, reason=running.why)
        seconds = time.perf_counter() - began
        unknown = sentence is effects.STOPPED
        return ToolResult(call=call, output=NOTHING, error=error, seconds=seconds, unknown=unknown)


def _unknown(call: ToolCall, error: str) -> ToolResult:
    return ToolResult(call=call, output=NOTHING, error=error, unknown=True)


def _data(place: int, result: ToolResult) -> dict[str, Any]:
    data: dict[str, Any] = {
        "tool": result.call.name,
        "id": result.call.id,
        "n": place,
        "seconds": round(result.seconds, 4),
        "passages": len(result.output.passages),
        "error": result.error,
    }
    return {**data, "unknown": True} if result.unknown else data


def _result(call: ToolCall, data: Mapping[str, Any], texts: Mapping[str, str], at: float) -> ToolResult:
    return ToolResult(
        call=call,
        output=output_of(texts),
        error=data["error"],
        seconds=data["seconds"],
        at=at,
        unknown=data.get("unknown", False),
    )
