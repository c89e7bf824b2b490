"""A simulated endpoint that keeps the time of every call, and what its clock says of a crash."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

from msgspec import Struct

from orchestra.load.connection import Connection
from orchestra.load.simulated import Simulated

# What may differ when a call is made again: the time of a tool's result, an id that this endpoint gave.
_NUMBERS = re.compile(rb"[0-9]+")


class Seen(Struct):
    """One request: its body's hash, but for numbers, the process that asked, when the request was whole, when
    its reply's last byte went out (0: not yet), and the CPU seconds that the process had used by then.

    Seconds of the machine's monotonic clock, which is the same in every process.
    """

    body: str
    client: int
    received: float
    answered: float = 0.0
    ran: float = 0.0


class Lost(Struct, frozen=True):
    """A call that had to be made again.

    `age`: seconds from its last byte to the kill, None: in flight; `ran`: the CPU seconds of them that the
    process got, which on a busy machine may be few.
    """

    age: float | None
    ran: float
    aimed: bool


class Killed(Struct, frozen=True):
    """When a process was killed, and the CPU seconds it had used; `aimed` at one of its commits."""

    client: int
    at: float
    ran: float
    aimed: bool


def cpu_seconds(process: int) -> float:
    """What a process has used, all its threads together; 0 for one that is gone (clock_getcpuclockid(3))."""
    try:
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return 0.0


class Clocked(Simulated):
    """Notes each request and when it was answered; `client`: the process that asks."""

    client = 0

    def __init__(self, *given: object, **named: object) -> None:
        super().__init__(*given, **named)  # type: ignore[arg-type]  # handed on as they are
        self.seen: list[Seen] = []

    def _complete(self, connection: Connection, body: bytes) -> None:
        seen = Seen(hashlib.sha256(_NUMBERS.sub(b"0", body)).hexdigest(), self.client, time.monotonic())
        self.seen.append(seen)
        super()._complete(cast(Connection, _Timed(connection, seen, self)), body)


class _Timed:
    """A connection that notes when its reply is out."""

    def __init__(self, connection: Connection, seen: Seen, endpoint: Clocked) -> None:
        self._connection = connection
        self._endpoint = endpoint
        self._seen = seen
        self.send, self.drop = connection.send, connection.drop

    def later(self, seconds: float, data: bytes, done: Callable[[], None]) -> None:
        self._connection.later(seconds, data, self._noted(done))

    def stream(self, events: list[bytes], first: float, each: float, done: Callable[[], None]) -> None:
        self._connection.stream(events, first, each, self._noted(done))

    def _noted(self, done: Callable[[], None]) -> Callable[[], None]:
        def noted() -> None:
            self._seen.answered = time.monotonic()
            self._seen.ran = cpu_seconds(self._endpoint.client)
            done()

        return noted


def lost_calls(seen: Sequence[Seen], kills: Sequence[Killed]) -> list[Lost]:
    """The calls that came again, each as it stood at the kill that made it come again."""
    lost = []
    for place, each in enumerate(seen):
        again = next((later for later in seen[place + 1 :] if later.body == each.body), None)
        if again is None:
            continue
        kill = next((kill for kill in kills if kill.client == each.client), None)
        assert kill is not None, "a call was made twice though nothing was killed"
        answered = 0.0 < each.answered <= kill.at
        age = kill.at - each.answered if answered else None
        lost.append(Lost(age, max(kill.ran - each.ran, 0.0) if answered else 0.0, kill.aimed))
    return lost


def in_flight(seen: Sequence[Seen], at: float) -> int:
    """Calls that had been received and not wholly answered at this moment."""
    return sum(each.received <= at and not 0.0 < each.answered <= at for each in seen)


def answered(name: str, lost: list[Lost]) -> dict[str, Any]:
    """Calls that were made again although answered: how many, how long before the kill, in ms, and for how
    much of the longest the process had a processor."""
    ages = sorted((1e3 * (each.age or 0.0), 1e3 * each.ran) for each in lost) or [(0.0, 0.0)]
    return {
        f"answered_{name}": len(lost),
        f"answered_{name}_p50_ms": round(ages[len(ages) // 2][0], 1),
        f"answered_{name}_max_ms": round(ages[-1][0], 1),
        f"answered_{name}_max_cpu_ms": round(ages[-1][1], 1),
    }
