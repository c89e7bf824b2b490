"""Those who wait for the writer, each woken when it is its turn and not before."""

from __future__ import annotations

import asyncio
from collections import deque


class Waiting:
    """Who waits until so much is written, and who waits for room. A future each: an event takes a KiB."""

    __slots__ = ("_room", "_until")

    def __init__(self) -> None:
        self._until: list[tuple[int, asyncio.Future[None]]] = []
        self._room: deque[tuple[int, asyncio.Future[None]]] = deque()

    def __bool__(self) -> bool:
        """Whether anybody waits."""
        return bool(self._until or self._room)

    async def until(self, mark: int) -> None:
        """Until `written` comes to the mark, or `all` are woken."""
        future = asyncio.get_running_loop().create_future()
        self._until.append((mark, future))
        await future

    async def room(self, size: int) -> None:
        """Until there may be room for so much, or `all` are woken."""
        future = asyncio.get_running_loop().create_future()
        self._room.append((size, future))
        await future

    def written(self, mark: int) -> None:
        waiting, self._until = self._until, []
        for each in waiting:
            if each[0] <= mark:
                _wake(each[1])
            elif not each[1].done():
                self._until.append(each)

    def room_for(self, items: int, size: int) -> None:
        """As many as fit, in the order in which they came."""
        while self._room and items > 0 and size > 0:
            needed, future = self._room.popleft()
            if not future.done():
                items -= 1
                size -= needed
                _wake(future)

    def all(self) -> None:
        """There is news that each has to see for itself."""
        futures = [future for _, future in (*self._until, *self._room)]
        self._until.clear()
        self._room.clear()
        for future in futures:
            _wake(future)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
