"""The places of a session's agents: so many at work at once, and none taken by who waits for a person."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import anyio

from orchestra.tools.place import Place


class _Wait:
    """An agent that waits: how many of its calls do, since when, and the deadlines that stand still."""

    def __init__(self, scopes: Iterable[anyio.CancelScope | None]) -> None:
        self.calls = 0
        self.began = anyio.current_time()
        self.left = [(scope, scope.deadline) for scope in scopes if scope and scope.deadline != math.inf]
        for scope, _ in self.left:
            scope.deadline = math.inf

    def over(self) -> float:
        """Its deadlines go on; returns the seconds that it took."""
        seconds = anyio.current_time() - self.began
        for scope, deadline in self.left:
            scope.deadline = deadline + seconds
        return seconds


class Places:
    """`count` agents at work at once, let in as they ask.

    `at_work`: those that are let in. `scope`: what the session's own time limit ends, None outside.
    """

    __slots__ = ("_free", "_line", "_waits", "at_work", "scope")

    def __init__(self, count: int) -> None:
        self.at_work: set[Place] = set()
        self.scope: anyio.CancelScope | None = None
        self._free = count
        self._line: deque[anyio.Event] | None = None  # there once somebody had to wait
        self._waits: dict[Place | None, _Wait] = {}

    @asynccontextmanager
    async def taken(self, place: Place) -> AsyncIterator[None]:
        """Waits for a free place and has it until the block ends."""
        if not self.enter_now(place):
            await self.enter(place)
        try:
            yield
        finally:
            self.leave(place)

    def enter_now(self, place: Place) -> bool:
        """Take a place, which `leave` gives back, if one is free; without an await."""
        if not self._free or self._line:
            return False
        self._free -= 1
        self.at_work.add(place)
        return True

    async def enter(self, place: Place) -> None:
        """The same, when there is one."""
        await self._take()
        self.at_work.add(place)

    def leave(self, place: Place) -> None:
        """The agent's work is over."""
        self.at_work.remove(place)
        if self._waits.pop(place, None) is None:  # who is cancelled while it waits has none
            self._give()

    async def _take(self) -> None:
        if self._free and not self._line:
            self._free -= 1
            return
        if self._line is None:
            self._line = deque()
        called = anyio.Event()
        self._line.append(called)
        try:
            await called.wait()
        except BaseException:
            if called.is_set():
                self._give()
            else:
                self._line.remove(called)
            raise

    def _give(self) -> None:
        """Give a place to who waits longest."""
        if self._line:
            self._line.popleft().set()
        else:
            self._free += 1

    @asynccontextmanager
    async def waiting(self, place: Place | None) -> AsyncIterator[None]:
        """The block waits for a person: it holds no place, and no time limit runs. None: a stage waits."""
        wait = self._waits.get(place)
        if wait is None:
            wait = self._waits[place] = _Wait((self.scope, place.scope if place else None))
            if place is not None:
                self._give()
        wait.calls += 1
        yield
        wait.calls -= 1
        if wait.calls:
            return
        if place is not None:
            await self._take()
            place.waited += wait.over()
        else:
            wait.over()
        del self._waits[place]
