"""A new session from a recorded point of another; blocking, run in a worker thread."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from orchestra.errors import InputError
from orchestra.journal.blobs import Packer
from orchestra.journal.encoding import encode
from orchestra.journal.pages import page_row
from orchestra.journal.queries import entries_of
from orchestra.journal.records import Fork, SessionRecord
from orchestra.journal.schema import pages, sessions
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

    `begun`: the new session's row is there, with a question of its own. Raises StoreError for a damaged page.
    """
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
        _copy_pages(store, connection, source.id, new)


def _copy_pages(store: Store, connection: sa.Connection, source: str, new: Fork) -> None:
    """Those up to the fork's event; of the page that it stands in, the beginning."""
    mine = sa.and_(pages.c.session == source, pages.c.first <= new.at)
    for page in connection.execute(sa.select(pages).where(mine).order_by(pages.c.first)).all():
        row = (new.id, *page[1:])
        if page.last > new.at:
            entries = entries_of(store, page)[: new.at - page.first + 1]
            row = page_row(new.id, page.first, entries, Packer())
        connection.execute(sa.insert(pages).values(row))
