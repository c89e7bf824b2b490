"""Agents that stream, for tests: one clerk at a scripted endpoint on loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from orchestra import Runtime, Session
from orchestra.models.port import Model
from orchestra.models.retrying import Retrying
from orchestra.models.tiers import Tiers
from orchestra.tools.port import Tool
from orchestra.values.events import Event
from orchestra.values.messages import Delta
from orchestra.values.roles import Role
from tests.models.loopback import END, HEAD, Line, Server, event, piece, serving
from tests.models.opened import opened
from tests.team import settings

USAGE = piece(event(usage={"prompt_tokens": 30, "completion_tokens": 20}))


def part(tool: str, key: str, index: int = 0, **arguments: Any) -> bytes:
    """A whole call as one chunk of a stream."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return piece(event({"tool_calls": [{"index": index, "id": key, "function": function}]}))


def says(text: str) -> list[bytes]:
    """A streamed reply of words."""
    words = [piece(event({"content": f"{word} "})) for word in text.split()]
    return [HEAD, *words, piece(event(finish="stop")), USAGE, END]


def calling(*parts: Any) -> list[Any]:
    """A streamed reply of calls; between them events are waited for."""
    return [HEAD, *parts, piece(event(finish="tool_calls")), USAGE, END]


def again(model: Model) -> Model:
    """Tried again at once."""

    async def sleep(_seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    return Retrying(model, sleep=sleep)


class Heard:
    """What a listener has been told and not told to forget; `forgot` counts."""

    def __init__(self) -> None:
        self.deltas: list[Delta] = []
        self.forgot = 0

    def __call__(self, delta: Delta | None) -> None:
        if delta is None:
            self.deltas.clear()
            self.forgot += 1
        else:
            self.deltas.append(delta)

    @property
    def text(self) -> str:
        return "".join(delta.text for delta in self.deltas)

    @property
    def calls(self) -> list[str]:
        return [delta.call.name for delta in self.deltas if delta.call is not None]


class Story(list[Event]):
    """The events of a session as they were recorded."""

    @property
    def kinds(self) -> list[str]:
        left_out = ("prompt", "started", "handoff", "finished", "failed", "verified", "stopped")
        return [event.kind for event in self if event.kind not in left_out]

    def data(self, kind: str) -> list[Mapping[str, Any]]:
        return [event.data for event in self if event.kind == kind]


@asynccontextmanager
async def clerk_at(
    folder: Path,
    tools: Iterable[Tool],
    *script: Line,
    streamed: bool = True,
    transport: str = "direct",
    **fields: Any,
) -> AsyncIterator[tuple[Session, Story, Server]]:
    """A session with one role, `clerk`, whose model is the scripted endpoint, tried again where it fails."""
    role = Role(name="clerk", description="d", instructions="Work.", context="tools", **fields)
    story = Story()
    async with serving(*script) as here, opened(here.url, transport=transport) as model:
        both = dict.fromkeys(("small", "large"), again(model))
        models = Tiers(both, streamed=both if streamed else ())
        host = Runtime(settings(folder), models=models, roles=[role], tools=tools)
        async with host, host.session("?x", watch=story.append) as session:
            yield session, story, here
