"""Who may call an endpoint, and when."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import example, given
from hypothesis import strategies as st

from orchestra.errors import ModelThrottled, ModelUnreachable, Overloaded
from orchestra.models.governor.breaker import FAILURES, FIRST_SECONDS
from orchestra.models.governor.fair import FairQueue, Waiter
from orchestra.models.governor.governor import Governor
from orchestra.models.governor.permit import Permit
from orchestra.models.settings import Rates
from tests.models.ticking import Ticking

pytestmark = pytest.mark.anyio


def governor(clock: Ticking | None = None, **rates: int | None) -> Governor:
    return Governor("here", Rates(**rates), clock=clock or Ticking())  # type: ignore[arg-type]  # rates of ints


def enters(governor: Governor, tokens: int = 1) -> Permit:
    permit = governor.enter_now(tokens)
    assert permit is not None
    return permit


async def settled() -> None:
    for _ in range(3):
        await checkpoint()


async def test_so_many_at_once() -> None:
    """The third call goes when one of two has ended, and takes no timer to do so."""
    clock = Ticking()
    here = governor(clock, concurrent_calls=2)
    first, _ = enters(here), enters(here)
    assert here.enter_now(1) is None
    async with anyio.create_task_group() as group:
        group.start_soon(here.enter, "a", 1)
        await settled()
        assert (here.statistics.in_flight, here.statistics.queued, clock.timers) == (2, 1, 0)
        here.answered(first, calls=1, tokens=1)
    assert (here.statistics.in_flight, here.statistics.queued) == (2, 0)
    assert (here.statistics.waits, here.statistics.calls) == (1, 3)


async def test_a_minute_holds_so_many_tokens() -> None:
    """What does not fit waits until the bucket has filled; what was taken too much comes back at once.

    Not so what the full bucket would not have held.
    """
    clock = Ticking()
    here = governor(clock, tokens_per_minute=600)
    first = enters(here, 500)
    async with anyio.create_task_group() as group:
        group.start_soon(here.enter, "a", 300)
        await settled()
        clock.advance(20.5)  # 200 tokens are missing, and the hundredth part that is kept back
        assert here.statistics.queued == 1
        clock.advance(0.2)
        assert here.statistics.queued == 0
    here.answered(first, calls=1, tokens=100)
    assert here.enter_now(400) is None  # it would have been full from the tenth second on, and then gave 300
    assert here.enter_now(290) is not None
    assert here.enter_now(20) is None


async def test_more_than_a_minute_holds_goes_from_a_full_bucket() -> None:
    """A call that is larger than the limit is the endpoint's to refuse; it does not wait for ever."""
    here = governor(tokens_per_minute=100)
    assert here.enter_now(1_000) is not None


@given(
    st.lists(
        st.tuples(st.integers(1, 400), st.floats(0, 20), st.floats(0, 1.5), st.booleans()),
        min_size=1,
        max_size=40,
    )
)
@example(  # given back when the bucket would long have been full without it
    calls=[(1, 0.0, 0.0, False)] * 7
    + [(18, 0.0, 1.0, False), (140, 0.0, 1.0, False), (145, 0.0, 1.0, False), (159, 0.0, 0.0, True)]
    + [(227, 0.0, 0.0, False), (375, 0.0, 1.0, False), (349, 0.0, 0.0, True)]
)
def test_never_more_than_the_limit(calls: list[tuple[int, float, float, bool]]) -> None:
    """In any span of time at most a bucket and what refills in it is used, however estimates err."""
    anyio.run(_spans, calls)


