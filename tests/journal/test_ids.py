"""Names of sessions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.journal.ids import RANDOM_BYTES, session_id

MOMENTS = st.integers(0, 4_000_000_000)
RANDOM = st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES)


@given(MOMENTS, RANDOM)
def test_ids_are_short_and_safe(now: int, random: bytes) -> None:
    """Digits and small letters, the same for the same arguments."""
    found = session_id(now, random)
    assert re.fullmatch(r"[0-9]{8}-[0-9]{6}-[0-9a-z]{8}", found)
    assert found == session_id(now, random)


@given(MOMENTS, MOMENTS, RANDOM, RANDOM)
def test_ids_sort_by_time(one: int, other: int, first: bytes, second: bytes) -> None:
    """An earlier second makes a smaller id, whatever the chance."""
    if one < other:
        assert session_id(one, first) < session_id(other, second)


@given(MOMENTS, RANDOM, RANDOM)
def test_other_chance_makes_another_id(now: int, first: bytes, second: bytes) -> None:
    """No bit of the randomness is lost."""
    assert (session_id(now, first) == session_id(now, second)) == (first == second)


def test_too_little_chance_is_refused() -> None:
    """Fewer bytes would make ids that meet."""
    with pytest.raises(ValueError, match="random bytes"):
        session_id(0, b"1")
