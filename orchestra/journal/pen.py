"""What one session writes with."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from orchestra.errors import StoreError
from orchestra.journal.encoding import encode
from orchestra.journal.rows import ITEM_BYTES, Line, Live
from orchestra.journal.writer import Writer
from orchestra.values.events import Event, EventKind

Watch = Callable[[Event], None]


class Pen:
    """One session's way into the journal; made by `Journal.pen`.

    An event comes as its parts (see `values.events.Event`): most are never looked at again but as rows.
    `watch` is shown what was taken.
    """

    __slots__ = ("_live", "_queue", "_watch", "_writer")

    def __init__(self, live: Live, writer: Writer, watch: Watch | None = None) -> None:
        self._live = live
        self._queue = writer.queue
        self._writer = writer
        self._watch = watch

    def offer(
        self,
        agent: str,
        turn: int,
        kind: EventKind,
        at: float,
        data: Mapping[str, Any],
        texts: Mapping[str, str],
    ) -> bool:
        """As `put`, where that need not wait; False, and nothing is taken, where it would."""
        live = self._live
        if not live.open:
            self._refuse()
        told, seq = encode(data), live.seq + 1
        size = ITEM_BYTES + len(told)
        if texts:
            size += _size_of(texts)
        if not self._queue.offer(Line(live, seq, size, agent, turn, kind, at, told, texts)):
            return False
        live.seq = seq
        if self._watch is not None:
            session = live.session
            self._watch(
                Event(session=session, agent=agent, turn=turn, kind=kind, at=at, data=data, texts=texts)
            )
        return True

    async def put(
        self,
        agent: str,
        turn: int,
        kind: EventKind,
        at: float,
        data: Mapping[str, Any],
        texts: Mapping[str, str],
    ) -> None:
        """Queue an event; waits only while the queue is full.

        An event that was taken is written even if the caller is cancelled; one whose wait was cancelled
        was not taken. Raises ValueError for a session that was not begun or is over, StoreError where
        another process writes it, and TypeError for data that is not JSON.
        """
        try:
            while not self.offer(agent, turn, kind, at, data, texts):
                await self._writer.room(ITEM_BYTES + len(encode(data)) + _size_of(texts))
        except BaseException:
            self._writer.pass_on()
            raise

    def mark(self) -> int:
        """How far the record has come, for what follows here."""
        return self._queue.accepted

    def is_safe(self, mark: int) -> bool:
        """Whether everything up to a mark is durable."""
        return self._queue.written >= mark

    def settled(self, mark: int, patience: float) -> Future[bool] | None:
        """See `Writer.settled`."""
        return self._writer.settled(mark, patience)

    async def durable(self, mark: int) -> None:
        """Everything up to a mark is safe, where the store takes it; a run goes on without."""
        with suppress(StoreError):
            await self._writer.flush(mark)

    def _refuse(self) -> None:
        live = self._live
        raise live.broken or ValueError(
            f"The session {live.session!r} was not begun in this journal, or is finished."
        )


def _size_of(texts: Mapping[str, str]) -> int:
    """Their length together. Whatever is no string is told from it here, and not in the writer's thread."""
    try:
        return len("".join(texts.values()))
    except TypeError as error:
        raise TypeError(f"An event's texts are strings: {error}.") from None
