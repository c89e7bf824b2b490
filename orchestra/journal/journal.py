"""The journal: the append-only record of everything that happened in all sessions.

    async with Journal.open(".orchestra/store.db", secrets=keys) as journal:
        await journal.begin(SessionStart(id=..., question=..., created=...))
        await journal.record(event)         # queued; waits only while the queue is full
        await journal.flush()               # durable, even if the process is killed now
        await journal.finish(session, "done", at=...)

Many sessions and many processes may write the same store; a session is written by one process at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from orchestra.errors import StoreError
from orchestra.journal.address import MEMORY, read_address
from orchestra.journal.reading import Reader, this_process
from orchestra.journal.records import SessionRecord, Status
from orchestra.journal.rows import Item, Live, RowMaker, SessionChange, SessionStart, encode
from orchestra.journal.writer import Options, Writer
from orchestra.log import get_logger
from orchestra.redact import Redactor
from orchestra.values.events import Event

if TYPE_CHECKING:
    from orchestra.journal.store import Store

log = get_logger()

# What an item takes beside its texts, in bytes, roughly.
_ITEM_BYTES = 300


class Journal(Reader):
    """Records and reads; made by `open`. All methods raise StoreError for what is wrong with the store."""

    def __init__(self, store: Store, writer: Writer) -> None:
        super().__init__(store)
        self._writer = writer
        self._live: dict[str, Live] = {}

    @classmethod
    @asynccontextmanager
    async def open(
        cls, url: str | Path = MEMORY, *, secrets: Iterable[str] = (), options: Options | None = None
    ) -> AsyncIterator[Journal]:
        """A store that is open until the block ends, made if it is not there.

        `url`: a file's path, `sqlite:///PATH`, `:memory:` or `postgresql://...`. `secrets`: values that must
        never be written, whatever they look like. Closing waits, bounded and shielded from cancellation,
        until all is written; a loss is raised as StoreError, or noted on the error that ended the block.
        """
        from orchestra.journal.store import Store

        options = options or Options()
        store = await anyio.to_thread.run_sync(partial(Store, read_address(url)))
        maker = RowMaker(Redactor(secrets), owner=this_process())
        writer = Writer(store.write, maker, options)
        failure: BaseException | None = None
        try:
            # The block's own error leaves outside the group, which would wrap it.
            async with anyio.create_task_group() as group:
                group.start_soon(writer.run)
                try:
                    yield cls(store, writer)
                except BaseException as error:  # noqa: BLE001 - raised again below
                    failure = error
                failure = await _closed(writer, failure)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(store.close)
        if failure is not None:
            raise failure

    @property
    def failure(self) -> StoreError | None:
        """Why nothing can be written at the moment; None when all is well."""
        return self._writer.failure

    async def begin(self, start: SessionStart) -> None:
        """A new session; its events can be recorded from now on."""
        live = Live(start.id)
        self._live[start.id] = live
        size = len(start.question) + _ITEM_BYTES
        item = Item(live, start, size, data=encode(start.config))
        await self._writer.room(size)
        self._writer.put(item)

    async def reopen(self, prefix: str) -> SessionRecord:
        """A session that was begun earlier, to be gone on with. Raises InputError where there is none."""
        from orchestra.journal import queries

        found = await self.find_session(prefix)
        last = await self._read(queries.last_seq, found.id)
        live = self._live[found.id] = Live(found.id, seq=last)
        await self._change(live, SessionChange("running", None))
        return found

    async def record(self, event: Event) -> None:
        """Queue an event of a session that was begun; waits only while the queue is full.

        An event that was taken is written even if the caller is cancelled; one whose wait was cancelled
        was not taken. Raises ValueError for an unknown session and TypeError for data that is not JSON.
        """
        live = self._live.get(event.session)
        if live is None:
            raise ValueError(f"The session {event.session!r} was not begun in this journal, or is finished.")
        if live.broken is not None:
            raise live.broken
        data = encode(event.data)
        size = _ITEM_BYTES + len(data)
        for text in event.texts.values():
            if type(text) is not str:
                raise TypeError(f"An event's texts are strings, not {type(text).__name__}.")
            size += len(text)
        await self._writer.room(size)
        live.seq += 1
        self._writer.put(Item(live, event, size, live.seq, data))

    async def finish(self, session: str, status: Status, *, at: float) -> None:
        """The session's end; nothing more is recorded of it here. Unknown sessions are left alone."""
        live = self._live.pop(session, None)
        if live is not None:
            await self._change(live, SessionChange(status, at))

    async def _change(self, live: Live, change: SessionChange) -> None:
        await self._writer.room(_ITEM_BYTES)
        self._writer.put(Item(live, change, _ITEM_BYTES))

    async def flush(self) -> None:
        """Returns when everything recorded so far is durable. Raises StoreError while it cannot be."""
        await self._writer.flush()


async def _closed(writer: Writer, failure: BaseException | None) -> BaseException | None:
    try:
        await writer.close()
    except StoreError as error:
        if failure is None:
            return error
        failure.add_note(str(error))
        log.error("journal.incomplete", reason=str(error))
    return failure
