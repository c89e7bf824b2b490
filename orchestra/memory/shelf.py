"""Where memories are kept: the store's table; blocking, run by `Journal.do` in a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import sqlalchemy as sa
from msgspec import Struct

from orchestra.journal.encoding import decode, encode, plain
from orchestra.journal.queries import stored
from orchestra.journal.schema import memories, sessions
from orchestra.journal.store import Store
from orchestra.memory.kept import Memory, Whose

MOST = 2_000
"""The newest memories that are read for a session."""
SHOWN = "memory shown"  # what a note says of the memories that an agent was given

Replaces = Callable[[Memory, Sequence[Memory]], Sequence[int] | None]
"""Of a new memory and those that hold: the numbers of those whose place it takes, None: it is not kept."""


class Forgotten(Struct, frozen=True):
    """What went, and the sessions whose records still hold its words."""

    memories: tuple[Memory, ...]
    sessions: tuple[str, ...]


def known_to(store: Store, whose: Whose) -> tuple[Memory, ...]:
    """What a session of these has from all sessions and still holds, oldest first: the user's own, and the
    project's; of the user's what was said in this project or belongs to none.
    """
    table = memories.c
    mine = sa.and_(table.of_user == whose.user, table.project.in_(("", whose.project)))
    ours = sa.and_(table.of_user == "", table.project == whose.project)
    owned = [clause for clause, given in ((mine, whose.user), (ours, whose.project)) if given]
    if not owned:
        return ()
    query = sa.select(memories).where(sa.or_(*owned), table.until.is_(None))
    with store.reading() as connection:
        rows = connection.execute(query.order_by(table.number.desc()).limit(MOST)).all()
        was = _before(connection, [row.number for row in rows])
    return tuple(_memory(row, was.get(row.number, "")) for row in reversed(rows))


def all_of(store: Store, whose: Whose) -> tuple[Memory, ...]:
    """Everything that is kept of a user, a project, or a user in a project, with what holds no longer."""
    with store.reading() as connection:
        query = sa.select(memories).where(_of(whose)).order_by(memories.c.number)
        return tuple(_memory(row) for row in connection.execute(query))


def keep(store: Store, new: Sequence[Memory], replaces: Replaces) -> None:
    """Add memories, each in the place of those that it replaces."""
    with store.writing() as connection:
        for memory in new:
            same = sa.and_(memories.c.of_user == memory.user, memories.c.project == memory.project)
            holds = sa.and_(same, memories.c.until.is_(None))
            rows = connection.execute(sa.select(memories).where(holds).order_by(memories.c.number))
            gone = replaces(memory, [_memory(row) for row in rows])
            if gone is None:
                continue
            made = connection.execute(sa.insert(memories).values(_row(memory))).inserted_primary_key
            if gone and made is not None:
                changed = sa.update(memories).where(memories.c.number.in_(gone))
                connection.execute(changed.values(until=memory.at, by=made[0]))


def forget(store: Store, whose: Whose, which: Callable[[Memory], bool] | None) -> Forgotten:
    """Delete memories with their history (None: all), so that their words are no longer in the file.

    Raises StoreError, when they are gone, where the journal is damaged and who was shown them cannot be read.
    """
    kept = all_of(store, whose)
    chosen = {memory.number for memory in kept if which is None or which(memory)}
    chosen = _with_history(kept, chosen)
    gone = tuple(memory for memory in kept if memory.number in chosen)
    if not gone:
        return Forgotten((), ())
    with store.writing() as connection:
        if store.address.kind != "server":
            connection.exec_driver_sql("PRAGMA secure_delete = ON")
        for number in chosen:
            connection.execute(sa.delete(memories).where(memories.c.number == number))
    store.settle()
    return Forgotten(gone, _sessions_with(store, gone))


def _with_history(kept: Iterable[Memory], chosen: set[int]) -> set[int]:
    """With what the chosen ones took the place of, and what took theirs."""
    links = [(memory.number, memory.by) for memory in kept if memory.by is not None]
    size = -1
    while size != len(chosen):
        size = len(chosen)
        for old, new in links:
            if old in chosen or new in chosen:
                chosen |= {old, new}
    return chosen


def _sessions_with(store: Store, gone: Sequence[Memory]) -> tuple[str, ...]:
    """The sessions in which it was said, and those that were shown it, as far as their records are there."""
    numbers = {memory.number for memory in gone}
    named = {memory.session for memory in gone}
    there: list[str] = []
    with store.reading() as connection:  # which may take a second or more, in which others write
        for event in stored(store, connection, kinds=("note",)):
            if event.data.get("what") == SHOWN and numbers & set(event.data.get("memories", ())):
                named.add(event.session)
        for name in sorted(named):
            there += connection.execute(sa.select(sessions.c.id).where(sessions.c.id == name)).scalars()
    return tuple(there)


def _of(whose: Whose) -> sa.ColumnElement[bool]:
    table = memories.c
    if whose.user and whose.project:
        return sa.and_(table.of_user == whose.user, table.project == whose.project)
    return (
        table.of_user == whose.user
        if whose.user
        else sa.and_(table.of_user == "", table.project == whose.project)
    )


def _before(connection: sa.Connection, numbers: Sequence[int]) -> dict[int, str]:
    """The value that each of these took the place of."""
    table = memories.c
    query = sa.select(table.by, table.value).where(table.by.in_(numbers[:500])).order_by(table.number)
    return {row.by: row.value for row in connection.execute(query)}


def _memory(row: sa.Row[tuple[object, ...]], was: str = "") -> Memory:
    return Memory(
        kind=row.kind,
        user=row.of_user,
        project=row.project,
        key=row.key,
        value=row.value,
        text=row.text,
        sources=tuple(decode(row.sources)),
        always=bool(row.always),
        about=row.about,
        session=row.session,
        at=row.at,
        number=row.number,
        until=row.until,
        by=row.by,
        was=was,
    )


def _row(memory: Memory) -> dict[str, object]:
    texts = {name: plain(getattr(memory, name)) for name in ("project", "key", "value", "text", "about")}
    return {
        **texts,
        "of_user": plain(memory.user),
        "kind": memory.kind,
        "sources": encode(memory.sources),
        "always": memory.always,
        "session": memory.session,
        "at": memory.at,
    }
