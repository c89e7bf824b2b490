"""One timer for all exchanges with a server: each tells when it has waited too long."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection
from typing import Protocol

# So long after it came, the timer may come again, in seconds: many that are due one after the other are
# looked at together.
_AGAIN_SECONDS = 0.01


class Watched(Protocol):
    def look(self, now: float) -> float:
        """End what has waited too long; when it will be due otherwise, infinite for never."""
        ...


class Watch:
    """Looks at all of `live` when the first of them may be due, and not for each of them.

    A reply comes long before its limit, as a rule: who begins an exchange finds the timer set.
    """

    __slots__ = ("_live", "_loop", "_timer", "at")

    def __init__(self, live: Collection[Watched]) -> None:
        self.at = math.inf
        self._live = live
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def by(self, due: float) -> None:
        """Look no later than then."""
        if due < self.at:
            self.stop()
            self.at = due
            self._timer = self._loop.call_at(due, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.at = math.inf

    def _look(self) -> None:
        self._timer, self.at = None, math.inf
        now = self._loop.time()
        due = min((watched.look(now) for watched in list(self._live)), default=math.inf)
        self.by(max(due, now + _AGAIN_SECONDS))
