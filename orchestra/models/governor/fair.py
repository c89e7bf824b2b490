"""A queue that is fair: one call of each session in turn, a session's own calls in their order."""

from __future__ import annotations

from collections import OrderedDict

import anyio

from orchestra.models.governor.permit import Permit


class Waiter:
    """A call that waits. `permit` or `error` is there when `event` is set; `since` in seconds."""

    __slots__ = ("error", "event", "permit", "session", "since", "tokens")

    def __init__(self, session: str, tokens: int, since: float) -> None:
        self.session = session
        self.tokens = tokens
        self.since = since
        self.event = anyio.Event()
        self.permit: Permit | None = None
        self.error: Exception | None = None


class FairQueue:
    """Every method takes the same time for any number of waiters and sessions."""

    __slots__ = ("_ring", "count", "tokens")

    def __init__(self) -> None:
        self._ring: OrderedDict[str, OrderedDict[Waiter, None]] = OrderedDict()
        self.count = 0
        self.tokens = 0

    def add(self, waiter: Waiter) -> None:
        line = self._ring.get(waiter.session)
        if line is None:
            line = self._ring[waiter.session] = OrderedDict()
        line[waiter] = None
        self.count += 1
        self.tokens += waiter.tokens

    @property
    def head(self) -> Waiter | None:
        """Whose turn it is."""
        for line in self._ring.values():
            return next(iter(line))
        return None

    def pop(self) -> Waiter:
        """Take the head; its session goes to the end of the ring. The queue is not empty."""
        session, line = self._ring.popitem(last=False)
        waiter, _ = line.popitem(last=False)
        if line:
            self._ring[session] = line
        self._left(waiter)
        return waiter

    def discard(self, waiter: Waiter) -> None:
        """Take out one that waits no longer; nothing if it was taken out before."""
        line = self._ring.get(waiter.session)
        if line is None or waiter not in line:
            return
        del line[waiter]
        if not line:
            del self._ring[waiter.session]
        self._left(waiter)

    def _left(self, waiter: Waiter) -> None:
        self.count -= 1
        self.tokens -= waiter.tokens
