"""When what is committed is brought to its place in SQLite's file: beside the next commits."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from orchestra.errors import StoreError
from orchestra.log import get_logger

log = get_logger()

_NEVER = 1 << 62


class Checkpoints:
    """`make` takes a while, in which it waits for the disk; it is due after each `every` bytes."""

    __slots__ = ("_every", "_limiter", "_make", "_nearly", "_since")

    def __init__(self, make: Callable[[], object], every: int) -> None:
        self._make = make
        self._every = every
        self._since = 0  # bytes since the last one; far below 0 while one is made
        self._nearly = False  # all but what came meanwhile is at its place
        self._limiter = anyio.CapacityLimiter(1)

    async def after(self, size: int, beside: TaskGroup) -> None:
        """So much was committed."""
        self._since += size
        if self._nearly:
            self._nearly = False
            await self._made()  # the rest, a ms or two; then SQLite begins its log anew
        elif self._since >= self._every:
            self._since = -_NEVER
            beside.start_soon(self._made_beside)

    async def _made_beside(self) -> None:
        await self._made()
        self._since, self._nearly = 0, True

    async def _made(self) -> None:
        try:
            await anyio.to_thread.run_sync(self._make, limiter=self._limiter)
        except StoreError as error:
            log.warning("journal.not_checkpointed", reason=str(error))  # the next time, or at the end
