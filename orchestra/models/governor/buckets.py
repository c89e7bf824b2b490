"""The two buckets of an endpoint, requests and tokens, set by a person or learnt."""

from __future__ import annotations

from orchestra.models.governor.bucket import Bucket
from orchestra.models.governor.said import Said, Window
from orchestra.models.settings import Rates

SPARE_SHARE = 0.01
"""Of a minute's tokens: so much may the estimates of all calls in flight be too low without a 429."""


class Buckets:
    """Where no limit is known there is no bucket. What a person set is never raised by what is heard.

    `limited`: there is a bucket.
    """

    __slots__ = ("_rates", "_requests", "_tokens", "limited")

    def __init__(self, rates: Rates, now: float) -> None:
        self._rates = rates
        self._requests = self._bucket(rates.requests_per_minute, now, 0.0)
        self._tokens = self._bucket(rates.tokens_per_minute, now, SPARE_SHARE)
        self.limited = self._requests is not None or self._tokens is not None

    @property
    def requests_per_minute(self) -> int | None:
        return None if self._requests is None else int(self._requests.per_minute)

    @property
    def tokens_per_minute(self) -> int | None:
        return None if self._tokens is None else int(self._tokens.per_minute)

    def wait(self, tokens: int, now: float) -> float:
        """Seconds until there is room for one request of so many tokens."""
        wait = 0.0 if self._requests is None else self._requests.wait(1, now)
        return wait if self._tokens is None else max(wait, self._tokens.wait(tokens, now))

    def correct(self, requests: int, tokens: int, number: int) -> None:
        """Take so many more for the call of this number; negative gives back."""
        for bucket, amount in ((self._requests, requests), (self._tokens, tokens)):
            if bucket is not None and amount > 0:
                bucket.take(amount, number)
            elif bucket is not None and amount:
                bucket.give_back(-amount, number)

    def emptied(self, tokens: int, retry_after: float | None, now: float) -> None:
        """The endpoint had too little for so many tokens, and will have enough in so many seconds."""
        if retry_after is None:
            return
        if self._requests is not None:
            self._requests.fall_to(1 - self._requests.per_second * retry_after, now)
        if self._tokens is not None:
            self._tokens.fall_to(tokens - self._tokens.per_second * retry_after, now)

    def drain_seconds(self, requests: int, tokens: int) -> float:
        """How long so much takes at the limits."""
        seconds = 0.0 if self._requests is None else requests / self._requests.per_second
        return seconds if self._tokens is None else max(seconds, tokens / self._tokens.per_second)

    def learn(self, said: Said, now: float, age_seconds: float, in_flight: tuple[int, int]) -> bool:
        """Take over what an endpoint said `age_seconds` ago; says whether a limit is another one now.

        `in_flight`: requests and tokens under way, which the endpoint need not have counted yet.
        """
        old = self._requests, self._tokens
        calls, tokens = in_flight
        self._requests = self._heard("requests", self._requests, said.requests, now)
        self._tokens = self._heard("tokens", self._tokens, said.tokens, now)
        self.limited = self._requests is not None or self._tokens is not None
        for bucket, known, window, flying in (
            (self._requests, old[0], said.requests, calls),
            (self._tokens, old[1], said.tokens, tokens),
        ):
            if bucket is None or window is None or window.remaining is None:
                continue
            if known is None:  # nothing was taken from it for calls that are under way
                bucket.fall_to(window.remaining - flying, now)
            else:  # what was left when the call began; meanwhile the bucket has filled
                bucket.fall_to(window.remaining + bucket.per_second * age_seconds, now)
        return old != (self._requests, self._tokens)

    def _heard(self, kind: str, bucket: Bucket | None, window: Window | None, now: float) -> Bucket | None:
        if window is None:
            return bucket
        most = self._rates.requests_per_minute if kind == "requests" else self._rates.tokens_per_minute
        limit = window.per_minute if most is None else min(most, window.per_minute)
        if bucket is not None and bucket.per_minute == limit:
            return bucket
        made = self._bucket(limit, now, SPARE_SHARE if kind == "tokens" else 0.0)
        if bucket is not None and made is not None:
            made.fall_to(bucket.level, now)
        return made

    def _bucket(self, per_minute: int | None, now: float, spare_share: float) -> Bucket | None:
        if per_minute is None:
            return None
        minute = self._rates.minute_seconds
        return Bucket(per_minute, now, minute, spare=per_minute * spare_share)
