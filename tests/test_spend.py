"""Budgets reserve before they spend."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import LimitReached
from orchestra.spend.scope import Spend, Warned
from orchestra.values.usage import Usage


def used(tokens: int, cost: float | None = 0.0) -> Usage:
    return Usage(calls=1, input_tokens=tokens, cost=cost)


def test_what_is_held_is_not_free() -> None:
    """A second call that would fit alone is refused while the first is under way; settling frees the rest."""
    spend = Spend("session", tokens=100)
    first = spend.scopes.reserve(60, None)
    with pytest.raises(LimitReached, match="may take 60 tokens and 40 of 100 are left"):
        spend.scopes.reserve(60, None)
    first.settle(used(10))
    spend.scopes.reserve(60, None).release()
    assert spend.spent[0] == 10


def test_scopes_enclose() -> None:
    """An agent's call is held in its session and its runtime; a refusal in any holds nothing in all."""
    runtime = Spend("runtime", cost=1.0)
    session = Spend("session", cost=0.5, parent=runtime)
    agent = Spend("agent", parent=session)
    held = agent.scopes.reserve(10, 0.4)
    with pytest.raises(LimitReached, match=r"session: .* \$0.1000 of \$0.5000"):
        agent.scopes.reserve(10, 0.2)
    assert (runtime.held, session.held) == ((10, 0.4), (10, 0.4))
    held.settle(used(5, 0.1))
    assert (runtime.held, session.held) == ((0, 0.0), (0, 0.0))
    assert runtime.share == pytest.approx(0.1)
    assert session.share == pytest.approx(0.2)
    assert (runtime.spent, session.spent) == ((5, 0.1), (5, 0.1))


def test_a_reservation_ends_once() -> None:
    """Settling and then releasing books and frees once."""
    spend = Spend("session", tokens=100)
    held = spend.scopes.reserve(50, None)
    held.settle(used(20))
    held.release()
    held.settle(used(20))
    assert spend.spent[0] == 20
    assert spend.share == pytest.approx(0.2)


@given(st.lists(st.tuples(st.integers(1, 50), st.booleans(), st.integers(0, 100)), max_size=40))
def test_never_more_than_the_limit(calls: list[tuple[int, bool, int]]) -> None:
    """Whatever is reserved, kept open or settled below its worst case, the sum stays within the limit."""
    spend = Spend("session", tokens=120)
    for worst, keep, share in calls:
        try:
            held = spend.scopes.reserve(worst, None)
        except LimitReached:
            continue
        if not keep:
            held.settle(used(worst * share // 100))
        assert spend.spent[0] <= 120
        assert spend.share <= 1.0


@pytest.mark.anyio
async def test_what_others_hold_is_waited_for() -> None:
    """A call that lacks only what is held waits in line; one that lacks more is refused at once."""
    spend = Spend("session", tokens=100)
    first = spend.scopes.reserve(80, None)
    order = []

    async def call(tokens: int) -> None:
        held = await spend.scopes.hold(tokens, None)
        order.append(tokens)
        held.settle(used(10))

    async with anyio.create_task_group() as group:
        for tokens in (70, 60, 50):
            group.start_soon(call, tokens)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(LimitReached, match="may take 101 tokens and 100 of 100 are left"):
            await spend.scopes.hold(101, None)
        assert order == []
        first.settle(used(10))
    assert order == [70, 60, 50]
    assert (spend.spent[0], spend.held) == (40, (0, 0.0))


@pytest.mark.anyio
async def test_who_stops_waiting_wakes_the_next() -> None:
    """A cancelled call holds nothing and does not lose the turn of those behind it."""
    spend = Spend("session", tokens=100)
    first = spend.scopes.reserve(80, None)
    done = []

    async def call(tokens: int) -> None:
        held = await spend.scopes.hold(tokens, None)
        try:
            await anyio.lowlevel.checkpoint()
            done.append(tokens)
        finally:
            held.release()

    async with anyio.create_task_group() as group, anyio.create_task_group() as cancelled:
        cancelled.start_soon(call, 90)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(call, 50)
        await anyio.wait_all_tasks_blocked()
        first.release()
        cancelled.cancel_scope.cancel()
    assert done == [50]


calls_of_sessions = st.lists(
    st.lists(st.tuples(st.integers(1, 60), st.floats(0, 1), st.sampled_from(["settle", "fail", "more"]))),
    min_size=1,
    max_size=8,
)


@given(calls_of_sessions, st.integers(0, 3))
def test_sessions_at_once_never_spend_more_than_the_limit(
    sessions: list[list[tuple[int, float, str]]], cancelled: int
) -> None:
    """Whatever they reserve, extend, settle, fail and cancel: no limit is broken and nothing stays held."""

    async def run() -> None:
        runtime = Spend("runtime", cost=1.5, tokens=150)

        async def session(calls: list[tuple[int, float, str]]) -> None:
            own = Spend("session", tokens=90, parent=runtime)
            for tokens, share, end in calls:
                try:
                    held = await own.scopes.hold(tokens, tokens / 100)
                except LimitReached:
                    return
                try:
                    await anyio.lowlevel.checkpoint()
                    worst = 2 * tokens if end == "more" and held.more(tokens, tokens / 100) else tokens
                    took = int(worst * share)
                    if end != "fail":
                        held.settle(used(took, took / 100))
                finally:
                    held.release()
                assert own.spent[0] <= 90
                assert runtime.spent[0] <= 150
                assert runtime.spent[1] <= 1.5 + 1e-9

        async with anyio.create_task_group() as group, anyio.create_task_group() as inner:
            for number, calls in enumerate(sessions):
                (inner if number < cancelled else group).start_soon(session, calls)
            await anyio.lowlevel.checkpoint()
            inner.cancel_scope.cancel()
        assert runtime.held == (0, 0.0)

    anyio.run(run)


def test_a_warning_comes_once() -> None:
    """At four fifths of a limit, from the scope whose limit it is."""
    runtime = Spend("runtime", cost=1.0)
    session = Spend("session", tokens=100, parent=runtime)
    assert session.scopes.reserve(70, 0.5).settle(used(70, 0.5)) == ()
    assert session.scopes.reserve(20, 0.4).settle(used(10, 0.4)) == (
        Warned("session", 0.8),
        Warned("runtime", 0.9),
    )
    assert session.scopes.reserve(10, 0.1).settle(used(5, 0.0)) == ()


def test_what_is_not_reported_is_the_worst_case() -> None:
    """A reply without usage, and one without a cost where the price is known, count as what was held."""
    spend = Spend("session", tokens=100, cost=1.0)
    spend.scopes.reserve(60, 0.5).settle(Usage(calls=1, cost=None))
    assert spend.share == pytest.approx(0.6)
    with pytest.raises(LimitReached, match="40 of 100 are left"):
        spend.scopes.reserve(50, 0.1)
    spend.scopes.reserve(10, 0.1).settle(Usage())
    assert spend.share == pytest.approx(0.6)


def test_a_call_may_ask_for_more() -> None:
    """A repair or another try is held on top, or refused and nothing changes."""
    spend = Spend("session", tokens=100)
    held = spend.scopes.reserve(40, None)
    assert held.more(50, None)
    assert not held.more(20, None)
    held.settle(used(80))
    assert (spend.spent[0], spend.held) == (80, (0, 0.0))
    assert not held.more(1, None)
