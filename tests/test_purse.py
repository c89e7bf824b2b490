"""An agent's purse: its own budget, and those around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import LimitReached
from orchestra.models.scripted import Scripted
from orchestra.spend.purse import Purse
from orchestra.spend.scope import Spend, Warned
from orchestra.values.usage import Usage

FREE = Spend("session").scopes
MODEL = Scripted([])


def used(tokens: int, cost: float | None = 0.0) -> Usage:
    return Usage(calls=1, input_tokens=tokens, cost=cost)


def test_a_call_that_leads_to_another_holds_more() -> None:
    """As long as it is under way, and as far as there is room for both."""
    purse = Purse("writer", 1_000, FREE)
    assert purse.hold_now(MODEL, 300, 100)
    assert purse.affords(50)
    assert not purse.affords(50)
    purse.settle(used(600))
    assert not purse.affords(0)
    assert purse.hold_now(MODEL, 300, 100)
    purse.release()
    assert not purse.hold_now(MODEL, 301, 100)


def test_what_is_not_reported_is_the_worst_case() -> None:
    """A reply without usage counts as what was held; a call that was not made as nothing."""
    purse = Purse("writer", 1_000, FREE)
    assert purse.hold_now(MODEL, 500, 100)
    purse.settle(Usage(calls=1))
    assert not purse.hold_now(MODEL, 301, 100)
    assert purse.hold_now(MODEL, 300, 100)
    purse.settle(Usage())
    assert purse.hold_now(MODEL, 300, 100)


def test_a_warning_comes_once_from_whose_budget_it_is() -> None:
    """At four fifths, the agent's own before that of its session."""
    session = Spend("session", tokens=2_000)
    purse = Purse("writer", 1_000, session.scopes)
    for tokens, warned in ((700, ()), (100, (Warned("writer", 0.8),)), (10, ())):
        assert purse.hold_now(MODEL, tokens, 0)
        assert purse.settle(used(tokens)) == warned
    other = Purse("reader", None, session.scopes)
    assert other.hold_now(MODEL, 900, 100)
    assert other.settle(used(800)) == (Warned("session", 0.805),)
    assert session.held == (0, 0.0)


def test_it_comes_to_its_end_before_a_call_like_the_last_would_not_fit() -> None:
    """Or at nine tenths; and so does a budget around it, which others spend too."""
    purse = Purse("writer", 10_000, FREE)
    assert purse.hold_now(MODEL, 2_000, 100)
    purse.settle(used(2_100))
    assert purse.ending == ""  # 2,100 for another, 2,500 for a last one
    assert purse.hold_now(MODEL, 2_500, 100)
    purse.settle(used(2_600))
    assert purse.ending == "writer"
    session = Spend("session", tokens=10_000)
    free = Purse("writer", None, session.scopes)
    assert free.ending == ""
    session.scopes.reserve(9_000, None).settle(used(9_000))
    assert free.ending == "session"


@pytest.mark.anyio
async def test_a_reply_is_cut_to_what_is_left() -> None:
    """Halved until it fits, but not below what is of use: then the call is refused, and nothing is held."""
    session = Spend("session", tokens=50_000)
    purse = Purse("writer", 5_000, session.scopes)
    assert not purse.hold_now(MODEL, 1_000, 8_000)
    assert await purse.hold_less() == 4_000
    assert session.held[0] == 5_000
    purse.settle(used(4_000))
    assert not purse.hold_now(MODEL, 1_000, 4_000)
    with pytest.raises(LimitReached, match="writer: the next call may take 1,500 tokens and 1,000 of 5,000"):
        await purse.hold_less()
    assert session.held[0] == 0


calls = st.lists(
    st.tuples(st.integers(1, 90), st.integers(0, 60), st.floats(0, 1), st.sampled_from(["settle", "fail"]))
)


@given(calls)
def test_never_more_than_the_limits(wanted: list[tuple[int, int, float, str]]) -> None:
    """Whatever it holds, extends, settles and gives back: no limit is broken and nothing stays held."""
    session, spent = Spend("session", tokens=200, cost=1.5), 0
    purse = Purse("writer", 150, session.scopes)
    for given_tokens, more, share, end in wanted:
        if not purse.hold_now(MODEL, given_tokens, 10):
            continue
        worst = given_tokens + 10
        if purse.affords(more):
            worst += given_tokens + more + 10
        if end == "settle":
            spent += (took := int(worst * share) or worst)
            purse.settle(used(took))
        purse.release()
        assert session.held == (0, 0.0)
        assert spent <= 150
        assert session.spent[0] == spent
