"""The sessions at work in a runtime, and how they are brought to an end when it closes."""

from __future__ import annotations

from types import TracebackType
from typing import Literal

import anyio

from orchestra.errors import RunError
from orchestra.session.gate import Gate
from orchestra.session.session import INTERRUPTED, Session
from orchestra.tools.within import stoppable

# What a session that was told to stop has for its last words: a report of what it found, and its end in
# the journal.
STOPPING_SECONDS = 5.0


class _Hosted:
    __slots__ = ("_inside", "_scope", "_session")

    def __init__(self, inside: dict[str, tuple[Session, anyio.CancelScope]], session: Session) -> None:
        self._inside = inside
        self._session = session
        self._scope = stoppable()

    def __enter__(self) -> None:
        self._scope.__enter__()
        self._inside[self._session.id] = self._session, self._scope

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        del self._inside[self._session.id]
        if not self._scope.__exit__(kind, error, trace):
            return False
        raise RunError(
            f"Session {self._session.id} was stopped because its runtime shut down; "
            "what it did until then is in the journal."
        ) from None


class House:
    """Who is inside. A session that is still at work when time is up is stopped and can be resumed."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self._inside: dict[str, tuple[Session, anyio.CancelScope]] = {}

    def hosted(self, session: Session) -> _Hosted:
        """Until the session's block ends. Raises RunError where it had to be cancelled."""
        return _Hosted(self._inside, session)

    async def drain(self, seconds: float | None) -> None:
        """Take nobody in, wait so long for who is at work (None: as long as it takes), then stop them.

        First they are asked, which leaves a report of what there is; who does not answer is cancelled.
        """
        self.gate.close()
        with anyio.CancelScope(shield=True):
            if await self._emptied(seconds):
                return
            for session, _ in list(self._inside.values()):
                session.stop(INTERRUPTED, who="the runtime, which shut down")
            if await self._emptied(STOPPING_SECONDS):
                return
            for _, scope in list(self._inside.values()):
                scope.cancel()
            await self._emptied(STOPPING_SECONDS)

    async def _emptied(self, seconds: float | None) -> bool:
        if not self.gate.statistics.active:
            return True
        with anyio.move_on_after(seconds):
            await self.gate.emptied()
        return not self.gate.statistics.active
