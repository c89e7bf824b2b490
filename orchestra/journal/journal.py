"""The journal: the append-only record of everything that happened in all sessions.

    async with Journal.open(".orchestra/store.db", secrets=keys) as journal:
        await journal.begin(SessionStart(id=..., question=..., created=...))
        await journal.record(event)         # queued; waits only while the queue is full
        await journal.flush()               # durable, even if the process is killed now
        await journal.finish(session, "done", at=...)

Many sessions and many processes may write the same store; a session is written by one process at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from orchestra.errors import InputError, StoreError
from orchestra.journal.address import MEMORY, read_address
from orchestra.journal.encoding import encode
from orchestra.journal.pen import Pen, Watch
from orchestra.journal.queue import Options
from orchestra.journal.reading import Reader, is_gone, this_process
from orchestra.journal.records import Fork, Order, SessionRecord, Status
from orchestra.journal.rows import ITEM_BYTES, Change, Live, RowMaker, SessionChange, SessionStart
from orchestra.journal.writer import Writer
from orchestra.log import get_logger
from orchestra.redact import Redactor
from orchestra.values.events import Event

if TYPE_CHECKING:
    from orchestra.journal.store import Store

log = get_logger()

_PATIENCE_SECONDS = 0.1


class Journal(Reader):
    """Records and reads; made by `open`. All methods raise StoreError for what is wrong with the store."""

    def __init__(self, store: Store, writer: Writer, clean: Redactor) -> None:
        super().__init__(store)
        self._shared: dict[int, str] | None = {} if store.tells_changes else None
        self._writer = writer
        self._clean = clean
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
        clean = Redactor(secrets)
        maker = RowMaker(clean, owner=this_process())
        writer = Writer(store.write, maker, options, store.checkpoint)
        failure: BaseException | None = None
        try:
            # The block's own error leaves outside the group, which would wrap it.
            async with anyio.create_task_group() as group:
                group.start_soon(writer.run)
                try:
                    yield cls(store, writer, clean)
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
        live = Live(start.id, shared=self._shared)
        self._live[start.id] = live
        size = len(start.question) + ITEM_BYTES
        await self._writer.put(Change(live, start, size, encode(start.config)))

    async def reopen(self, prefix: str) -> SessionRecord:
        """A session that was begun earlier, to be gone on with.

        Raises InputError where there is none, and where a process that lives is at work on it.
        """
        from orchestra.journal import orders, queries

        await self._writer.flush()  # it may have ended here a moment ago
        found = await self.find_session(prefix)
        mine = this_process()
        at_work = found.status in ("running", "waiting") and not is_gone(found.owner)
        here = at_work and found.owner != mine and found.owner.partition(":")[0] == mine.partition(":")[0]
        if found.id in self._live or here:
            raise InputError(
                f"The session {found.id} is being run by the process {found.owner}: stop it first."
            )
        with anyio.CancelScope(shield=True):  # taken over it has to be known here, to be let go of again
            if not await self._read(orders.take_over, found.id, found.owner, mine):
                raise InputError(f"The session {found.id} was just taken up by another process.")
            self._live[found.id] = Live(found.id, shared=self._shared)
            self._live[found.id].seq = await self._read(queries.last_seq, found.id)
        return found

    async def fork(self, source: SessionRecord, new: Fork, question: str | None = None) -> None:
        """A new session from a point of another; `question` in place of its own. Raises InputError."""
        from orchestra.journal import forking, queries

        forking.check_event(source, new.at, await self._read(queries.last_seq, source.id))
        if question is not None:
            await self.begin(SessionStart(id=new.id, question=question, created=new.created))
        try:
            if question is not None:
                await self.flush()
            await self._read(forking.fork, source, new, question is not None)
        except BaseException:  # it has begun, and will not go on
            self.finish_now(new.id, "failed", at=new.created)
            raise
        self._live.pop(new.id, None)

    async def give(self, order: Order) -> None:
        """Ask something of a session, whichever process runs it."""
        from orchestra.journal import orders

        await self._read(orders.give, order)

    async def orders(self, sessions: Sequence[str]) -> tuple[Order, ...]:
        """What people have asked of these sessions."""
        from orchestra.journal import orders

        return await self._read(orders.given, tuple(sessions))

    @property
    def clean(self) -> Redactor:
        """What takes secrets out of a text before it is written."""
        return self._clean

    async def change(self, session: str, status: Status) -> None:
        """A session that goes on is now in this state."""
        live = self._live.get(session)
        if live is not None:
            await self._writer.put(Change(live, SessionChange(status, None)))

    async def durable(self) -> None:
        """As `flush`, with patience: waits up to `durable_seconds` for a store that takes nothing."""
        until = anyio.current_time() + self._writer.options.durable_seconds
        while True:
            try:
                await self.flush()
            except StoreError:
                if anyio.current_time() >= until:
                    raise
                await anyio.sleep(_PATIENCE_SECONDS)
            else:
                return

    def pen(self, session: str, watch: Watch | None = None) -> Pen:
        """What a session that was begun writes with; any other one's refuses. `watch` sees what it took."""
        live = self._live.get(session)
        if live is None:
            live = Live(session)
            live.open = False
        return Pen(live, self._writer, watch)

    async def record(self, event: Event) -> None:
        """Queue an event of a session that was begun; see `Pen.put`."""
        pen = self.pen(event.session)
        await pen.put(event.agent, event.turn, event.kind, event.at, event.data, event.texts)

    async def finish(self, session: str, status: Status, *, at: float) -> None:
        """The session's end; nothing more is recorded of it here. Unknown sessions are left alone."""
        live = self._live.pop(session, None)
        if live is not None:
            live.open = False
            await self._writer.put(Change(live, SessionChange(status, at)))

    def finish_now(self, session: str, status: Status, *, at: float) -> bool:
        """As `finish`, where that need not wait; False, and nothing is done, where it would."""
        live = self._live.get(session)
        if live is None:
            return True
        if not self._writer.queue.offer(Change(live, SessionChange(status, at))):
            return False
        live.open = False
        del self._live[session]
        return True

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
