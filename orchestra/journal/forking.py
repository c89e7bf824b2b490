"""A new session from a recorded point of another; blocking, run in a worker thread."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from orchestra.errors import InputError
from orchestra.journal.records import Fork, SessionRecord
from orchestra.journal.rows import encode
from orchestra.journal.schema import events, sessions
from orchestra.journal.store import Store


def check_event(source: SessionRecord, at: int, last: int) -> None:
    """Raises InputError for an event that is not there."""
    if not 0 <= at <= last:
        raise InputError(
            f"The session {source.id} has the events 1 to {last}, and no event {at}: "
            f"`orchestra show {source.id}` numbers them.",
            key="--at",
        )


def fork(store: Store, source: SessionRecord, new: Fork, begun: bool) -> None:
    """Copy a session's beginning; its texts are shared.

    `begun`: the new session's row is there, with a question of its own.
    """
    table = events.c
    kept = sa.and_(table.session == source.id, table.seq <= new.at)
    columns = [column for column in table if column.name != "session"]
    config = {**source.config, "trusted": new.at, "forked": [source.id, new.at]}
    with store.writing() as connection:
        values: dict[str, Any] = {
            "workflow": source.workflow,
            "status": "interrupted",
            "owner": "",
            "config": encode(config),
        }
        if begun:
            connection.execute(sa.update(sessions).where(sessions.c.id == new.id).values(values))
        else:
            values |= {"id": new.id, "title": source.title, "question": bytes.fromhex(source.question)}
            values |= {"created": new.created, "finished": None}
            connection.execute(sa.insert(sessions).values(values))
        copied = sa.select(sa.literal(new.id).label("session"), *columns).where(kept)
        names = ["session", *(column.name for column in columns)]
        connection.execute(sa.insert(events).from_select(names, copied))
