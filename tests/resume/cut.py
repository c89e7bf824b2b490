"""What the tests of resuming share: a recorded session, and its store as it was at any moment."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestra import Runtime
from orchestra.values.report import Report
from tests.pages import change_events, events_in
from tests.team import scripted_team, settings

CATS, DOGS = "How long do cats sleep?", "How far do dogs walk?"
QUESTION = "Cats and dogs?"
GONE = "elsewhere:1"


def write_documents(folder: Path) -> Path:
    folder.mkdir()
    (folder / "cats.md").write_text("# Cats\n\nCats sleep 13 hours a day. They like it.\n", encoding="utf-8")
    (folder / "dogs.md").write_text("# Dogs\n\nDogs walk 5 km a day. They need it.\n", encoding="utf-8")
    return folder


def host(folder: Path, model: Any | None = None, **more: Any) -> Runtime:
    """A runtime whose store is in the folder."""
    model = model or scripted_team(CATS, DOGS)
    models = model if isinstance(model, Mapping) else {"small": model, "large": model}
    return Runtime(settings(folder, store=str(folder / "store.db")), models=models, **more)


async def recorded(folder: Path, model: Any | None = None) -> Report:
    """A whole session, and its report."""
    documents = folder / "docs"
    if not documents.exists():
        write_documents(documents)
    async with host(folder, model) as runtime:
        return await runtime.research(QUESTION, documents=documents)


def events(folder: Path) -> list[tuple[int, str, str]]:
    """(number, agent, kind) of all that is in the store."""
    return [(event.seq, event.agent, event.kind) for event in events_in(folder / "store.db")]


def cut(folder: Path, at: int, to: Path) -> Path:
    """A copy of the folder whose session was killed when event `at` had just become durable."""
    shutil.copytree(folder, to)
    change_events(to / "store.db", lambda event: event if event.seq <= at else None)
    with sqlite3.connect(to / "store.db") as database:
        database.execute("UPDATE sessions SET status = 'running', finished = NULL, owner = ?", (GONE,))
    return to


def same(report: Report) -> dict[str, Any]:
    """What two reports must have in common: all but the time they took."""
    from msgspec import to_builtins

    return {**to_builtins(report), "seconds": 0}
