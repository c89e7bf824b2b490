"""What is asked of the store; blocking, run by `reading` in a worker thread."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from orchestra.errors import StoreError
from orchestra.journal.blobs import unpack
from orchestra.journal.encoding import decode
from orchestra.journal.pages import Entry, records, unpacked
from orchestra.journal.reading import is_gone
from orchestra.journal.records import EventRecord, SessionRecord, SessionTotals
from orchestra.journal.schema import blobs, pages
from orchestra.journal.schema import sessions as sessions_table
from orchestra.journal.store import Store
from orchestra.values.usage import NO_USAGE, Usage

# Under SQLite's and PostgreSQL's limits on the parameters of one statement.
_AT_ONCE = 500
_STREAMED = {"yield_per": 100}
_NEWEST = "last"


def _session(row: Any) -> SessionRecord:
    cut_off = row.status == "running" and is_gone(row.owner)
    return SessionRecord(
        id=row.id,
        title=row.title,
        question=row.question.hex(),
        workflow=row.workflow,
        status="cut off" if cut_off else row.status,
        created=row.created,
        finished=row.finished,
        owner=row.owner,
        config=decode(row.config),
    )


_NEWEST_FIRST = (sessions_table.c.created.desc(), sessions_table.c.id.desc())


def sessions(store: Store, limit: int | None, workflow: str | None = None) -> tuple[SessionRecord, ...]:
    query = sa.select(sessions_table).order_by(*_NEWEST_FIRST).limit(limit)
    if workflow is not None:
        query = query.where(sessions_table.c.workflow == workflow)
    with store.reading() as connection:
        return tuple(_session(row) for row in connection.execute(query))


def sessions_named(store: Store, prefix: str) -> tuple[SessionRecord, ...]:
    """The session of this very name, or else all that begin so."""
    column = sessions_table.c.id
    query = sa.select(sessions_table).order_by(*_NEWEST_FIRST)
    with store.reading() as connection:
        if prefix == _NEWEST:
            return tuple(_session(row) for row in connection.execute(query.limit(1)))
        exact = connection.execute(query.where(column == prefix)).all()
        if exact or not prefix:
            return tuple(_session(row) for row in exact)
        begins = column.startswith(prefix, autoescape=True)
        return tuple(_session(row) for row in connection.execute(query.where(begins)))


def session_names(store: Store) -> tuple[str, ...]:
    """All ids, newest first."""
    with store.reading() as connection:
        return tuple(connection.execute(sa.select(sessions_table.c.id).order_by(*_NEWEST_FIRST)).scalars())


def events(
    store: Store, session: str, agent: str | None, kinds: tuple[str, ...] | None
) -> tuple[EventRecord, ...]:
    with store.reading() as connection:
        return tuple(stored(store, connection, pages.c.session == session, agent=agent, kinds=kinds))


def stored(
    store: Store,
    connection: sa.Connection,
    which: sa.ColumnElement[bool] | None = None,
    *,
    agent: str | None = None,
    kinds: Collection[str] | None = None,
) -> Iterator[EventRecord]:
    """The events of these pages (None: all), a session's in their order; see `pages.records`."""
    query = sa.select(pages).order_by(pages.c.session, pages.c.first)
    if which is not None:
        query = query.where(which)
    for page in connection.execute(query, execution_options=_STREAMED):
        try:
            yield from records(page, agent=agent, kinds=kinds)
        except ValueError as error:
            raise _unreadable(store, page, error) from error


def entries_of(store: Store, page: Any) -> list[Entry]:
    """What is in a page, without making records of it. Raises StoreError for a damaged one."""
    try:
        return unpacked(page.codec, page.body)
    except ValueError as error:
        raise _unreadable(store, page, error) from error


def _unreadable(store: Store, page: Any, error: ValueError) -> StoreError:
    return StoreError(
        f"The store {store.address} is damaged: events {page.first} to {page.last} of {page.session} "
        f"cannot be read ({error})."
    )


def last_seq(store: Store, session: str) -> int:
    """The number of the session's last event, 0 for none."""
    query = sa.select(sa.func.max(pages.c.last)).where(pages.c.session == session)
    with store.reading() as connection:
        return connection.execute(query).scalar() or 0


def texts(store: Store, digests: tuple[str, ...]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    with store.reading() as connection:
        for some in _chunks([bytes.fromhex(digest) for digest in digests]):
            query = sa.select(blobs).where(blobs.c.hash.in_(some))
            for row in connection.execute(query):
                try:
                    found[row.hash.hex()] = unpack(row.codec, row.body)
                except ValueError as error:
                    raise StoreError(f"The store {store.address} cannot be read: {error}.") from error
    for digest in digests:
        if digest not in found:
            raise StoreError(f"The store {store.address} does not hold the text {digest[:12]}….")
    return found


def totals(store: Store, names: tuple[str, ...]) -> Mapping[str, SessionTotals]:
    used = dict.fromkeys(names, NO_USAGE)
    agents: dict[str, set[str]] = {name: set() for name in names}
    with store.reading() as connection:
        for some in _chunks(list(names)):
            of_these = pages.c.session.in_(some)
            for event in stored(store, connection, of_these, kinds=("started", "reply")):
                if event.kind == "reply":
                    used[event.session] += usage_of(event.data)
                elif event.agent:
                    agents[event.session].add(event.agent)
    return {name: SessionTotals(len(agents[name]), used[name]) for name in names}


def usage_of(data: Mapping[str, Any]) -> Usage:
    """One reply's usage, from its event's data."""
    return Usage(
        1,
        data.get("input_tokens", 0),
        data.get("output_tokens", 0),
        data.get("cached_tokens", 0),
        data.get("reasoning_tokens", 0),
        data.get("cost"),
    )


def _chunks(values: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]
