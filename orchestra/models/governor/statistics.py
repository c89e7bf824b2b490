"""What a governor has seen, for people and for tests."""

from __future__ import annotations

from msgspec import Struct

from orchestra.models.governor.breaker import Circuit


class GovernorStatistics(Struct, frozen=True, kw_only=True):
    """One endpoint, now and since the start.

    `in_flight` and `queued` are calls now; `concurrent_calls` may be in flight now, `requests_per_minute`
    and `tokens_per_minute` are in force, set or learnt; None means no limit. `calls` were let through,
    `waits` of them had to wait, `waited_seconds` together. `throttled` were answered 429, `failed` not at
    all, `overloaded` were turned away because the queue was full. `tokens` as the endpoint reported them.
    `paused_seconds`: how long no call goes from now on, because the endpoint asked for it.
    """

    endpoint: str
    in_flight: int
    queued: int
    concurrent_calls: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    calls: int
    waits: int
    waited_seconds: float
    throttled: int
    failed: int
    overloaded: int
    tokens: int
    paused_seconds: float
    circuit: Circuit
