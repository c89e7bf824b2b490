"""Counts corrected by what endpoints report."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.models.counts import Calibration, Calibrations


def test_nothing_seen_changes_nothing() -> None:
    """Before the first call our own count stands, with a wide margin."""
    fresh = Calibration()
    assert fresh.expected(1_000)[0] == 1_000
    assert fresh.margin() >= 0.5


def test_a_hidden_prompt_is_an_offset() -> None:
    """2,000 tokens on top of a short prompt do not make long prompts count twentyfold."""
    calibration = Calibration()
    for counted in (100, 150, 120):
        calibration.saw(counted, counted + 2_000)
    assert abs(calibration.offset - 2_000) < 60
    assert abs(calibration.expected(10_000)[0] - 12_000) < 600


def test_another_tokenizer_is_a_ratio() -> None:
    """A model that needs 30 % more tokens is known as that from one long prompt on."""
    calibration = Calibration()
    calibration.saw(10_000, 13_000)
    assert abs(calibration.ratio - 1.3) < 0.02
    assert calibration.offset < 120


@settings(max_examples=60)
@given(
    st.floats(0.7, 1.8),
    st.integers(0, 3_000),
    st.lists(st.tuples(st.integers(50, 60_000), st.floats(-0.02, 0.02)), min_size=12, max_size=40),
)
def test_law(ratio: float, offset: int, seen: list[tuple[int, float]]) -> None:
    """For any ratio and offset, later counts of prompts like those seen are right within the margin."""
    calibration = Calibration()
    for counted, noise in seen:
        calibration.saw(counted, round((offset + ratio * counted) * (1 + noise)))
    for counted, _ in seen:
        true = offset + ratio * counted
        assert abs(calibration.expected(counted)[0] - true) <= max(60, (calibration.margin() + 0.05) * true)


def test_the_margin_follows_the_spread() -> None:
    """Steady counts earn a small margin, wild ones a large."""
    steady, wild = Calibration(), Calibration()
    for place in range(40):
        steady.saw(1_000 + 100 * place, 1_100 + 110 * place)
        wild.saw(1_000 + 100 * place, (1_000 + 100 * place) * (1 if place % 2 else 2))
    assert steady.margin() < 0.05
    assert wild.margin() > 0.3


def test_one_for_each_model() -> None:
    """Models are told apart by name."""
    both = Calibrations()
    both.of("a").saw(1_000, 2_000)
    assert both.of("b").ratio == 1.0
    assert both.of("a").ratio > 1.0
