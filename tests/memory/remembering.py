"""Sessions of users and projects over one store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchestra import Runtime, Scripted
from orchestra.config.settings import Settings
from orchestra.journal.journal import Journal
from orchestra.memory import shelf
from orchestra.memory.kept import Memory, Whose
from orchestra.values.messages import Request
from orchestra.values.roles import Role
from tests.team import settings


def stored(folder: Path) -> Settings:
    return settings(folder, store=str(folder / "store.db"))


def clerk(**fields: object) -> Role:
    given = {"name": "clerk", "description": "d", "instructions": "Help.", "context": "chat", "tools": ()}
    return Role(**{**given, **fields})  # type: ignore[arg-type] # a role's fields


def seen(request: Request) -> str:
    return "\n".join(message.text for message in request.messages)


async def talked(
    folder: Path, said: Sequence[str], *, user: str | None = None, project: str | None = None
) -> list[str]:
    """One session in which these things are said; what its model saw at each."""
    model = Scripted(lambda _: "Understood.")
    host = Runtime(stored(folder), models={"small": model}, roles=[clerk()])
    async with host, host.session("A chat.", user=user, project=project) as session:
        conversation = session.conversation("clerk")
        for text in said:
            await conversation.say(text)
    return [seen(request) for request in model.requests]


async def kept(folder: Path, user: str = "", project: str = "") -> tuple[Memory, ...]:
    """All that the store has of a user or a project."""
    async with Journal.open(str(folder / "store.db")) as journal:
        return await journal.do(shelf.all_of, Whose(user, project))
