"""Who may come in: sessions up to a limit, a bounded queue behind it, a clear no for the rest."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import anyio
from msgspec import Struct

from orchestra.errors import Overloaded

# How much the newest session's time counts in what a place is expected to take.
_NEWEST = 0.1
# What is said to wait before any session has ended.
_FIRST_GUESS_SECONDS = 5.0


class GateStatistics(Struct, frozen=True, kw_only=True):
    """Sessions at work and waiting now, and since the start: let in, refused, the most at work at once."""

    active: int
    waiting: int
    admitted: int
    refused: int
    busiest: int


class Gate:
    """Places for sessions, given in the order of asking.

    `limit`: sessions at work at once, `queue`: sessions that may wait; None: no limit. `clock` in seconds.
    `told` is called with the number of sessions at work when it changes.
    """

    def __init__(self, limit: int | None, queue: int | None, clock: Callable[[], float]) -> None:
        self._limit = math.inf if limit is None else limit
        self._queue = math.inf if queue is None else queue
        self._clock = clock
        self._waiting: deque[_Ticket] = deque()
        self._active = 0
        self._admitted = 0
        self._refused = 0
        self._busiest = 0
        self._seconds = 0.0  # what a session takes, smoothed; 0 until one has ended
        self._closed = False
        self._empty = anyio.Event()
        self.told: Callable[[int], None] = _nobody

    @property
    def statistics(self) -> GateStatistics:
        return GateStatistics(
            active=self._active,
            waiting=len(self._waiting),
            admitted=self._admitted,
            refused=self._refused,
            busiest=self._busiest,
        )

    def place(self) -> _Place:
        """A place for one session. Raises Overloaded where the queue is full, or the runtime is closing."""
        return _Place(self)

    def close(self) -> None:
        """Let nobody in any more; who waits is told so."""
        self._closed = True
        while self._waiting:
            self._waiting.popleft().refuse()

    async def emptied(self) -> None:
        """Returns when no session is at work."""
        while self._active:
            self._empty = anyio.Event()
            await self._empty.wait()

    async def _enter(self) -> None:
        if self._closed:
            raise self._closing()
        if self._active < self._limit and not self._waiting:
            self._take()
            return
        if len(self._waiting) >= self._queue:
            self._refused += 1
            seconds = self._wait_seconds()
            raise Overloaded(
                f"{self._active} sessions are at work and {len(self._waiting)} wait, which is all that "
                f"this runtime takes: try again in {seconds:.0f} s, "
                "or raise runtime.sessions or runtime.waiting.",
                retry_after=seconds,
            )
        ticket = _Ticket()
        self._waiting.append(ticket)
        try:
            await ticket.called.wait()
        except BaseException:
            if ticket.has_place:
                self._leave()
            elif ticket in self._waiting:
                self._waiting.remove(ticket)
            raise
        if not ticket.has_place:
            self._refused += 1
            raise self._closing()

    def _take(self) -> None:
        self._active += 1
        self._admitted += 1
        self._busiest = max(self._busiest, self._active)
        self.told(self._active)

    def _left(self, began: float) -> None:
        took = max(self._clock() - began, 0.0)
        self._seconds += (took - self._seconds) * (_NEWEST if self._seconds else 1.0)
        self._leave()

    def _leave(self) -> None:
        self._active -= 1
        self.told(self._active)
        if self._waiting and self._active < self._limit:
            self._take()
            self._waiting.popleft().call()
        if not self._active:
            self._empty.set()

    def _wait_seconds(self) -> float:
        """When one more might find room: the sessions in front of it, at the pace of late."""
        pace = self._seconds or _FIRST_GUESS_SECONDS
        return max(1.0, math.ceil(pace * (len(self._waiting) + 1) / self._limit))

    def _closing(self) -> Overloaded:
        return Overloaded("This runtime is shutting down and takes no more sessions: ask another, or later.")


class _Place:
    """A place that is taken while a block runs."""

    __slots__ = ("_began", "_gate")

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._began = 0.0

    async def __aenter__(self) -> None:
        await self._gate._enter()
        self._began = self._gate._clock()

    async def __aexit__(self, *error: object) -> None:
        self._gate._left(self._began)


class _Ticket:
    """One that waits; `called` when it has a place or will get none."""

    __slots__ = ("called", "has_place")

    def __init__(self) -> None:
        self.called = anyio.Event()
        self.has_place = False

    def call(self) -> None:
        self.has_place = True
        self.called.set()

    def refuse(self) -> None:
        self.called.set()


def _nobody(_sessions: int) -> None:
    """Whom the number of sessions is told where nobody asks."""
