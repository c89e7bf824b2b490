"""Budgets reserve before they spend."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import LimitReached
from orchestra.spend import Spend
from orchestra.values.usage import Usage


def used(tokens: int, cost: float | None = 0.0) -> Usage:
    return Usage(calls=1, input_tokens=tokens, cost=cost)


def test_what_is_held_is_not_free() -> None:
    """A second call that would fit alone is refused while the first is under way; settling frees the rest."""
    spend = Spend("session", tokens=100)
    first = spend.reserve(60, None)
    with pytest.raises(LimitReached, match="may take 60 tokens and 40 of 100 are left"):
        spend.reserve(60, None)
    first.settle(used(10))
    spend.reserve(60, None).release()
    assert spend.used.tokens == 10


def test_scopes_enclose() -> None:
    """An agent's call is held in its session and its runtime; a refusal in any holds nothing in all."""
    runtime = Spend("runtime", cost=1.0)
    session = Spend("session", cost=0.5, parent=runtime)
    agent = Spend("agent", parent=session)
    held = agent.reserve(10, 0.4)
    with pytest.raises(LimitReached, match=r"session: .* \$0.1000 of \$0.5000"):
        agent.reserve(10, 0.2)
    assert runtime.share == pytest.approx(0.4)
    assert agent.share == pytest.approx(0.8)
    held.settle(used(5, 0.1))
    assert (runtime.used.cost, session.used.cost, agent.used.cost) == (0.1, 0.1, 0.1)


def test_a_reservation_ends_once() -> None:
    """Settling and then releasing books and frees once."""
    spend = Spend("session", tokens=100)
    held = spend.reserve(50, None)
    held.settle(used(20))
    held.release()
    held.settle(used(20))
    assert spend.used.tokens == 20
    assert spend.share == pytest.approx(0.2)


@given(st.lists(st.tuples(st.integers(1, 50), st.booleans(), st.integers(0, 100)), max_size=40))
def test_never_more_than_the_limit(calls: list[tuple[int, bool, int]]) -> None:
    """Whatever is reserved, kept open or settled below its worst case, the sum stays within the limit."""
    spend = Spend("session", tokens=120)
    for worst, keep, share in calls:
        try:
            held = spend.reserve(worst, None)
        except LimitReached:
            continue
        if not keep:
            held.settle(used(worst * share // 100))
        assert spend.used.tokens <= 120
        assert spend.share <= 1.0
