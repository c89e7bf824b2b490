"""The calls of a session that run, so that somebody can stop them."""

from __future__ import annotations

import anyio
from msgspec import Struct


class Running(Struct):
    """A call that runs and can be stopped; `why` it was, "" if it was not."""

    agent: str
    tool: str
    scope: anyio.CancelScope
    why: str = ""


class Calls:
    """The calls of a session that run."""

    def __init__(self) -> None:
        self.running: list[Running] = []

    def stop(self, tool: str, agent: str, why: str) -> bool:
        """End a tool's calls, of one agent or ("") of all; False where there are none."""
        found = [each for each in self.running if each.tool == tool and agent in ("", each.agent)]
        for each in found:
            each.why = why
            each.scope.cancel()
        return bool(found)
