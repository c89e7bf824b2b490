"""The port that every tool stands behind, and what a tool returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from orchestra.values.messages import ToolSpec
from orchestra.values.sources import Passage

Effects = Literal["read", "write"]


class ToolOutput(Struct, frozen=True, kw_only=True, gc=False):
    """What a tool returns: `text` for the model, or `passages` that become sources and are shown fenced.

    `text` with `passages` stands above them. `ephemeral` results leave the context after one turn.
    `added`: names of tools that the agent has from its next step on (see `finding`).
    """

    text: str = ""
    passages: tuple[Passage, ...] = ()
    ephemeral: bool = False
    added: tuple[str, ...] = ()


class Tool(Protocol):
    """A thing an agent may do; shared by all sessions, so it holds nothing of any of them."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def effects(self) -> Effects: ...

    @property
    def seconds(self) -> float | None:
        """How long a call may take; None: as long as the agent's deadline allows."""
        ...

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        """Do it. Raises ToolError with a text for the model."""
        ...
