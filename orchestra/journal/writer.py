"""The one task that writes: groups what is recorded, commits in a worker thread, tries again."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import groupby

import anyio
import anyio.to_thread
from msgspec import Struct

from orchestra.errors import StoreError
from orchestra.journal.checkpoints import Checkpoints
from orchestra.journal.faults import SessionTaken, StoreBusy, TextsUnsure
from orchestra.journal.rows import Item, Rows
from orchestra.journal.waiting import Waiting
from orchestra.log import get_logger

log = get_logger()

_FIRST_PAUSE_SECONDS = 0.01
_LONGEST_PAUSE_SECONDS = 1.0


class Options(Struct, frozen=True, kw_only=True):
    """How the journal writes.

    A group is committed `group_seconds` after its first item, or when it has `group_events` items or
    `group_bytes` of text, or when somebody waits in `flush`. `queue_events` and `queue_bytes` bound what
    waits to be written; `record` waits while either is reached. `locked_seconds`: how long a lock of
    another process is nobody's fault. `close_seconds`: how long closing tries to write what is left.
    `durable_seconds`: how long what must be safe before it goes on waits for a store that takes nothing.
    `checkpoint_bytes`: after so much, what is committed is brought to its place, beside the next commits.
    """

    group_seconds: float = 0.05
    group_events: int = 512
    group_bytes: int = 1_000_000
    queue_events: int = 2_048
    queue_bytes: int = 8_000_000
    locked_seconds: float = 10.0
    close_seconds: float = 10.0
    durable_seconds: float = 60.0
    checkpoint_bytes: int = 16_000_000


class Writer:
    """A bounded queue and the task that drains it (`run`, shielded until `close`).

    What cannot be written stays in the queue and is tried again for ever, with pauses; meanwhile
    `failure` says what is wrong, `flush` raises it, and `room` raises it once the queue is full.
    """

    def __init__(
        self,
        write: Callable[[Rows], None],
        make: Callable[[Sequence[Item]], Rows],
        options: Options,
        checkpoint: Callable[[], object] = int,
    ) -> None:
        self.failure: StoreError | None = None
        self._write = write
        self._make = make
        self._checkpoints = Checkpoints(checkpoint, options.checkpoint_bytes)
        self.options = options
        self._queue: deque[Item] = deque()
        self._bytes = 0  # of the queue and of the group at work
        self._accepted = 0
        self._written = 0
        self._closing = False
        self._scope = anyio.CancelScope(shield=True)
        self._arrived = anyio.Event()  # the queue is not empty
        self._urgent = anyio.Event()  # do not wait for a fuller group
        self._waiting = Waiting()
        self._ended = anyio.Event()
        self._look: asyncio.TimerHandle | None = None  # when those who wait for a while look up
        # Its own: a thread must be free for the journal however many tools are at work.
        self._limiter = anyio.CapacityLimiter(1)

    async def put(self, item: Item) -> None:
        """As `offer`, waiting for room. Raises StoreError."""
        while not self.offer(item):
            await self.room(item.size)

    async def room(self, size: int) -> None:
        """Where an item of this size had no room: returns when it may have. Raises StoreError."""
        if self._closing or self.failure is not None:
            raise self.failure or StoreError("The journal is closed.")
        self._urgent.set()
        try:
            await self._waiting.room(size)
        except BaseException:
            self.pass_on()
            raise

    def pass_on(self) -> None:
        """Who was given room takes none: the next may."""
        if self._has_room(0):
            self._waiting.room_for(1, 1)

    def offer(self, item: Item) -> bool:
        """Queue it, if it has room at once. Once queued it is written, whatever is cancelled."""
        if not self._has_room(item.size):
            return False
        queue, options = self._queue, self.options
        queue.append(item)
        self._accepted += 1
        self._bytes += item.size
        if len(queue) == 1:
            self._arrived.set()
        if len(queue) >= options.group_events or self._bytes >= options.group_bytes:
            self._urgent.set()
        return True

    def _has_room(self, size: int) -> bool:
        if self._closing:
            return False
        waiting, options = self._accepted - self._written, self.options
        return not waiting or (waiting < options.queue_events and self._bytes + size <= options.queue_bytes)

    def hurry(self) -> int:
        """Write what was put so far at once; returns how much that is, for `flush`."""
        if self._written < self._accepted:
            self._urgent.set()
        return self._accepted

    async def flush(self, until: int | None = None) -> None:
        """Returns when all that was put so far (`until`: up to there) is durable.

        Raises StoreError while it cannot be written.
        """
        target = self._accepted if until is None else until
        while self._written < target:
            if self.failure is not None:
                raise self.failure
            if self._ended.is_set():
                raise StoreError("The journal is closed.")
            self._urgent.set()
            await self._waiting.until(target)

    async def settled(self, until: int, patience: float) -> bool:
        """As `flush`, for about so many seconds: False where it takes longer than once or twice that.

        Who waits so shares one timer: one for each of many short waits would cost more than the waits.
        """
        late = time.monotonic() + patience
        while self._written < until:
            if self.failure is not None:
                raise self.failure
            if self._ended.is_set():
                raise StoreError("The journal is closed.")
            if time.monotonic() >= late:
                return False
            if self._look is None:
                self._look = asyncio.get_running_loop().call_later(patience, self._look_up)
            self._urgent.set()
            await self._waiting.until(until)
        return True

    def _look_up(self) -> None:
        """Who waits sees how long it has."""
        self._look = None
        self._waiting.all()

    async def close(self) -> None:
        """Write what is left, within `close_seconds`, whatever is cancelled. Raises StoreError for a loss."""
        self._closing = True
        if self._look is not None:
            self._look.cancel()
        self._arrived.set()
        self._urgent.set()
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(self.options.close_seconds):
                await self._ended.wait()
            self._scope.cancel()
            await self._ended.wait()
        lost = self._accepted - self._written
        if lost:
            why = self.failure or "The store did not answer in time."
            last = "last event is" if lost == 1 else f"last {lost:,} events are"
            raise StoreError(f"{why} The {last} not in the journal.")

    async def run(self) -> None:
        """Until closed and drained."""
        with self._scope:
            try:
                async with anyio.create_task_group() as beside:
                    while await self._something():
                        group, size = self._group()
                        await self._commit(group, size)
                        await self._checkpoints.after(size, beside)
            finally:
                self._ended.set()
                self._waiting.all()

    async def _something(self) -> bool:
        """Waits for a group worth writing; False when there will be none."""
        if not self._queue and not self._closing:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        if not self._closing and not self._waiting:
            with anyio.move_on_after(self.options.group_seconds):
                await self._urgent.wait()
        if not self._closing:
            self._urgent = anyio.Event()
        return bool(self._queue)

    def _group(self) -> tuple[list[Item], int]:
        """Takes the next group from the queue: its items and their size."""
        queue, options = self._queue, self.options
        if len(queue) <= options.group_events and self._bytes <= options.group_bytes:
            group = list(queue)
            queue.clear()
            return group, self._bytes
        group, size = [], 0
        while queue and len(group) < options.group_events and size < options.group_bytes:
            group.append(queue.popleft())
            size += group[-1].size
        return group, size

    async def _commit(self, group: list[Item], size: int) -> None:
        try:
            await self._persist(group)
        except SessionTaken:
            await self._one_by_one(group)
        self._written += len(group)
        self._bytes -= size
        options = self.options
        events = options.queue_events - self._accepted + self._written
        self._waiting.room_for(events, options.queue_bytes - self._bytes)
        self._waiting.written(self._written)

    async def _persist(self, group: Sequence[Item]) -> None:
        """Tries until it is written. Raises SessionTaken, which no patience mends.

        Rows are made and written by one visit to the thread: each costs a turn of a busy loop.
        """
        rows: Rows | None = None

        def work() -> None:
            nonlocal rows
            rows = rows or self._make(group)
            self._write(rows)

        began = anyio.current_time()
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                await anyio.to_thread.run_sync(work, limiter=self._limiter)
            except SessionTaken:
                raise
            except TextsUnsure:
                _forget(group)
                rows = None
                continue
            except StoreError as error:
                patient = anyio.current_time() - began < self.options.locked_seconds
                if not (isinstance(error, StoreBusy) and patient):
                    self._fail(error)
            else:
                self.failure = None
                return
            await anyio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    def _fail(self, error: StoreError) -> None:
        if self.failure is None:
            log.error("journal.failed", reason=str(error))
        self.failure = error
        self._waiting.all()

    async def _one_by_one(self, group: list[Item]) -> None:
        """A session that another process writes must not hold up the others of its group."""
        ordered = sorted(group, key=lambda item: item.live.session)
        for _, items in groupby(ordered, key=lambda item: item.live.session):
            of_session = list(items)
            live = of_session[0].live
            _forget(of_session[:1])
            try:
                await self._persist(of_session)
            except SessionTaken:
                live.broken = StoreError(
                    f"The session {live.session} is already in the store or written by another process: "
                    "its further events are not recorded here."
                )
                _forget(of_session)
                log.error("journal.session_taken", session=live.session)


def _forget(group: Sequence[Item]) -> None:
    """Nothing of these was written, though their texts are known as stored."""
    for item in group:
        item.live.forget()
