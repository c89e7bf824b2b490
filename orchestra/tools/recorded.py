"""A toolbox whose results are recorded, and come back from the record where there is one.

Around each call, from the outside in: the record, a person's approval, what is intended, the tool's own
run (which somebody may stop). What comes back is what is recorded: without secrets.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

import anyio
import msgspec
from msgspec import Struct, structs

from orchestra.errors import ToolArguments, ToolError, alone
from orchestra.journal.track import Track
from orchestra.tools import effects
from orchestra.tools.approval import Answer, Asked, asks, may_ask, refusal
from orchestra.tools.early import Early
from orchestra.tools.finding import NAME as FIND_TOOLS
from orchestra.tools.finding import Choice, FindTools, TaskTools
from orchestra.tools.outputs import Cleaner
from orchestra.tools.place import Place
from orchestra.tools.port import Tool
from orchestra.tools.results import NOTHING, result_data, result_of, unknown_result
from orchestra.tools.running import STOPPED, Calls
from orchestra.tools.toolbox import Toolbox, ToolResult, decode_arguments
from orchestra.values.messages import ToolCall, ToolSpec


class Guard(Struct, frozen=True, kw_only=True):
    """What a toolbox is handed for one agent.

    `ask` waits for a person; `rules` are the role's, by tool. `durable` returns when what was recorded is
    safe. `calls` knows what runs. `choice`: how its tools are chosen; None: it has all. `place`: the agent's.
    """

    ask: Callable[[Asked, Track, Place], Awaitable[Answer]]
    durable: Callable[[], Awaitable[None]]
    calls: Calls
    clean: Cleaner
    rules: Mapping[str, str] = {}
    choice: Choice | None = None
    place: Place = msgspec.field(default_factory=Place)


class RecordedToolbox:
    """One agent's view of its tools. `own`: those over its own context."""

    __slots__ = ("_guard", "_own", "_subset", "_toolbox", "_track")

    def __init__(
        self,
        toolbox: Toolbox,
        track: Track,
        guard: Guard,
        subset: TaskTools | None = None,
        own: tuple[Tool, ...] = (),
    ) -> None:
        self._toolbox = toolbox
        self._track = track
        self._guard = guard
        self._subset = subset
        self._own = own

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._toolbox.specs

    def __len__(self) -> int:
        return len(self._toolbox)

    @property
    def grows(self) -> bool:
        """Whether it is chosen of more tools, to which each later task may add."""
        return self._subset is not None

    def joined(self, tools: Iterable[Tool]) -> RecordedToolbox:
        """This toolbox and the agent's own tools."""
        own = (*self._own, *tools)
        toolbox = self._toolbox.joined(own[len(self._own) :])
        return RecordedToolbox(toolbox, self._track, self._guard, self._subset, own)

    async def chosen(self, task: str, *, at: float | None = None) -> RecordedToolbox:
        """The tools that a task gets (see `finding`): what was chosen is recorded, and comes from the record.

        Of a toolbox that was chosen for an earlier task, itself, with what this one needs beside it.
        """
        choice, subset = self._guard.choice, self._subset
        if subset is None:
            if choice is None or len(self._toolbox) <= choice.chooser.choosing.most:
                return self
            subset = TaskTools(self._toolbox, choice)
        new = await subset.chosen(task, self._track, at)
        if len(new) == len(subset.pool):
            return self
        if self._subset is not None:
            self._add(new)
            return self
        own = () if FIND_TOOLS in subset.pool else (FindTools(subset),)
        toolbox = subset.pool.narrowed(new).joined(own)
        return RecordedToolbox(toolbox, self._track, self._guard, subset, (*self._own, *own))

    def _add(self, names: Iterable[str]) -> None:
        """Behind what is there, so that the list before them stays as it is."""
        if self._subset is not None:
            found = (self._subset.pool.get(name) for name in names if name not in self._toolbox)
            self._toolbox = self._toolbox.joined(tool for tool in found if tool is not None)

    def _tool(self, name: str) -> Tool | None:
        """A tool: a call of one that the agent may use and was not shown is as good as any."""
        tool = self._toolbox.get(name)
        return self._subset.pool.get(name) if tool is None and self._subset is not None else tool

    def begin(self, early: Early, call: ToolCall) -> None:
        """The next call of a reply that is not recorded yet: begun if it may be.

        It may where it reads only, needs nobody's word and leaves the agent's context alone; and where no
        writing call stands before it, which it might be meant to see the effect of.
        """
        tool = self._tool(call.name)
        early.waits = early.waits or (tool is not None and tool.effects == "write")
        if tool is None or early.waits or tool in self._own or may_ask(tool, call, self._guard.rules):
            early.begin(call, None)
        else:
            early.begin(call, partial(self._stoppable, tool))

    async def run_all(
        self,
        calls: tuple[ToolCall, ...],
        results: dict[int, ToolResult] | None = None,
        early: Early | None = None,
    ) -> tuple[ToolResult, ...]:
        """All calls at once; results in the order of the calls, recorded as they come.

        `results`: filled by the place of the call; where this ends early, with those that are recorded.
        `early`: what was begun of them while the reply came.
        """
        track = self._track
        for place, call in enumerate(calls):
            data = {"tool": call.name, "id": call.id, "n": place}
            await track.put("tool_called", data, {"arguments": call.arguments})
        results = {} if results is None else results
        if early is not None:
            early.settle(calls)
        try:
            if track.past.results:
                await self._replayed(calls, results)
            if len(calls) == 1 and track.fresh:  # the usual case
                await self._guard.place.outside(self._recorded(0, calls[0], results, early=early))
            elif missing := [each for each in enumerate(calls) if each[0] not in results]:
                await self._guard.place.outside(self._made(missing, results, early))
        finally:
            if early is not None:
                early.forget()
            if self._subset is not None:
                for place in sorted(results):
                    self._add(self._subset.take(results[place].output.added))
        return tuple(map(results.__getitem__, range(len(calls))))

    async def _made(
        self, missing: list[tuple[int, ToolCall]], results: dict[int, ToolResult], early: Early | None
    ) -> None:
        """What the record does not have."""
        track = self._track
        if not track.fresh and (track.saying or not all(self._again(call) for _, call in missing)):
            await track.missing()
        if len(missing) == 1:  # it needs no task
            await self._recorded(*missing[0], results, early=early)
            return
        with alone():
            async with anyio.create_task_group() as group:
                for place, call in missing:
                    group.start_soon(self._recorded, place, call, results, None, early)

    async def _replayed(self, calls: tuple[ToolCall, ...], results: dict[int, ToolResult]) -> None:
        """What comes back from the record."""
        track = self._track
        for place, call in enumerate(calls):
            recorded = track.past.results.get((track.turn, place))
            if recorded is None:
                continue
            if self._again(call):
                await self._recorded(place, call, results, recorded.at)
                continue
            texts = {name: track.texts[where] for name, where in recorded.texts.items()}
            track.pass_over(place)
            await track.put("tool_returned", recorded.data)
            results[place] = result_of(call, recorded.data, texts, recorded.at)

    def _again(self, call: ToolCall) -> bool:
        """Whether the tool gives the same again from the agent's context alone, and needs no record."""
        return bool(getattr(self._tool(call.name), "repeats", False))

    async def _recorded(
        self,
        place: int,
        call: ToolCall,
        results: dict[int, ToolResult],
        at: float | None = None,
        early: Early | None = None,
    ) -> None:
        track, tool = self._track, self._tool(call.name)
        begun = await early.taken(place, call) if early is not None else None
        result = begun or await self._run(place, call, tool)
        if at is None:
            at = track.clock()
        output, texts = self._guard.clean(result.output)
        error = result.error
        if self._subset is not None:
            if not error:
                self._subset.used(call.name)
            if tool is not None and call.name not in self._toolbox:
                output = structs.replace(output, added=(call.name,))
        if error:
            error = track.recording.clean(error)
        if output is not result.output or error is not result.error:
            result = structs.replace(result, output=output, error=error)
        structs.force_setattr(result, "at", at)  # nobody else has seen it yet
        if getattr(tool, "repeats", False):
            texts = {}
        await track.put("tool_returned", result_data(place, result), texts, at=at)
        results[place] = result

    async def _run(self, place: int, call: ToolCall, tool: Tool | None) -> ToolResult:
        """Ask a person where that is due, say what is intended, run; a no is a text for the model."""
        if tool is None:
            return await self._toolbox.run(call)  # which says so
        try:
            arguments = decode_arguments(call)
        except ToolArguments as problem:
            return ToolResult(call=call, output=NOTHING, error=str(problem))
        track = self._track
        if asks(tool, arguments, self._guard.rules):
            key = f"{track.path}/{track.turn}/{place}"
            what = f"{track.path} wants to call {call.name}"
            detail = track.recording.clean(call.arguments)
            asked = Asked(key=key, what=what, agent=track.path, tool=call.name, detail=detail)
            answer = await self._guard.ask(asked, track, self._guard.place)
            if not answer.approved:
                return ToolResult(call=call, output=NOTHING, error=refusal(answer))
        if tool.effects == "write":
            return await self._write(place, call, tool)
        return await self._guard.calls.run(tool, call, arguments, track.path, STOPPED)

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
            result = await self._guard.calls.run(tool, call, None, track.path, effects.STOPPED)
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
            return unknown_result(call, effects.UNKNOWN.format(name=call.name))
        try:
            output = await check(key)
        except ToolError as error:
            return unknown_result(call, f"{effects.UNKNOWN.format(name=call.name)} Its check said: {error}")
        return None if output is None else ToolResult(call=call, output=output)

    def _stoppable(self, tool: Tool, call: ToolCall) -> Awaitable[ToolResult]:
        """The tool's own run, which somebody may stop while the agent goes on."""
        return self._guard.calls.run(tool, call, None, self._track.path, STOPPED)
