"""The governor of one endpoint: who may call it, and when."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import anyio

from orchestra.errors import Overloaded
from orchestra.log import get_logger
from orchestra.models.governor.breaker import Breaker
from orchestra.models.governor.buckets import Buckets
from orchestra.models.governor.clock import Clock, LoopClock, Timer
from orchestra.models.governor.concurrency import Concurrency
from orchestra.models.governor.fair import FairQueue, Waiter
from orchestra.models.governor.permit import Permit
from orchestra.models.governor.refusals import down, full, too_long
from orchestra.models.governor.said import Said
from orchestra.models.governor.statistics import GovernorStatistics
from orchestra.models.settings import Rates

LONGEST_WAIT_SECONDS = 300.0
"""A known wait above this is an answer and no wait: a day's quota that is used up does not come back soon."""

_NEW = 0.1  # what the newest call counts in the mean time of a call


class Governor:
    """Shared by all sessions; every call takes the same time for any number of them.

    A call enters, with the tokens it is expected to take, and gets a permit that it must end with one of
    `answered`, `throttled`, `failed` and `left`. No method but `enter` waits.
    """

    def __init__(self, endpoint: str, rates: Rates | None = None, *, clock: Clock | None = None) -> None:
        self.endpoint = endpoint
        self._rates = rates or Rates()
        self._clock = clock or LoopClock()
        self._now = self._clock.now
        self._buckets = Buckets(self._rates, self._now())
        self._concurrency = Concurrency(self._rates.concurrent_calls)
        self._breaker = Breaker()
        self._queue = FairQueue()
        self._timer: Timer | None = None
        self._timer_at = math.inf
        self._paused_until = 0.0
        self._in_flight = self._tokens_in_flight = 0
        self._call_seconds = 0.0
        self._calls = self._waits = self._throttled = self._failed = self._overloaded = self._tokens = 0
        self._waited_seconds = 0.0
        self._calm = self._is_calm()

    def _is_calm(self) -> bool:
        """Nothing but the number of calls in flight can hold a call back, and no reply changes that.

        What may end this sets `_calm` to False; a call that is answered finds out that it is so again.
        """
        return not (
            self._buckets.limited
            or self._queue.count
            or self._breaker.failures
            or self._paused_until > self._now()
            or self._concurrency.limit < self._concurrency.most
        )

    def enter_now(self, tokens: int) -> Permit | None:
        """A permit if no one waits and there is room; without an await."""
        now = self._now()
        if self._calm:
            free = self._in_flight < self._concurrency.limit
        else:
            free = not self._queue.count and self._wait(tokens, now) <= 0
        return self._grant(tokens, now) if free else None

    async def enter(self, session: str, tokens: int, longest_seconds: float = LONGEST_WAIT_SECONDS) -> Permit:
        """A permit, when it is this session's turn.

        Raises Overloaded where the queue is full, ModelUnreachable while the endpoint is left alone, and
        ModelThrottled where the wait is known to be too long. A cancelled call leaves nothing behind.
        """
        now = self._now()
        self._refuse(tokens, now, longest_seconds)
        waiter = Waiter(session, tokens, now)
        self._queue.add(waiter)
        self._calm = False
        self._pump()
        try:
            await waiter.event.wait()
        except BaseException:
            if waiter.permit is None:
                self._queue.discard(waiter)
                self._pump()
            else:
                self._unused(waiter.permit)
            raise
        if waiter.error is not None:
            raise waiter.error
        assert waiter.permit is not None
        self._waits += 1
        waiter.permit.waited = waited = waiter.permit.began - waiter.since
        self._waited_seconds += waited
        return waiter.permit

    def answered(self, permit: Permit, *, calls: int, tokens: int) -> None:
        """The endpoint answered, with a refusal or a reply. `tokens` 0: it did not say what it took."""
        if not self._end(permit):
            return
        seconds, known = self._now() - permit.began, self._call_seconds
        self._call_seconds = known + (seconds - known) * _NEW if known else seconds
        self._tokens += tokens
        if self._calm:
            return
        self._breaker.answered()
        self._concurrency.succeeded()
        if self._buckets.limited:
            self._buckets.correct(calls - 1, tokens - permit.tokens if tokens else 0, permit.number)
        if self._queue.count:
            self._pump()
        self._calm = self._is_calm()

    def throttled(
        self, permit: Permit, retry_after: float | None, *, calls: int = 0, tokens: int = 0
    ) -> None:
        """The endpoint said 429: it is alive and wants a pause, in seconds where it said how long.

        `calls` and `tokens`: what it had taken under this permit before.
        """
        if not self._end(permit):
            return
        now = self._now()
        self._calm = False
        self._throttled += 1
        self._breaker.answered()
        self._tokens += tokens
        self._buckets.correct(calls - 1, tokens - permit.tokens, permit.number)
        if self._concurrency.lower(permit.number, self._calls + 1, self._in_flight + 1):
            get_logger().warning(
                "governor.throttled", endpoint=self.endpoint, concurrent=self._concurrency.limit
            )
        self._buckets.emptied(permit.tokens, retry_after, now)
        if retry_after:
            self.pause(retry_after)
        self._pump()

    def failed(self, permit: Permit, retry_after: float | None = None) -> None:
        """No usable answer came. What was taken for it stays taken: the endpoint may have begun."""
        if not self._end(permit):
            return
        now = self._now()
        self._calm = False
        self._failed += 1
        if self._breaker.failed(now, probe=permit.probe, under_way=self._in_flight):
            seconds = round(self._breaker.wait(now), 3)
            get_logger().warning("governor.left_alone", endpoint=self.endpoint, seconds=seconds)
            self._turn_away(partial(down, self.endpoint, self._breaker.wait(now)))
        elif retry_after:
            self.pause(retry_after)
        self._pump()

    def left(self, permit: Permit) -> None:
        """The caller went away in the middle of its call."""
        if self._end(permit):
            self._breaker.gave_up(probe=permit.probe)
            self._pump()

    def pause(self, seconds: float) -> None:
        """No call goes for so long."""
        self._calm = False
        self._paused_until = max(self._paused_until, self._now() + seconds)
        if seconds > LONGEST_WAIT_SECONDS:
            self._turn_away(partial(too_long, self.endpoint, seconds))

    def heard(self, said: Said) -> None:
        """What the endpoint said of its limits, in a header or in the words of a 429."""
        in_flight = self._in_flight, self._tokens_in_flight
        self._calm = False
        if self._buckets.learn(said, self._now(), self._call_seconds, in_flight):
            get_logger().info(
                "governor.learnt",
                endpoint=self.endpoint,
                requests_per_minute=self._buckets.requests_per_minute,
                tokens_per_minute=self._buckets.tokens_per_minute,
            )

    @property
    def statistics(self) -> GovernorStatistics:
        now = self._now()
        limit = self._concurrency.limit
        return GovernorStatistics(
            endpoint=self.endpoint,
            in_flight=self._in_flight,
            queued=self._queue.count,
            concurrent_calls=None if math.isinf(limit) else int(limit),
            requests_per_minute=self._buckets.requests_per_minute,
            tokens_per_minute=self._buckets.tokens_per_minute,
            calls=self._calls,
            waits=self._waits,
            waited_seconds=self._waited_seconds,
            throttled=self._throttled,
            failed=self._failed,
            overloaded=self._overloaded,
            tokens=self._tokens,
            paused_seconds=max(0.0, self._paused_until - now),
            circuit=self._breaker.state(now),
        )

    def _wait(self, tokens: int, now: float) -> float:
        """Seconds until a call of so many tokens may go; infinite where another one must end first."""
        if self._in_flight >= self._concurrency.limit:
            return math.inf
        wait = self._buckets.wait(tokens, now)
        if self._paused_until > now:
            wait = max(wait, self._paused_until - now)
        return wait if self._breaker.closed else max(wait, self._breaker.wait(now))

    def _grant(self, tokens: int, now: float) -> Permit:
        self._in_flight += 1
        self._tokens_in_flight += tokens
        self._calls += 1
        if self._calm:
            return Permit(self._calls, tokens, now)
        if self._buckets.limited:
            self._buckets.correct(1, tokens, self._calls)
        return Permit(self._calls, tokens, now, self._breaker.begin())

    def _end(self, permit: Permit) -> bool:
        if not permit.open:
            return False
        permit.open = False
        self._in_flight -= 1
        self._tokens_in_flight -= permit.tokens
        return True

    def _unused(self, permit: Permit) -> None:
        """Granted to a call that was cancelled in the same moment: it is as if it had never been."""
        if self._end(permit):
            self._buckets.correct(-1, -permit.tokens, permit.number)
            self._breaker.gave_up(probe=permit.probe)
            self._pump()

    def _pump(self) -> None:
        """Let go whose turn it is, and set the timer for the next."""
        now = self._now()
        while (waiter := self._queue.head) is not None:
            wait = self._wait(waiter.tokens, now)
            if wait > 0:
                self._set_timer(now, wait)
                return
            self._queue.pop()
            waiter.permit = self._grant(waiter.tokens, now)
            waiter.event.set()
        self._set_timer(now, math.inf)

    def _set_timer(self, now: float, wait: float) -> None:
        at = now + wait
        if self._timer is not None:
            if self._timer_at <= at < math.inf:
                return  # it comes early, and is set again then
            self._timer.cancel()
            self._timer = None
        self._timer_at = at
        if at < math.inf:
            self._timer = self._clock.call_later(wait, self._timer_fired)

    def _timer_fired(self) -> None:
        self._timer, self._timer_at = None, math.inf
        self._pump()

    def _turn_away(self, make: Callable[[], Exception]) -> None:
        """Nobody waits any longer."""
        while self._queue.count:
            waiter = self._queue.pop()
            waiter.error = make()
            waiter.event.set()

    def _refuse(self, tokens: int, now: float, longest_seconds: float) -> None:
        """Raise where waiting is of no use."""
        if self._breaker.state(now) == "open":
            raise down(self.endpoint, self._breaker.wait(now))
        known = max(self._paused_until - now, self._buckets.wait(tokens, now))
        left = anyio.current_effective_deadline() - anyio.current_time()
        if known > min(left, longest_seconds):
            raise too_long(self.endpoint, known)
        most = self._rates.queued_calls
        if most is not None and self._queue.count >= most:
            self._overloaded += 1
            raise self._full(now)

    def _full(self, now: float) -> Overloaded:
        waiting, limit = self._queue.count, self._concurrency.limit
        seconds = max(
            waiting * self._call_seconds / limit,
            self._buckets.drain_seconds(waiting, self._queue.tokens),
            self._paused_until - now,
        )
        return full(self.endpoint, self._in_flight, waiting, seconds)
