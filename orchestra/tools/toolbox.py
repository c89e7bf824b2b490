"""The toolbox: named tools, narrowed per role, called concurrently."""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterable, Iterator
from typing import Any

import anyio
import msgspec
from msgspec import Struct

from orchestra.errors import ConfigError, ToolArguments, ToolError, ToolTimeout, ToolUnknown, alone
from orchestra.tools.port import Tool, ToolOutput
from orchestra.values.messages import ToolCall, ToolSpec

LATE = "{name} did not answer within {seconds:g} s."
_JOINED = 64  # lists of specs that one toolbox remembers


class ToolResult(Struct, frozen=True, kw_only=True, gc=False):
    """A call and what came of it: `output`, or `error` as a text for the model ("" when it worked).

    `seconds` is the time it took, `at` when it came, in seconds since the epoch (0: not known).
    `timed_out`: it took longer than it may. `unknown`: whether it took effect is not known.
    """

    call: ToolCall
    output: ToolOutput
    error: str = ""
    seconds: float = 0.0
    at: float = 0.0
    timed_out: bool = False
    unknown: bool = False


class Toolbox:
    """Tools by name; immutable and shared. `narrowed` gives a role its own."""

    __slots__ = ("_joined", "_narrowed", "_tools", "specs")

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.spec.name in self._tools:
                raise ConfigError(f"two tools are called {tool.spec.name!r}; rename one", key=tool.spec.name)
            self._tools[tool.spec.name] = tool
        self._narrowed: dict[tuple[str, ...], Toolbox] | None = None
        self._joined: dict[tuple[int, ...], tuple[ToolSpec, ...]] | None = None
        self.specs: tuple[ToolSpec, ...] = tuple([tool.spec for tool in self._tools.values()])

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def get(self, name: str) -> Tool | None:
        """The tool of this name, None if there is none."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def narrowed(self, names: Iterable[str]) -> Toolbox:
        """A toolbox of just these; raises ConfigError for a name that is not here."""
        wanted = tuple(dict.fromkeys(names))
        if self._narrowed is None:
            self._narrowed = {}
        known = self._narrowed.get(wanted)
        if known is not None:
            return known
        missing = [name for name in wanted if name not in self._tools]
        if missing:
            raise ConfigError(
                f"no tool is called {missing[0]!r}; {nearest(missing[0], self._tools)}", key=missing[0]
            )
        made = self._narrowed[wanted] = Toolbox(self._tools[name] for name in wanted)
        return made

    def joined(self, tools: Iterable[Tool]) -> Toolbox:
        """This toolbox and more; with the same specs more, `specs` is the same object each time."""
        more = tuple(tools)
        if not more:
            return self
        key = tuple([id(tool.spec) for tool in more])
        specs = self._joined.get(key) if self._joined is not None else None
        made = Toolbox()
        made._tools = self._tools.copy()
        for tool in more:
            made._tools[tool.spec.name] = tool
        if specs is None:
            if len(made._tools) < len(self._tools) + len(more):
                return Toolbox((*self, *more))  # which says what is there twice
            specs = self._joined_specs(key, more)
        made.specs = specs
        return made

    def _joined_specs(self, key: tuple[int, ...], more: tuple[Tool, ...]) -> tuple[ToolSpec, ...]:
        """The specs with those of `more`, which they hold, so that `key` is nobody else's meanwhile."""
        if self._joined is None or len(self._joined) >= _JOINED:
            self._joined = {}
        specs = self._joined[key] = (*self.specs, *[tool.spec for tool in more])
        return specs

    async def run(self, call: ToolCall) -> ToolResult:
        """One call; what a tool says no to comes back as a text for the model and is never raised."""
        started = time.perf_counter()
        output, error, timed_out = ToolOutput(), "", False
        try:
            output = await self._run(call)
        except ToolError as problem:
            error, timed_out = str(problem), isinstance(problem, ToolTimeout)
        seconds = time.perf_counter() - started
        return ToolResult(call=call, output=output, error=error, seconds=seconds, timed_out=timed_out)

    async def run_all(self, calls: tuple[ToolCall, ...]) -> tuple[ToolResult, ...]:
        """All calls at once; results in the order of the calls."""
        if len(calls) == 1:
            return (await self.run(calls[0]),)
        with alone():
            async with anyio.create_task_group() as group:
                handles = [group.start_soon(self.run, call) for call in calls]
        return tuple([handle.return_value for handle in handles])

    async def _run(self, call: ToolCall) -> ToolOutput:
        tool = self._tools.get(call.name)
        if tool is None:
            raise ToolUnknown(f"No tool is called {call.name!r}; {nearest(call.name, self._tools)}.")
        arguments = decode_arguments(call)
        if tool.seconds is None:
            return await tool.call(arguments)
        with anyio.CancelScope(deadline=anyio.current_time() + tool.seconds):
            return await tool.call(arguments)
        raise ToolTimeout(LATE.format(name=call.name, seconds=tool.seconds))


def decode_arguments(call: ToolCall) -> dict[str, Any]:
    """The call's arguments as an object; raises ToolArguments with a text for the model."""
    try:
        arguments = msgspec.json.decode(call.arguments or "{}")
    except msgspec.DecodeError as error:
        raise ToolArguments(f"The arguments of {call.name} are not JSON: {error}.") from error
    if not isinstance(arguments, dict):
        raise ToolArguments(f"The arguments of {call.name} must be a JSON object.")
    return arguments


def nearest(name: str, known: Iterable[str]) -> str:
    """What to use instead of an unknown name."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return f"nearest: {', '.join(close)}"
    return f"there are: {', '.join(names[:12])}" if names else "there are none"
