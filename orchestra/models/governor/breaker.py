"""A circuit breaker: an endpoint that is down is left alone, and tried with one call at a time."""

from __future__ import annotations

import math
from typing import Literal

Circuit = Literal["closed", "open", "half open"]

# With a tenth of all calls failing by chance, eight in a row come once in a hundred million calls; an
# endpoint that is down gives as many at once, or two calls' tries of one lonely session.
FAILURES = 8
# Where many calls are under way, so large a part of them: what fails is quick, and what is answered takes
# its time: of 1,000 calls that begin together fifty may fail before the first is answered.
SHARE = 0.25
FIRST_SECONDS = 5.0
MOST_SECONDS = 60.0


class Breaker:
    """Closed: calls go. Open: none does. Half open, when its time is over: one call goes and decides.

    An answer of any kind, a 429 too, is a sign of life. `failures`: in a row; 0 only while it is closed.
    """

    __slots__ = ("_probing", "_seconds", "_until", "failures")

    def __init__(self) -> None:
        self.failures = 0
        self._probing = False
        self._seconds = 0.0
        self._until = 0.0

    @property
    def closed(self) -> bool:
        return not self._seconds

    def state(self, now: float) -> Circuit:
        return "closed" if self.closed else "open" if 0 < self.wait(now) < math.inf else "half open"

    def wait(self, now: float) -> float:
        """Seconds until a call may go; infinite while another one is the probe."""
        if not self._seconds:
            return 0.0
        return math.inf if self._probing else max(0.0, self._until - now)

    def begin(self) -> bool:
        """A call goes; says whether it is the probe."""
        self._probing = bool(self._seconds)
        return self._probing

    def answered(self) -> None:
        self.failures = 0
        self._seconds = 0.0
        self._probing = False

    def failed(self, now: float, *, probe: bool, under_way: int = 0) -> bool:
        """A call came to nothing; says whether the endpoint is left alone from now on.

        `under_way`: calls that are not answered yet.
        """
        self.failures += 1
        if probe:
            self._seconds = min(MOST_SECONDS, self._seconds * 2)
        elif self.closed and self.failures >= max(FAILURES, SHARE * under_way):
            self._seconds = FIRST_SECONDS
        else:
            return False
        self._probing = False
        self._until = now + self._seconds
        return True

    def gave_up(self, *, probe: bool) -> None:
        """A call ended without an answer and without a failure: it was cancelled."""
        if probe:
            self._probing = False