async def _spans(calls: list[tuple[int, float, float, bool]]) -> None:
    clock = Ticking()
    here = governor(clock, tokens_per_minute=600, concurrent_calls=None)
    used: list[tuple[float, int]] = []

    async def one(estimate: int, share: float, leave: bool) -> None:
        permit = await here.enter("s", estimate)
        real = min(max(1, int(estimate * share)), estimate)
        used.append((permit.began, estimate if leave else real))
        if leave:
            here.left(permit)
        else:
            here.answered(permit, calls=1, tokens=real)

    async with anyio.create_task_group() as group:
        for estimate, pause, share, leave in calls:
            group.start_soon(one, estimate, share, leave)
            await settled()
            clock.advance(pause)
            await settled()
        for _ in range(200):
            clock.advance(60)
            await settled()
    assert len(used) == len(calls)
    for begin, (start, _) in enumerate(used):
        for end in range(begin, len(used)):
            span = used[end][0] - start
            assert sum(tokens for _, tokens in used[begin : end + 1]) <= 600 + 10 * span + 1e-6


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.data())
def test_sessions_take_turns(sessions: list[int], data: st.DataObject) -> None:
    """While two sessions wait, neither is served twice more than the other; a session's calls keep order."""
    queue = FairQueue()
    line = [Waiter(str(session), 1, 0.0) for session in sessions]
    for waiter in line:
        queue.add(waiter)
    gone = data.draw(st.sets(st.integers(0, len(line) - 1)))
    for place in gone:
        queue.discard(line[place])
    left = [waiter for place, waiter in enumerate(line) if place not in gone]
    waiting = {waiter.session: [w for w in left if w.session == waiter.session] for waiter in left}
    served = dict.fromkeys(waiting, 0)
    while queue.count:
        head = queue.head
        waiter = queue.pop()
        assert waiter is head
        assert waiter is waiting[waiter.session][served[waiter.session]]
        served[waiter.session] += 1
        still = [name for name, calls in waiting.items() if served[name] < len(calls)]
        if still:
            most = served[waiter.session]
            assert most - min(served[name] for name in still) <= 1
    assert sum(served.values()) == len(left)
    assert queue.tokens == 0


async def test_a_session_with_a_hundred_calls_does_not_delay_another() -> None:
    """The newcomer's first call is the second to be served."""
    here = governor(concurrent_calls=1)
    running = enters(here)
    order: list[str] = []

    async def call(session: str) -> None:
        permit = await here.enter(session, 1)
        order.append(session)
        here.answered(permit, calls=1, tokens=1)

    async with anyio.create_task_group() as group:
        for _ in range(100):
            group.start_soon(call, "busy")
        await settled()
        group.start_soon(call, "new")
        await settled()
        here.answered(running, calls=1, tokens=1)
    assert order.index("new") == 1


@pytest.mark.parametrize("granted", [False, True])
async def test_a_cancelled_waiter_leaves_nothing(granted: bool) -> None:
    """No place, no tokens that were never sent, and no timer; also when it is cancelled as its turn comes."""
    clock = Ticking()
    here = governor(clock, concurrent_calls=1, tokens_per_minute=600)
    running = enters(here, 100)

    async def call() -> None:
        permit = await here.enter("a", 300)
        try:
            await checkpoint()
        finally:
            here.left(permit)

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await settled()
        if granted:
            here.answered(running, calls=1, tokens=100)
        group.cancel_scope.cancel()
    here.answered(running, calls=1, tokens=100)
    assert (here.statistics.in_flight, here.statistics.queued, clock.timers) == (0, 0, 0)
    assert here.enter_now(90 if granted else 400) is not None


async def test_a_full_queue_says_so_with_numbers() -> None:
    """How many are in flight and wait, and when to come back."""
    clock = Ticking()
    here = governor(clock, concurrent_calls=1, queued_calls=2)
    first = enters(here)
    clock.advance(4.0)
    here.answered(first, calls=1, tokens=1)
    enters(here)
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(here.enter, "a", 1)
        await settled()
        with pytest.raises(Overloaded, match=r"1 calls in flight and 2 waiting.*again in 8 s") as caught:
            await here.enter("b", 1)
        group.cancel_scope.cancel()
    assert caught.value.retry_after == pytest.approx(8.0)
    assert here.statistics.overloaded == 1


