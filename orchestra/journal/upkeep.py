"""What the store holds, whether it is whole, and what may go; blocking, run in a worker thread."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from orchestra.journal.blobs import INLINE, unpack
from orchestra.journal.pages import records
from orchestra.journal.queries import entries_of
from orchestra.journal.records import EventRecord
from orchestra.journal.schema import VERSION, blobs, orders, pages, sessions
from orchestra.journal.store import Store

_STREAMED = {"yield_per": 500}


class Info(Struct, frozen=True, kw_only=True):
    """`bytes`: the file or database; `text_bytes` and `packed_bytes`: the texts, as they are and as kept."""

    address: str
    version: str
    sessions: Mapping[str, int]
    events: int
    texts: int
    text_bytes: int
    packed_bytes: int
    bytes: int


class Pruned(Struct, frozen=True):
    """What went, or would go."""

    sessions: tuple[str, ...]
    events: int
    texts: int


def info(store: Store) -> Info:
    """The store in numbers."""
    length = sa.func.length(blobs.c.body)
    with store.reading() as connection:
        by_status = sa.select(sessions.c.status, sa.func.count()).group_by(sessions.c.status)
        text = connection.execute(
            sa.select(sa.func.count(), sa.func.sum(blobs.c.size), sa.func.sum(length))
        ).one()
        return Info(
            address=str(store.address),
            version=VERSION,
            sessions={str(row[0]): int(row[1]) for row in connection.execute(by_status)},
            events=_events(connection),
            texts=text[0],
            text_bytes=int(text[1] or 0),
            packed_bytes=int(text[2] or 0),
            bytes=_size(store, connection),
        )


def _size(store: Store, connection: sa.Connection) -> int:
    if store.address.kind == "server":
        return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar() or 0)
    count = connection.exec_driver_sql("PRAGMA page_count").scalar() or 0
    return int(count) * int(connection.exec_driver_sql("PRAGMA page_size").scalar() or 0)


def _events(connection: sa.Connection, of: sa.ColumnElement[bool] | None = None) -> int:
    """How many there are, of all pages or of these."""
    query = sa.select(sa.func.sum(pages.c.last - pages.c.first + 1))
    return int(connection.execute(query if of is None else query.where(of)).scalar() or 0)


def check(store: Store) -> tuple[str, ...]:
    """Every fault as a sentence: the database itself, texts, numbers of events, calls without an end."""
    with store.reading() as connection:
        faults = list(_database(store, connection))
        known, bad = _texts(connection)
        faults += bad
        query = sa.select(sessions.c.id, sessions.c.status, sessions.c.question).order_by(sessions.c.created)
        for name, status, question in connection.execute(query).all():
            if question not in known:
                faults.append(f"{name}: its question is missing.")
            found, damaged = _read(connection, name)
            faults += damaged or _session(name, status, found, known)
    return tuple(faults)


def _database(store: Store, connection: sa.Connection) -> Iterator[str]:
    if store.address.kind == "server":
        return
    for (answer,) in connection.exec_driver_sql("PRAGMA integrity_check(20)"):
        if answer != "ok":
            yield f"The database is damaged: {answer}."


def _texts(connection: sa.Connection) -> tuple[set[bytes], list[str]]:
    """The hashes of all texts that are whole, and the faults of the others."""
    known, faults = set(), []
    for row in connection.execute(sa.select(blobs), execution_options=_STREAMED):
        try:
            text = unpack(row.codec, bytes(row.body)).encode("utf-8", "surrogatepass")
        except (ValueError, UnicodeDecodeError) as error:
            faults.append(f"The text {row.hash.hex()[:12]} cannot be read: {error}.")
            continue
        if hashlib.sha256(text).digest() != bytes(row.hash) or len(text) != row.size:
            faults.append(f"The text {row.hash.hex()[:12]} is not what it was when it was written.")
        known.add(bytes(row.hash))
    return known, faults


def _read(connection: sa.Connection, name: str) -> tuple[list[EventRecord], list[str]]:
    """A session's events, and the faults of pages that cannot be read."""
    found: list[EventRecord] = []
    faults = []
    query = sa.select(pages).where(pages.c.session == name).order_by(pages.c.first)
    for page in connection.execute(query):
        try:
            found += records(page)
        except ValueError as error:
            faults.append(f"{name}: its events {page.first} to {page.last} cannot be read: {error}.")
    return found, faults


