"""An agent's toolbox as a session makes it, for tests of what it is offered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from orchestra import Runtime, Scripted
from orchestra.config.settings import Settings
from orchestra.journal.track import Track
from orchestra.tools.port import Tool
from orchestra.tools.recorded import RecordedToolbox
from orchestra.values.roles import Role


@asynccontextmanager
async def opened(settings: Settings, tools: Sequence[Tool]) -> AsyncIterator[RecordedToolbox]:
    """The toolbox of an agent that may use all of these."""
    role = Role(name="clerk", description="d", instructions="Work.", context="tools")
    host = Runtime(settings, models={"small": Scripted(["done"])}, roles=[role], tools=tools)
    async with host, host.session("?x") as session:
        track = Track("clerk.1", session._diary.recording)
        desk = session._desk(role, track, None, None)  # what `ask` does first
        yield desk.toolbox