async def test_concurrency_is_halved_once_a_window_and_comes_back() -> None:
    """Eight calls under way when the limit falls lower it once; then it grows by one a window."""
    here = governor(concurrent_calls=8)
    permits = [enters(here) for _ in range(8)]
    for permit in permits:
        here.throttled(permit, None)
    assert here.statistics.concurrent_calls == 4
    assert here.statistics.throttled == 8
    here.throttled(enters(here), None)
    assert here.statistics.concurrent_calls == 2
    for expected in (2, 3, 3, 3, 4):
        here.answered(enters(here), calls=1, tokens=1)
        assert here.statistics.concurrent_calls == expected


async def test_a_pause_is_kept_by_all() -> None:
    """After a 429 nobody calls until the endpoint said; then there is what it will have."""
    clock = Ticking()
    here = governor(clock, tokens_per_minute=600)
    here.throttled(enters(here, 50), 5.0)
    assert here.statistics.paused_seconds == pytest.approx(5.0)
    clock.advance(4.9)
    assert here.enter_now(1) is None
    clock.advance(0.8)
    enters(here, 50)
    assert here.enter_now(50) is None


async def test_a_pause_that_is_too_long_is_an_answer() -> None:
    """A day's quota, or a deadline before the pause is over: those who wait are told at once."""
    here = governor(concurrent_calls=1)
    here.pause(20.0)
    with anyio.fail_after(10), pytest.raises(ModelThrottled, match="pause of 20 s"):
        await here.enter("a", 1)
    caught = []

    async def call() -> None:
        try:
            await here.enter("a", 1)
        except ModelThrottled as error:
            caught.append(error.retry_after)

    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(call)
        await settled()
        here.pause(3_600.0)
    assert caught == [3_600.0, 3_600.0]


def dies(here: Governor) -> None:
    permits = [enters(here) for _ in range(FAILURES)]
    for permit in permits:
        here.failed(permit)


async def test_a_few_quick_failures_of_many_calls_are_no_dead_endpoint() -> None:
    """What fails fails before the first answer comes; an endpoint that is down fails them all."""
    here = governor(concurrent_calls=1_000)
    permits = [enters(here) for _ in range(1_000)]
    circuits = []
    for first, last in ((0, 50), (51, 300)):
        for permit in permits[first:last]:
            here.failed(permit)
        circuits.append(here.statistics.circuit)
        here.answered(permits[last], calls=1, tokens=1)
    assert circuits == ["closed", "open"]


@pytest.mark.parametrize(
    ("end", "circuit"),
    [
        (lambda here, probe: here.answered(probe, calls=1, tokens=1), "closed"),
        (lambda here, probe: here.throttled(probe, None), "closed"),
        (lambda here, probe: here.failed(probe), "open"),
        (lambda here, probe: here.left(probe), "half open"),
    ],
    ids=["answered", "throttled", "failed", "cancelled"],
)
async def test_an_endpoint_that_is_down_is_tried_with_one_call(
    end: Callable[[Governor, Permit], None], circuit: str
) -> None:
    """Open: refused at once. Half open: one call decides; that it is throttled is a sign of life."""
    clock = Ticking()
    here = governor(clock)
    dies(here)
    assert here.statistics.circuit == "open"
    with pytest.raises(ModelUnreachable, match="too often in a row") as caught:
        await here.enter("a", 1)
    assert caught.value.left_alone
    assert caught.value.retry_after == pytest.approx(FIRST_SECONDS)
    clock.advance(FIRST_SECONDS)
    probe = enters(here)
    assert here.enter_now(1) is None
    end(here, probe)
    assert here.statistics.circuit == circuit
    assert (here.enter_now(1) is not None) == (circuit != "open")


async def test_who_waits_is_told_that_the_endpoint_is_down() -> None:
    """Nobody waits for an endpoint that does not answer."""
    here = governor(requests_per_minute=FAILURES)
    permits = [enters(here) for _ in range(FAILURES)]
    caught = []

    async def call() -> None:
        try:
            await here.enter("a", 1)
        except ModelUnreachable as error:
            caught.append(error)

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(call)
        await settled()
        for permit in permits:
            here.failed(permit)
    assert len(caught) == 3
    assert len(set(map(id, caught))) == 3
    assert here.statistics.queued == 0
