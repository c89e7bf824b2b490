"""What the journal's tests share: a session, and events of it."""

from __future__ import annotations

from typing import Any

from orchestra.journal.journal import Journal
from orchestra.journal.rows import SessionStart
from orchestra.values.events import Event, EventKind

SESSION = "20261130-074205-k3f9x0qm"


def event(number: int = 1, *, session: str = SESSION, kind: EventKind = "note", **texts: str) -> Event:
    return Event(
        session=session,
        agent="writer.1",
        turn=number,
        kind=kind,
        at=float(number),
        data={"n": number},
        texts=texts,
    )


async def begun(journal: Journal, session: str = SESSION, question: str = "Why?", **config: Any) -> Journal:
    await journal.begin(SessionStart(id=session, question=question, created=1.0, config=config))
    return journal
