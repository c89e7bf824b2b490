"""What an agent's work hangs on beside its own loop: its time, and who may end it."""

from __future__ import annotations

import anyio


class Place:
    """An agent's place among those at work; its time stands still while it waits for a person."""

    def __init__(self) -> None:
        self.waited = 0.0
        self.stopped = ""  # by whom and why somebody ended this agent's work
        self.scope: anyio.CancelScope | None = None

    def stop(self, reason: str) -> None:
        """End the agent's work; the session goes on without it."""
        self.stopped = self.stopped or reason
        if self.scope is not None:
            self.scope.cancel()
