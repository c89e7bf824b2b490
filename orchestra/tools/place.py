"""What an agent's work hangs on beside its own loop: its time, and who may end it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import anyio

from orchestra.tools.within import Timekeeper

T = TypeVar("T")


class Place:
    """An agent's place among those at work; its time stands still while it waits for a person.

    `agent`: its path. `times`: what ends it in time. `whole`: set while a conversation's turn may be ended
    only where it waits for what is outside, a model or a tool, so that its context is at every end just what
    its record says.
    """

    __slots__ = ("agent", "scope", "stopped", "times", "waited", "whole")

    def __init__(self, agent: str = "", times: Timekeeper | None = None) -> None:
        self.agent = agent
        self.times = times or Timekeeper()
        self.whole: anyio.CancelScope | None = None
        self.waited = 0.0
        self.stopped = ""  # by whom and why somebody ended this agent's work
        self.scope: anyio.CancelScope | None = None

    def outside(self, work: Awaitable[T]) -> Awaitable[T]:
        """The same work, which waits for what is outside, and may be ended."""
        return work if self.whole is None else _unshielded(work, self.whole)

    def stop(self, reason: str) -> None:
        """End the agent's work; the session goes on without it."""
        self.stopped = self.stopped or reason
        if self.scope is not None:
            self.scope.cancel()


async def _unshielded(work: Awaitable[T], scope: anyio.CancelScope) -> T:
    scope.shield = False
    try:
        return await work
    finally:
        scope.shield = True
