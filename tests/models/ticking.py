"""A clock that goes when a test says so."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count


class Ticket:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class Ticking:
    """Seconds from 0; `advance` runs what falls due on the way, in order."""

    def __init__(self) -> None:
        self.time = 0.0
        self._due: list[tuple[float, int, Ticket]] = []
        self._number = count()

    def now(self) -> float:
        return self.time

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Ticket:
        ticket = Ticket(callback)
        heapq.heappush(self._due, (self.time + seconds, next(self._number), ticket))
        return ticket

    @property
    def timers(self) -> int:
        return sum(ticket.callback is not None for _, _, ticket in self._due)

    def advance(self, seconds: float) -> None:
        until = self.time + seconds
        while self._due and self._due[0][0] <= until:
            self.time, _, ticket = heapq.heappop(self._due)
            if ticket.callback is not None:
                ticket.callback()
        self.time = until
