"""The events of a store, read and changed behind the program's back: what was killed, lost or older."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa
from msgspec import structs

from orchestra.journal import schema
from orchestra.journal.blobs import Packer
from orchestra.journal.encoding import encode
from orchestra.journal.pages import page_rows, records
from orchestra.journal.records import EventRecord

Change = Callable[[EventRecord], EventRecord | None]


def events_in(store: Path) -> list[EventRecord]:
    """All events, in the order of their sessions and numbers."""
    with sa.create_engine(f"sqlite:///{store}").begin() as connection:
        return events_of(connection)


def change_events(store: Path, change: Change) -> None:
    """Each event as `change` makes it, None: gone."""
    with sa.create_engine(f"sqlite:///{store}").begin() as connection:
        change_rows(connection, change)


def change_rows(connection: sa.Connection, change: Change) -> None:
    """The same in any database."""
    pack = Packer()
    events = [(event, change(event)) for event in events_of(connection)]
    connection.execute(sa.delete(schema.pages))
    for before, event in events:
        if event is not None:
            [row] = page_rows(before.session, [event], pack)
            connection.execute(sa.insert(schema.pages).values(row))


def with_data(event: EventRecord, **data: object) -> EventRecord:
    """The event with something else in its data."""
    return structs.replace(event, data={**event.data, **data})


def make_first_version(connection: sa.Connection) -> None:
    """The store as the first version of the tables had it: a row for each event, no orders, no memories."""
    connection.exec_driver_sql(
        "CREATE TABLE events (session VARCHAR(64) NOT NULL, seq INTEGER NOT NULL, agent TEXT NOT NULL, "
        "turn INTEGER NOT NULL, kind VARCHAR(16) NOT NULL, at DOUBLE PRECISION NOT NULL, data TEXT NOT NULL, "
        "texts TEXT NOT NULL, PRIMARY KEY (session, seq))"
    )
    insert = sa.text("INSERT INTO events VALUES (:session, :seq, :agent, :turn, :kind, :at, :data, :texts)")
    for event in events_of(connection):
        written = {"data": encode(event.data), "texts": encode(event.texts) if event.texts else ""}
        connection.execute(insert, {**structs.asdict(event), **written})
    for table in ("pages", "orders", "memories"):
        connection.exec_driver_sql(f"DROP TABLE {table}")
    connection.exec_driver_sql(f"UPDATE {schema.VERSION_TABLE} SET version_num = '0001'")


def events_of(connection: sa.Connection) -> list[EventRecord]:
    """All events of any database."""
    pages = connection.execute(sa.select(schema.pages).order_by(schema.pages.c.session, schema.pages.c.first))
    return [event for page in pages for event in records(page)]
