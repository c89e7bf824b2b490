"""Calls that are begun while the reply that asks for them still comes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup
from msgspec import structs

from orchestra.tools.toolbox import ToolResult
from orchestra.values.messages import ToolCall

Run = Callable[[ToolCall], Awaitable[ToolResult]]


class Early:
    """The calls of one reply that were begun before it was recorded; nothing of them is recorded yet.

    `begin` takes each call as it is complete, with what runs it, or None where it has to wait. Once the
    reply is recorded, `taken` hands over the result of the same call at the same place. What is forgotten
    is cancelled and leaves nothing. `waits`: the calls that follow have to wait.
    """

    def __init__(self, group: TaskGroup) -> None:
        self._group = group
        self._begun: list[_Begun | None] = []
        self.waits = False

    def begin(self, call: ToolCall, run: Run | None) -> None:
        """The next call of the reply."""
        begun = _Begun(call) if run is not None else None
        self._begun.append(begun)
        if begun is not None and run is not None:
            self._group.start_soon(begun.work, run)

    def forget(self) -> None:
        """The reply begins anew, or has failed, or its calls are over."""
        for begun in self._begun:
            if begun is not None:
                begun.scope.cancel()
        self._begun.clear()
        self.waits = False

    def settle(self, calls: tuple[ToolCall, ...]) -> None:
        """The reply is recorded with these calls: what is none of them ends now."""
        for place, begun in enumerate(self._begun):
            if begun is not None and not (place < len(calls) and _same(begun.call, calls[place])):
                begun.scope.cancel()
                self._begun[place] = None

    async def taken(self, place: int, call: ToolCall) -> ToolResult | None:
        """The result of the reply's call at this place, when it is there; None: it was not begun."""
        begun = self._begun[place] if place < len(self._begun) else None
        if begun is None:
            return None
        await begun.ended.wait()
        assert begun.result is not None  # a bug in a tool would have cancelled who waits here
        return structs.replace(begun.result, call=call)


class _Begun:
    __slots__ = ("call", "ended", "result", "scope")

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.scope = anyio.CancelScope()
        self.ended = anyio.Event()
        self.result: ToolResult | None = None

    async def work(self, run: Run) -> None:
        with self.scope:
            self.result = await run(self.call)
            self.ended.set()


def _same(begun: ToolCall, call: ToolCall) -> bool:
    return begun.name == call.name and begun.arguments == call.arguments
