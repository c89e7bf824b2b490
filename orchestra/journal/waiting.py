"""Those who wait for the writer, each woken when it is its turn and not before."""

from __future__ import annotations

import asyncio
from collections import deque


class Waiting:
    """Who waits until so much is written, and who waits for room. A future each: an event takes a KiB.

    Each waits on its future itself: a coroutine between would be one more to be walked through.
    """

    __slots__ = ("_looks", "_room", "_until")

    def __init__(self) -> None:
        self._until: list[tuple[int, int, asyncio.Future[bool]]] = []  # up to where, since which look
        self._room: deque[tuple[int, asyncio.Future[bool]]] = deque()
        self._looks = 0

    def __bool__(self) -> bool:
        """Whether anybody waits."""
        return bool(self._until or self._room)

    def until(self, mark: int) -> asyncio.Future[bool]:
        """Done when `written` comes to the mark (True), or others are woken (False)."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._until.append((mark, self._looks, future))
        return future

    def room(self, size: int) -> asyncio.Future[bool]:
        """Done when there may be room for so much (True), or `all` are woken (False)."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._room.append((size, future))
        return future

    def written(self, mark: int) -> None:
        waiting, self._until = self._until, []
        for each in waiting:
            future = each[2]
            if future.done():
                continue
            if each[0] <= mark:
                future.set_result(True)
            else:
                self._until.append(each)

    def room_for(self, items: int, size: int) -> None:
        """As many as fit, in the order in which they came."""
        while self._room and items > 0 and size > 0:
            needed, future = self._room.popleft()
            if not future.done():
                items -= 1
                size -= needed
                future.set_result(True)

    def look(self) -> bool:
        """Wakes who waits for a mark since before the last look; whether anybody still does."""
        waiting, self._until = self._until, []
        for each in waiting:
            _, since, future = each
            if since == self._looks:
                self._until.append(each)
            elif not future.done():
                future.set_result(False)
        self._looks += 1
        return bool(self._until)

    def all(self) -> None:
        """There is news that each has to see for itself."""
        futures = [*(each[2] for each in self._until), *(future for _, future in self._room)]
        self._until.clear()
        self._room.clear()
        for future in futures:
            if not future.done():
                future.set_result(False)