def _session(name: str, status: str, rows: Sequence[EventRecord], known: set[bytes]) -> Iterator[str]:
    if [row.seq for row in rows] != list(range(1, len(rows) + 1)):
        yield f"{name}: its events are not numbered from 1 to {len(rows)}."
    for row in rows:
        for text, where in row.texts.items():
            if not where.startswith(INLINE) and bytes.fromhex(where) not in known:
                yield f"{name}: the text {text!r} of event {row.seq} is missing."
    if status == "done":
        yield from _pairs(name, rows)


def _pairs(name: str, rows: Sequence[EventRecord]) -> Iterator[str]:
    """In a session that came to its end, calls that nothing came back for."""
    ended = {row.agent: row.seq for row in rows if row.kind in ("finished", "failed")}
    open_calls: dict[tuple[str, int, Any], Any] = {}
    for row in rows:
        place = (row.agent, row.turn, row.data.get("n"))
        if row.kind == "tool_called":
            open_calls[place] = row
        elif row.kind == "tool_returned":
            open_calls.pop(place, None)
        elif row.kind == "failed":  # cut off with its calls, and the record says why
            open_calls = {key: each for key, each in open_calls.items() if key[0] != row.agent}
    for (agent, turn, _), row in open_calls.items():
        if agent in ended:
            yield f"{name}: the tool called in event {row.seq} by {agent}, turn {turn}, never returned."


def prunable(store: Store, *, before: float | None = None, keep: int | None = None) -> tuple[str, ...]:
    """Ended sessions begun `before` that (seconds since the epoch), and all but the newest `keep`."""
    query = sa.select(sessions.c.id, sessions.c.created, sessions.c.status)
    with store.reading() as connection:
        rows = connection.execute(query.order_by(sessions.c.created.desc(), sessions.c.id.desc())).all()
    old = [
        row.id
        for place, row in enumerate(rows)
        if row.status not in ("running", "waiting")
        and ((before is not None and row.created < before) or (keep is not None and place >= keep))
    ]
    return tuple(reversed(old))


def prune(store: Store, names: Sequence[str]) -> Pruned:
    """Delete sessions, and the texts that no session names any more; then give the room back."""
    gone = events_gone = 0
    with store.writing() as connection:
        if store.address.kind == "server":
            # Nobody may begin to lean on a text while it is looked up who does.
            connection.exec_driver_sql("LOCK TABLE blobs, pages, sessions IN SHARE ROW EXCLUSIVE MODE")
        for name in names:
            mine = pages.c.session == name
            events_gone += _events(connection, mine)
            connection.execute(sa.delete(pages).where(mine))
            connection.execute(sa.delete(orders).where(orders.c.session == name))
            connection.execute(sa.delete(sessions).where(sessions.c.id == name))
        used = set(_used(store, connection))
        every = connection.execute(sa.select(blobs.c.hash)).scalars().all()
        for digest in every:
            if bytes(digest) not in used:
                gone += connection.execute(sa.delete(blobs).where(blobs.c.hash == digest)).rowcount
    store.compact()
    return Pruned(tuple(names), events_gone, gone)


def _used(store: Store, connection: sa.Connection) -> Iterator[bytes]:
    yield from (bytes(row) for row in connection.execute(sa.select(sessions.c.question)).scalars())
    for page in connection.execute(sa.select(pages), execution_options=_STREAMED):
        for *_, texts in entries_of(store, page):
            for where in texts.values():
                if not where.startswith(INLINE):
                    yield bytes.fromhex(where)
