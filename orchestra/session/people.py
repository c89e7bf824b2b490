"""What a session asks of people: it waits for their answers, and knows those it has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from orchestra.journal.track import Track
from orchestra.log import get_logger
from orchestra.session.places import Places
from orchestra.tools.approval import Answer, Asked
from orchestra.tools.place import Place

log = get_logger()


class People:
    """One session's questions. `told(waiting)` is called when the session begins and ends to wait.

    `durable` returns when what was recorded is safe.
    """

    def __init__(
        self,
        places: Places,
        *,
        told: Callable[[bool], Awaitable[None]],
        durable: Callable[[], Awaitable[None]],
    ) -> None:
        self.pending: dict[str, Asked] = {}
        self._places = places
        self._told = told
        self._durable = durable
        self._given: dict[str, Answer] = {}
        self._arrived: anyio.Event | None = None  # there while somebody waits

    def answer(self, key: str, answer: Answer) -> None:
        """A person's answer, now or before it is asked for; the first one counts."""
        self._given.setdefault(key, answer)
        if self._arrived is not None:
            self._arrived.set()
            self._arrived = None

    async def ask(self, asked: Asked, track: Track, place: Place | None) -> Answer:
        """Waits, for days if need be, until a person has answered; the record may have the answer."""
        about = {"key": asked.key, "what": asked.what, "tool": asked.tool, "state": "asked"}
        await track.put("approval", about, {"detail": asked.detail})
        past = track.recording.past
        recorded = past.answers.get(asked.key) if past is not None else None
        if recorded is not None:
            answer = Answer(approved=recorded["approved"], reason=recorded["reason"], by=recorded["by"])
        else:
            await track.missing()
            answer = self._given.get(asked.key) or await self._wait(asked, place)
        said = {"approved": answer.approved, "reason": answer.reason, "by": answer.by}
        await track.put("approval", {**about, "state": "answered", **said})
        await self._durable()
        return answer

    async def _wait(self, asked: Asked, place: Place | None) -> Answer:
        self.pending[asked.key] = asked
        log.warning("approval.asked", key=asked.key, what=asked.what)
        try:
            if len(self.pending) == 1:
                await self._told(True)
            await self._durable()
            async with self._places.waiting(place):
                while asked.key not in self._given:
                    if self._arrived is None:
                        self._arrived = anyio.Event()
                    await self._arrived.wait()
        finally:
            del self.pending[asked.key]
            if not self.pending:
                with anyio.CancelScope(shield=True):
                    await self._told(False)
        return self._given[asked.key]
