"""Rate limits as providers keep them: buckets that refill all the time."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from orchestra.load.behaviour import Behaviour


class Over(Struct, frozen=True):
    """A limit that is reached; `wait_seconds` until there is room, 0 where that is not known."""

    message: str
    wait_seconds: float


class Limits:
    """Buckets of requests and tokens; each holds a minute's worth and starts full."""

    def __init__(self, behaviour: Behaviour, clock: Callable[[], float]) -> None:
        self._behaviour = behaviour
        self._clock = clock
        self._at = clock()
        self._requests = float(behaviour.requests_per_minute or 0)
        self._tokens = float(behaviour.tokens_per_minute or 0)

    def over(self, tokens: int, in_flight: int) -> Over | None:
        """Take one request of so many tokens from the buckets, or say which one has too little."""
        behaviour = self._behaviour
        if behaviour.concurrent is not None and in_flight >= behaviour.concurrent:
            return Over(f"Concurrency limit of {behaviour.concurrent} requests reached.", 0.0)
        self._refill()
        if behaviour.requests_per_minute is not None and self._requests < 1.0:
            return self._message("requests", behaviour.requests_per_minute, 1.0 - self._requests)
        if behaviour.tokens_per_minute is not None and self._tokens < tokens:
            return self._message("tokens", behaviour.tokens_per_minute, tokens - self._tokens)
        self._requests -= 1.0
        self._tokens -= tokens
        return None

    def _refill(self) -> None:
        now = self._clock()
        minutes, self._at = (now - self._at) / 60, now
        for name, limit in (
            ("_requests", self._behaviour.requests_per_minute),
            ("_tokens", self._behaviour.tokens_per_minute),
        ):
            if limit is not None:
                setattr(self, name, min(float(limit), getattr(self, name) + limit * minutes))

    def _message(self, what: str, limit: int, missing: float) -> Over:
        seconds = missing / limit * 60
        return Over(
            f"Rate limit reached: {limit} {what} per minute. Please try again in {seconds:.3f}s.", seconds
        )
