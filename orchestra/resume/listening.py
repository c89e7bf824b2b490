"""What people ask of the sessions at work here, from whatever process they ask."""

from __future__ import annotations

import anyio

from orchestra.errors import InputError, StoreError
from orchestra.journal.journal import Journal
from orchestra.journal.records import Order
from orchestra.log import get_logger
from orchestra.session.session import Session
from orchestra.tools.approval import Answer

log = get_logger()

# How often the store is asked while sessions are at work; a stop has to arrive within a second.
LISTEN_SECONDS = 0.25


class Listener:
    """The sessions at work in this runtime, and what is asked of them."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self._obeyed: set[int] = set()
        self._arrived = anyio.Event()

    def add(self, session: Session) -> None:
        """A session begins or goes on."""
        self.sessions[session.id] = session
        self._arrived.set()

    def remove(self, session: Session) -> None:
        """It has ended."""
        del self.sessions[session.id]

    async def catch_up(self, journal: Journal, session: Session) -> None:
        """What was asked before the session went on: answers count, stops are over."""
        for order in await journal.orders([session.id]):
            self._obeyed.add(order.number)
            if order.what != "stop":
                _obey(session, order)

    async def run(self, journal: Journal) -> None:
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


def _obey(session: Session, order: Order) -> None:
    if order.what != "stop":
        approved = order.what == "approve"
        session.people.answer(order.key, Answer(approved=approved, reason=order.reason, by=order.who))
        return
    try:
        session.stop(order.reason, who=order.who, agent=order.agent, tool=order.tool)
    except InputError as error:
        log.warning("order.refused", session=session.id, reason=str(error))
