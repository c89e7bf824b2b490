"""The places of a session's agents: so many at work at once, and none taken by who waits for a person."""

from __future__ import annotations

import math
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
    """`count` agents at work at once. `scope`: what the session's own time limit ends, None outside."""

    def __init__(self, count: int) -> None:
        self.scope: anyio.CancelScope | None = None
        self._limiter = anyio.CapacityLimiter(count)
        self._waits: dict[Place | None, _Wait] = {}

    @asynccontextmanager
    async def taken(self, place: Place) -> AsyncIterator[None]:
        """Waits for a free place and has it until the block ends."""
        await self._limiter.acquire_on_behalf_of(place)
        try:
            yield
        finally:
            if self._waits.pop(place, None) is None:  # cancelled while it waited, it has none to give back
                self._limiter.release_on_behalf_of(place)

    @asynccontextmanager
    async def waiting(self, place: Place | None) -> AsyncIterator[None]:
        """The block waits for a person: it holds no place, and no time limit runs. None: a stage waits."""
        wait = self._waits.get(place)
        if wait is None:
            wait = self._waits[place] = _Wait((self.scope, place.scope if place else None))
            if place is not None:
                self._limiter.release_on_behalf_of(place)
        wait.calls += 1
        yield
        wait.calls -= 1
        if wait.calls:
            return
        if place is not None:
            await self._limiter.acquire_on_behalf_of(place)
            place.waited += wait.over()
        else:
            wait.over()
        del self._waits[place]
