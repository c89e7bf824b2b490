"""Scopes that end by themselves, or when somebody ends them."""

from __future__ import annotations

import asyncio
import math
import time
from functools import cache
from types import TracebackType

import anyio

_SLACK_SECONDS = 0.001  # a loop's timers are this exact
_APART_SECONDS = 0.01  # what is due one after another is looked at together


def stoppable() -> anyio.CancelScope:
    """A scope that is cancelled only when somebody cancels it."""
    return _kinds()[0]()


class Timekeeper:
    """Ends the scopes of one event loop when their time is up, with one timer for all of them.

    Nearly all scopes are left long before, and a timer of each one's own costs as much as the rest of it.
    The timer stands at the nearest deadline that was ever kept, and is gone when no scope is left.
    """

    __slots__ = ("_kept", "_next", "_timer")

    def __init__(self) -> None:
        self._kept: dict[anyio.CancelScope, None] = {}
        self._next = math.inf
        self._timer: asyncio.TimerHandle | None = None

    def within(self, seconds: float | None) -> anyio.CancelScope:
        """A scope that is cancelled after so many seconds; None: only when somebody cancels it."""
        if seconds is None:
            return stoppable()
        scope = _kinds()[1](deadline=time.monotonic() + seconds)  # as every loop of asyncio tells the time
        scope.keeper = self  # type: ignore[attr-defined]
        return scope

    def keep(self, scope: anyio.CancelScope) -> None:
        """Cancel the scope at its deadline, which may move."""
        self._kept[scope] = None
        if scope.deadline < self._next:
            self._wake_at(scope.deadline)

    def let_go(self, scope: anyio.CancelScope) -> None:
        """The scope was left."""
        self._kept.pop(scope, None)
        if not self._kept and self._timer is not None:
            self._wake_at(math.inf)

    def _wake_at(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next, self._timer = when, None
        if when != math.inf:
            self._timer = asyncio.get_running_loop().call_at(when, self._look)

    def _look(self) -> None:
        now, left = time.monotonic() + _SLACK_SECONDS, [math.inf]
        for scope in [*self._kept]:
            if scope.cancel_called:
                continue
            if scope.deadline <= now:
                scope.cancel("deadline exceeded")
            else:
                left.append(scope.deadline)
        self._wake_at(max(min(left), now + _APART_SECONDS))


@cache
def _kinds() -> tuple[type[anyio.CancelScope], type[anyio.CancelScope]]:
    """The class of anyio's scopes, whose name finds it out anew for each; and one that has a timekeeper."""
    scopes = type(anyio.CancelScope())

    class Kept(scopes):  # type: ignore[misc, valid-type]
        """Its deadline counts as any other's does, for who asks how much time is left.

        What is overridden is where anyio starts a timer; a version that does so elsewhere would have both.
        """

        __slots__ = ("keeper",)

        def _timeout(self) -> None:
            if self._deadline != math.inf:
                self.keeper.keep(self)

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> bool:
            self.keeper.let_go(self)
            return scopes.__exit__(self, kind, error, trace)

    return scopes, Kept
