"""Reading the journal: sessions, events, texts."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread

from orchestra.errors import InputError
from orchestra.journal.address import read_address
from orchestra.journal.blobs import INLINE
from orchestra.journal.records import EventRecord, SessionRecord, SessionTotals

if TYPE_CHECKING:
    from orchestra.journal.store import Store

T = TypeVar("T")
# Names shown when a session is not found.
_SUGGESTED = 3


class Reader:
    """Reads an open store; what is read is what was durable at that moment."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # One read at a time for each process: a store in memory has one connection for all.
        self._limiter = anyio.CapacityLimiter(1)

    async def _read(self, what: Callable[..., T], *arguments: Any) -> T:
        return await anyio.to_thread.run_sync(partial(what, self._store, *arguments), limiter=self._limiter)

    async def do(self, what: Callable[..., T], *arguments: Any) -> T:
        """A blocking function of the store (`upkeep`, `orders`), in a worker thread."""
        return await self._read(what, *arguments)

    async def sessions(
        self, limit: int | None = 20, *, workflow: str | None = None
    ) -> tuple[SessionRecord, ...]:
        """The newest sessions (of one workflow, by its function's name), newest first; None for all."""
        from orchestra.journal import queries

        return await self._read(queries.sessions, limit, workflow)

    async def find_session(self, prefix: str) -> SessionRecord:
        """The one session whose id begins so; "last" is the newest.

        Raises InputError where there is none or more than one, naming the nearest.
        """
        from orchestra.journal import queries

        found = await self._read(queries.sessions_named, prefix)
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(session.id for session in found[:_SUGGESTED])
            raise InputError(f"{len(found)} sessions begin with {prefix!r}, such as {names}: type more.")
        known = await self._read(queries.session_names)
        if not known:
            raise InputError(f"There is no session {prefix!r}: the store holds none yet.")
        near = get_close_matches(prefix, known, _SUGGESTED, 0.5) or list(known[:_SUGGESTED])
        raise InputError(f"There is no session {prefix!r}; the nearest: {', '.join(near)}.")

    async def events(
        self, session: str, *, agent: str | None = None, kinds: Iterable[str] | None = None
    ) -> tuple[EventRecord, ...]:
        """A session's events in order; of one agent ("": its own) and of some kinds."""
        from orchestra.journal import queries

        wanted = None if kinds is None else tuple(kinds)
        return await self._read(queries.events, session, agent, wanted)

    async def text(self, where: str) -> str:
        """The text that an event or a session names so. Raises StoreError where the store lacks it."""
        return (await self.texts((where,)))[where]

    async def texts(self, where: Iterable[str]) -> Mapping[str, str]:
        """The same for many at once: from what an event or a session names to the text."""
        from orchestra.journal import queries

        named = dict.fromkeys(where)
        found = {name: name[len(INLINE) :] for name in named if name.startswith(INLINE)}
        digests = tuple(name for name in named if name not in found)
        if digests:
            found.update(await self._read(queries.texts, digests))
        return found

    async def tools_used(self, project: str = "") -> Sequence[tuple[str, tuple[str, ...]]]:
        """Earlier tasks of a project's sessions with the tools that they used, oldest first."""
        from orchestra.journal import used

        return await self._read(used.tools_used, project)

    async def totals(self, sessions: Sequence[str]) -> Mapping[str, SessionTotals]:
        """What each of these sessions has used so far."""
        from orchestra.journal import queries

        return await self._read(queries.totals, tuple(sessions))


@asynccontextmanager
async def read_journal(url: str | Path) -> AsyncIterator[Reader]:
    """A store that is only read: nothing is created or changed. Raises StoreError."""
    from orchestra.journal.store import Store

    store = await anyio.to_thread.run_sync(partial(Store, read_address(url), read_only=True))
    try:
        yield Reader(store)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(store.close)


def this_process() -> str:
    """`host:pid`, the owner of the sessions that this process writes; with its start, where that is known.

    A container that is started again has the same host and often the same number.
    """
    started = _started(os.getpid())
    return f"{socket.gethostname()}:{os.getpid()}" + (f":{started}" if started else "")


def is_gone(owner: str) -> bool:
    """Whether that process has ended; False for one on another host, of which nothing is known."""
    host, _, rest = owner.partition(":")
    number, _, started = rest.partition(":")
    if host != socket.gethostname() or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    now = _started(int(number))
    return bool(started and now) and now != started


def _started(process: int) -> str:
    """When a process began, in ticks since the machine did; "" where the system does not say."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return ""
    # The name, in brackets, may hold blanks and brackets; the start is the 20th field behind it (proc(5)).
    return stat.rpartition(b")")[2].split()[19].decode()
