"""The figures of a context, its shares, its task state and its manifests."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.context.blocks import Entry, Zone
from orchestra.context.budget import CUTTABLE, budget_of, share_out
from orchestra.context.manifest import Manifest, difference, from_json, to_json
from orchestra.context.policy import PRESETS, Shares, check, policy_for
from orchestra.context.state import EMPTY, Patch, merge, render
from orchestra.errors import ConfigError

NEEDS = st.dictionaries(st.sampled_from(CUTTABLE), st.integers(0, 5_000))
SHARES = st.builds(Shares, *[st.floats(0.0, 1.0) for _ in CUTTABLE])


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_sound(name: str) -> None:
    """The presets pass their own check and leave most of a usual window to the prompt."""
    policy = policy_for(name)
    check(policy)
    budget = budget_of(128_000, policy)
    assert budget.usable == 128_000 - budget.output - budget.margin > 100_000
    assert budget.margin == 12_800


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"result_token": 5}, "did you mean 'result_tokens'"),
        ({"result_tokens": 0}, "more than 0"),
        ({"result_tokens": "many"}, "does not fit"),
        ({"margin": 0.9}, "between 0 and 0.5"),
        ({"shares": {"histroy": 1}}, "did you mean 'history'"),
        ({"shares": 3}, "a table"),
        ({"shares": {"history": -1}}, "negative"),
        ({"levels": {"light": 0.3}}, "rise"),
        ({"without": ["pin"]}, "did you mean 'pins'"),
    ],
)
def test_a_wrong_figure_is_named(figures: dict[str, Any], said: str) -> None:
    """A figure that does not exist or is out of range is refused with its name."""
    with pytest.raises(ConfigError, match=said):
        policy_for("chat", figures)


def test_an_unknown_preset_is_named() -> None:
    """A preset that does not exist is refused with the nearest that does."""
    with pytest.raises(ConfigError, match="did you mean 'research'"):
        policy_for("reserch")


def test_every_figure_can_be_set() -> None:
    """Figures given take the place of the preset's, the others stay."""
    policy = policy_for("chat", {"margin": 0.2, "shares": {"history": 0.9}, "prompt_tokens": 1_000})
    assert (policy.margin, policy.shares.history, policy.shares.memory) == (0.2, 0.9, 0.15)
    assert budget_of(128_000, policy).usable == 1_000


@given(st.integers(-5, 8_000), NEEDS, SHARES)
def test_zones_share_and_borrow(room: int, needs: dict[Zone, int], shares: Shares) -> None:
    """No zone gets more than it needs, all no more than there is, and nothing needed lies idle."""
    given_room = share_out(room, needs, shares)
    assert all(given_room[zone] <= needs.get(zone, 0) for zone in CUTTABLE)
    total = sum(given_room.values())
    assert total <= max(room, 0)
    assert total >= min(max(room, 0), sum(needs.values())) - len(CUTTABLE)


def test_a_zone_has_its_share_when_all_want_more() -> None:
    """Under pressure each zone has its share; what one leaves free goes to the others by their shares."""
    shares = Shares(tools=0.1, memory=0.1, knowledge=0.3, history=0.5)
    full: dict[Zone, int] = dict.fromkeys(CUTTABLE, 10_000)
    assert share_out(1_000, full, shares) == {"tools": 100, "memory": 100, "knowledge": 300, "history": 500}
    assert share_out(1_000, {**full, "tools": 0, "memory": 40}, shares)["history"] == 600


def test_patches_change_single_fields() -> None:
    """Each patch changes one field by rule; a line with a known key takes the old one's place."""
    state = merge(
        EMPTY,
        Patch("goal", "订票"),
        Patch("facts", "order=A17", "add"),
        Patch("facts", "amount: 1,200 元", "add"),
        Patch("facts", "order=B2", "add"),
        Patch("constraints", "不要经过 上海", "add"),
        Patch("constraints", "不要经过 上海", "add"),
        Patch("todo", "search", "add"),
        Patch("todo", "search", "remove"),
        Patch("step", "choosing\nseats"),
    )
    assert render(state) == (
        "Goal: 订票\nConstraints:\n- 不要经过 上海\n"
        "Facts:\n- order=B2\n- amount: 1,200 元\nCurrent step: choosing seats"
    )
    assert render(EMPTY) == ""
    assert merge(state, Patch("facts", "order", "remove")).facts == ("amount: 1,200 元",)
    assert merge(state, Patch("facts", ""), Patch("goal", "", "remove")).goal == ""


def manifest(*entries: Entry) -> Manifest:
    return Manifest(agent="a", turn=1, window=100, output=10, margin=10, usable=80, entries=entries)


ENTRIES = st.lists(
    st.builds(Entry, st.text(max_size=4), st.sampled_from(CUTTABLE), st.text(max_size=9), st.integers(0, 99)),
    max_size=6,
    unique_by=lambda entry: entry.block,
)


@given(ENTRIES)
def test_a_manifest_goes_to_json_and_back(entries: list[Entry]) -> None:
    """Nothing of a manifest is lost in the journal."""
    before = manifest(*entries)
    assert from_json(to_json(before)) == before
    with pytest.raises(msgspec.ValidationError):
        from_json("{}")


@given(ENTRIES, ENTRIES)
def test_the_difference_of_two_manifests(before: list[Entry], after: list[Entry]) -> None:
    """Exactly the blocks that came, went or changed are named, with both their lines."""
    changes = difference(manifest(*before), manifest(*after))
    assert difference(manifest(*before), manifest(*before)) == ()
    rebuilt = {entry.block: entry for entry in before}
    for change in changes:
        assert rebuilt.pop(change.block, None) == change.before
        if change.after is not None:
            rebuilt[change.block] = change.after
    assert rebuilt == {entry.block: entry for entry in after}


def test_occupancy_is_of_the_usable() -> None:
    """A manifest says how full the prompt is and which zones fill it."""
    full = manifest(Entry("b1", "memory", "x", 30), Entry("b2", "history", "y", 10))
    assert full.occupancy == 0.5
    assert full.zones()["memory"] == 30
