"""What the tests of conversations share: a role, tools, a runtime, and talks in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from orchestra import Runtime, Scripted, Session, tool
from orchestra.resume.host import Resuming
from orchestra.session.conversation import Conversation
from orchestra.tools.port import Tool
from orchestra.values.messages import Request, ToolCall
from orchestra.values.roles import Role
from tests.team import settings


@tool
async def read_gauge(name: str) -> str:
    """Read a gauge."""
    return f"{name} stands at 7"


def clerk(**fields: object) -> Role:
    return Role(
        **{"name": "clerk", "description": "d", "instructions": "Work.", "context": "chat", **fields}  # type: ignore[arg-type] # a role's fields
    )


def gauge(name: str, key: str = "k1") -> ToolCall:
    return ToolCall(key, "read_gauge", f'{{"name": "{name}"}}')


@asynccontextmanager
async def talk(
    folder: Path, model: Scripted, role: Role | None = None, tools: tuple[Tool, ...] = (read_gauge,)
) -> AsyncIterator[tuple[Session, Conversation]]:
    """A new session in the folder's store, and a conversation in it."""
    async with host(folder, model, role, tools) as runtime, runtime.session("?x") as session:
        yield session, session.conversation("clerk")


@asynccontextmanager
async def again(
    folder: Path, model: Scripted, role: Role | None = None, tools: tuple[Tool, ...] = (read_gauge,)
) -> AsyncIterator[tuple[Session, Conversation]]:
    """The last session of the folder's store goes on; the conversation is not caught up yet."""
    async with (
        host(folder, model, role, tools) as runtime,
        runtime.resumed("last", Resuming()) as (session, _),
    ):
        yield session, session.conversation("clerk")


def host(
    folder: Path, model: Scripted, role: Role | None = None, tools: tuple[Tool, ...] = (read_gauge,)
) -> Runtime:
    """A runtime whose store is in the folder."""
    return Runtime(
        settings(folder, store=str(folder / "store.db")),
        models={"small": model, "large": model},
        roles=[role or clerk()],
        tools=tools,
    )


def shown(request: Request) -> list[tuple[str, str, object, str]]:
    """All that a request shows."""
    return [(each.role, each.text, each.calls, each.call_id) for each in request.messages]


def pairs_are_whole(request: Request) -> bool:
    """Whether every call of a request has one result, right behind it."""
    waiting: list[str] = []
    for message in request.messages:
        if message.role == "tool":
            if not waiting or waiting.pop(0) != message.call_id:
                return False
        elif waiting:
            return False
        else:
            waiting = [call.id for call in message.calls]
    return not waiting
