"""What an agent's work hangs on beside its own loop: its time, and who may end it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import anyio


class Place:
    """An agent's place among those at work; its time stands still while it waits for a person.

    `whole`: set while a conversation's turn may be ended only where it waits for what is outside, a model or
    a tool, so that its context is at every end just what its record says.
    """

    __slots__ = ("scope", "stopped", "waited", "whole")

    def __init__(self) -> None:
        self.whole: anyio.CancelScope | None = None
        self.waited = 0.0
        self.stopped = ""  # by whom and why somebody ended this agent's work
        self.scope: anyio.CancelScope | None = None

    @contextmanager
    def outside(self) -> Iterator[None]:
        """The block waits for what is outside, and may be ended."""
        if self.whole is None:
            yield
            return
        self.whole.shield = False
        try:
            yield
        finally:
            self.whole.shield = True

    def stop(self, reason: str) -> None:
        """End the agent's work; the session goes on without it."""
        self.stopped = self.stopped or reason
        if self.scope is not None:
            self.scope.cancel()
