"""The one task that writes: groups what is recorded, commits in a worker thread, tries again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import groupby

import anyio
import anyio.to_thread

from orchestra.errors import StoreError
from orchestra.journal.checkpoints import Checkpoints
from orchestra.journal.faults import SessionTaken, StoreBusy, TextsUnsure
from orchestra.journal.queue import Options, Queue
from orchestra.journal.rows import Item, Rows
from orchestra.journal.waiting import Waiting
from orchestra.log import get_logger

log = get_logger()

_FIRST_PAUSE_SECONDS = 0.01
_LONGEST_PAUSE_SECONDS = 1.0


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
        self.queue = Queue(options)
        self._scope = anyio.CancelScope(shield=True)
        self._waiting = Waiting()
        self._ended = anyio.Event()
        self._look: asyncio.TimerHandle | None = None  # when those who wait for a while look up
        # Its own: a thread must be free for the journal however many tools are at work.
        self._limiter = anyio.CapacityLimiter(1)

    async def put(self, item: Item) -> None:
        """As the queue's `offer`, waiting for room. Raises StoreError."""
        while not self.queue.offer(item):
            await self.room(item.size)

    async def room(self, size: int) -> None:
        """Where an item of this size had no room: returns when it may have. Raises StoreError."""
        if self.queue.closing or self.failure is not None:
            raise self.failure or StoreError("The journal is closed.")
        self.queue.hurry()
        try:
            await self._waiting.room(size)
        except BaseException:
            self.pass_on()
            raise

    def pass_on(self) -> None:
        """Who was given room takes none: the next may."""
        if self.queue.has_room(0):
            self._waiting.room_for(1, 1)

    async def flush(self, until: int | None = None) -> None:
        """Returns when all that was put so far (`until`: up to there) is durable.

        Raises StoreError while it cannot be written.
        """
        queue = self.queue
        target = queue.accepted if until is None else until
        while queue.written < target:
            if self.failure is not None:
                raise self.failure
            if self._ended.is_set():
                raise StoreError("The journal is closed.")
            queue.hurry()
            await self._waiting.until(target)

    def settled(self, until: int, patience: float) -> asyncio.Future[bool] | None:
        """What is done when everything up to a mark is durable, or when that takes longer than `patience`.

        That is in seconds, once or twice so many: who waits so shares one timer, as one for each of many
        short waits would cost more than the waits. None: there is nothing to wait for, as it is durable or
        cannot be made so now.
        """
        queue = self.queue
        if queue.written >= until or self.failure is not None or self._ended.is_set():
            return None
        queue.hurry()
        if self._look is None:
            self._look_again(patience)
        return self._waiting.until(until)

    def _look_again(self, patience: float) -> None:
        self._look = asyncio.get_running_loop().call_later(patience, self._look_up, patience)

    def _look_up(self, patience: float) -> None:
        """Who has waited long enough goes on."""
        self._look = None
        if self._waiting.look():
            self._look_again(patience)

    async def close(self) -> None:
        """Write what is left, within `close_seconds`, whatever is cancelled. Raises StoreError for a loss."""
        self.queue.close()
        if self._look is not None:
            self._look.cancel()
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(self.options.close_seconds):
                await self._ended.wait()
            self._scope.cancel()
            await self._ended.wait()
        lost = self.queue.accepted - self.queue.written
        if lost:
            why = self.failure or "The store did not answer in time."
            last = "last event is" if lost == 1 else f"last {lost:,} events are"
            raise StoreError(f"{why} The {last} not in the journal.")

    async def run(self) -> None:
        """Until closed and drained."""
        with self._scope:
            try:
                async with anyio.create_task_group() as beside:
                    while await self.queue.ready(at_once=bool(self._waiting)):
                        group, size = self.queue.take()
                        await self._commit(group)
                        await self._checkpoints.after(size, beside)
            finally:
                self._ended.set()
                self._waiting.all()

    async def _commit(self, group: list[Item]) -> None:
        try:
            await self._persist(group)
        except SessionTaken:
            await self._one_by_one(group)
        self.queue.wrote()
        self._waiting.room_for(*self.queue.room())
        self._waiting.written(self.queue.written)

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
                live.open = False
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
