"""How often the garbage collector looks, while sessions are hosted."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# The interpreter looks after 700 new objects that may hold others: some twenty times a session, and nearly
# all that it looks at then is still in use. After so many it is a tenth of the CPU less, and what waits to
# be found is a few MB (of 5,000, 10,000, 20,000 and 50,000, where the last two gained nothing more).
_NEW_OBJECTS = 10_000
# What a session at work holds is no garbage: some 500 such objects while its agents wait for their models.
# Without this, 500 sessions that begin together are looked through again and again as they grow: 0.9 ms of
# CPU for each, and pauses of 50 to 130 ms for all.
_OBJECTS_A_SESSION = 600
_STEP = 16  # sessions


class Pace:
    """How many new objects the collector waits for; as long as nobody else says."""

    def __init__(self) -> None:
        self._sessions = 0
        self._ours = (_NEW_OBJECTS, *gc.get_threshold()[1:])
        gc.set_threshold(*self._ours)

    @property
    def kept(self) -> bool:
        """Whether nobody has changed it meanwhile."""
        return gc.get_threshold() == self._ours

    def at_work(self, sessions: int) -> None:
        """So many sessions are at work now."""
        sessions -= sessions % _STEP
        if sessions != self._sessions and self.kept:
            self._sessions = sessions
            self._ours = (_NEW_OBJECTS + sessions * _OBJECTS_A_SESSION, *self._ours[1:])
            gc.set_threshold(*self._ours)


@contextmanager
def collected_seldom() -> Iterator[Pace | None]:
    """The collector looks less often inside the block; one that is off, or looks less often, stays so."""
    before = gc.get_threshold()
    if not 0 < before[0] < _NEW_OBJECTS:
        yield None
        return
    pace = Pace()
    try:
        yield pace
    finally:
        if pace.kept:
            gc.set_threshold(*before)
