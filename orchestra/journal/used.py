"""What earlier tasks were and which tools they used; blocking, run in a worker thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from orchestra.journal.blobs import INLINE, unpack
from orchestra.journal.encoding import decode
from orchestra.journal.queries import stored
from orchestra.journal.schema import blobs, pages, sessions
from orchestra.journal.store import Store

SESSIONS, TASKS = 1_000, 2_000
"""The newest sessions that are looked at, and the tasks that are taken from them at most."""
_AT_ONCE = 100
_LOOKED_AT = 5_000
"""Sessions among which those of a project are looked for."""


def tools_used(store: Store, project: str = "") -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each agent's task with the tools whose calls worked, oldest first; of one project's sessions."""
    found: list[tuple[str, tuple[str, ...]]] = []
    with store.reading() as connection:
        names = _sessions(connection, project)
        for start in range(0, len(names), _AT_ONCE):
            found += _of(store, connection, names[start : start + _AT_ONCE])
            if len(found) >= TASKS:
                break
    return tuple(reversed(found[:TASKS]))


def _sessions(connection: sa.Connection, project: str) -> list[str]:
    """The newest of a project ("": of none), newest first."""
    table = sessions.c
    query = sa.select(table.id, table.config).order_by(table.created.desc()).limit(_LOOKED_AT)
    mine = (row.id for row in connection.execute(query) if decode(row.config).get("project", "") == project)
    return [name for name, _ in zip(mine, range(SESSIONS), strict=False)]


def _of(store: Store, connection: sa.Connection, names: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The tasks of some sessions, in the sessions' order, a session's newest first."""
    tasks: dict[tuple[str, str], str] = {}
    used: dict[tuple[str, str], dict[str, None]] = {}
    of_these = pages.c.session.in_(names)
    for event in stored(store, connection, of_these, kinds=("started", "tool_returned")):
        agent = (event.session, event.agent)
        if event.kind == "started":
            tasks[agent] = event.texts.get("task", "")
        elif event.agent and not event.data.get("error"):
            used.setdefault(agent, {})[event.data["tool"]] = None
    texts = _texts(connection, [where for agent, where in tasks.items() if agent in used])
    order = {name: place for place, name in enumerate(names)}
    ranked = sorted(enumerate(used), key=lambda item: (order[item[1][0]], -item[0]))
    return [
        (text, tuple(used[agent])) for _, agent in ranked if (text := texts.get(tasks.get(agent, ""), ""))
    ]


def _texts(connection: sa.Connection, places: list[str]) -> Mapping[str, str]:
    found = {place: place[len(INLINE) :] for place in places if place.startswith(INLINE)}
    digests: list[Any] = [
        bytes.fromhex(place) for place in dict.fromkeys(places) if place and place not in found
    ]
    for start in range(0, len(digests), _AT_ONCE):
        query = sa.select(blobs).where(blobs.c.hash.in_(digests[start : start + _AT_ONCE]))
        for row in connection.execute(query):
            found[row.hash.hex()] = unpack(row.codec, row.body)
    return found
