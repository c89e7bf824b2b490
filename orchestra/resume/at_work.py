"""What people ask of the sessions at work here, from whatever process they ask."""

from __future__ import annotations

import anyio

from orchestra.errors import InputError, OrchestraError, RecordDiffers, StoreError
from orchestra.journal.journal import Journal
from orchestra.journal.records import Order, SessionRecord, Status
from orchestra.log import get_logger
from orchestra.session.kit import Kit
from orchestra.session.opening import end_of
from orchestra.session.session import Session
from orchestra.tools.approval import Answer

log = get_logger()

# How often the store is asked while sessions are at work; a stop has to arrive within a second.
LISTEN_SECONDS = 0.25
# A session's end is written even while everything is being cancelled, but not for longer than this.
CLOSING_SECONDS = 5.0


class AtWork:
    """The sessions at work in this runtime, and what is asked of them."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self._obeyed: set[int] = set()
        self._arrived = anyio.Event()

    def hosted(self, kit: Kit, session: Session, record: SessionRecord | None = None) -> _Hosted:
        """Until the session ends, however that is; its end is in the journal then."""
        return _Hosted(self, kit, session, record)

    def begin(self, session: Session) -> None:
        """It can be asked for something from now on."""
        self.sessions[session.id] = session
        self._arrived.set()

    async def catch_up(self, journal: Journal, session: Session) -> None:
        """What was asked before the session went on: answers count, stops are over."""
        for order in await journal.orders([session.id]):
            self._obeyed.add(order.number)
            if order.what != "stop":
                _obey(session, order)

    async def listen(self, journal: Journal) -> None:
        """Until cancelled."""
        while True:
            if not self.sessions:
                self._arrived = anyio.Event()
                await self._arrived.wait()
            await anyio.sleep(LISTEN_SECONDS)
            try:
                orders = await journal.orders(list(self.sessions))
            except StoreError as error:
                log.warning("orders.unread", reason=str(error))
                continue
            for order in orders:
                session = self.sessions.get(order.session)
                if session is not None and order.number not in self._obeyed:
                    self._obeyed.add(order.number)
                    _obey(session, order)


class _Hosted:
    __slots__ = ("_at_work", "_kit", "_record", "_session")

    def __init__(self, at_work: AtWork, kit: Kit, session: Session, record: SessionRecord | None) -> None:
        self._at_work = at_work
        self._kit = kit
        self._session = session
        self._record = record

    async def __aenter__(self) -> None:
        self._at_work.begin(self._session)

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        session, journal = self._session, self._kit.journal
        status: Status = "interrupted"
        try:
            status = self._status(error)
            if status == "failed" and not isinstance(error, RecordDiffers):
                reason = (
                    str(error) if isinstance(error, OrchestraError) else f"{type(error).__name__}: {error}"
                )
                await session.record("failed", data={"reason": reason})
        finally:
            del self._at_work.sessions[session.id]
            at = self._kit.clock()
            if not journal.finish_now(session.id, status, at=at):
                with anyio.move_on_after(CLOSING_SECONDS, shield=True):
                    await journal.finish(session.id, status, at=at)

    def _status(self, error: BaseException | None) -> Status:
        if error is None:
            return end_of(self._session.stopped)
        if not isinstance(error, RecordDiffers):
            return "failed" if isinstance(error, Exception) else "interrupted"
        return status_before(self._record) if self._record is not None and error.agent else "failed"


def status_before(record: SessionRecord) -> Status:
    """Of a session in whose next run nothing was made: as it was."""
    return "interrupted" if record.status in ("cut off", "running", "waiting") else record.status


def _obey(session: Session, order: Order) -> None:
    if order.what != "stop":
        approved = order.what == "approve"
        session.people.answer(order.key, Answer(approved=approved, reason=order.reason, by=order.who))
        return
    try:
        session.stop(order.reason, who=order.who, agent=order.agent, tool=order.tool)
    except InputError as error:
        log.warning("order.refused", session=session.id, reason=str(error))
