"""How many calls at once: halved when the endpoint says too many, raised by one a window."""

from __future__ import annotations

import math


class Concurrency:
    """Additive increase, multiplicative decrease, as TCP does it (RFC 5681, section 3.1).

    `limit` is the number of calls that may be in flight now, `most` the number that was set; infinite for
    none. A window is as many successful calls as may be in flight, about the time of one call. Calls that
    were under way when the limit fell say nothing new when they are refused too: `epoch` is the number
    of the first call from which a refusal counts again.
    """

    __slots__ = ("_epoch", "_successes", "limit", "most")

    def __init__(self, most: int | None) -> None:
        self.most: float = math.inf if most is None else most
        self.limit = self.most
        self._epoch = 0
        self._successes = 0

    def lower(self, call: int, next_call: int, in_flight: int) -> bool:
        """The call of this number was refused; says whether the limit fell."""
        if call < self._epoch:
            return False
        self._epoch = next_call
        self._successes = 0
        self.limit = max(1, (in_flight if math.isinf(self.limit) else int(self.limit)) // 2)
        return True

    def succeeded(self) -> None:
        if self.limit < self.most:
            self._successes += 1
            if self._successes >= self.limit:
                self._successes = 0
                self.limit += 1
