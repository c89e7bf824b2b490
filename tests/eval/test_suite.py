"""The suite that ships: it passes under every preset, and each scenario fails without what it names."""

from __future__ import annotations

from collections import defaultdict
from functools import cache, partial

import anyio
import pytest
from msgspec import structs

from orchestra.config.settings import PRESETS
from orchestra.eval.find import find_scenarios
from orchestra.eval.policies import choose
from orchestra.eval.read import ISOLATION
from orchestra.eval.run import Played, play_all
from orchestra.eval.scenario import Scenario

SUITE = find_scenarios()
WORSE = ("chat", "tools")
"""Presets that are made worse: with recall by itself, and without."""
LARGE = "one-megabyte-log"


def played(scenarios: tuple[Scenario, ...], policy: str) -> tuple[Played, ...]:
    return anyio.run(partial(play_all, scenarios, choose(policy, {})))


def mixed_up(scenario: Scenario) -> Scenario:
    """The same with one context for all users."""
    return structs.replace(scenario, turns=tuple(structs.replace(turn, by="") for turn in scenario.turns))


@cache
def failing_when_worse() -> dict[str, list[str]]:
    """By scenario, the policies without its mechanisms under which it fails."""
    groups = defaultdict(list)
    for scenario in SUITE:
        groups[scenario.mechanisms].append(scenario)
    failing: dict[str, list[str]] = defaultdict(list)
    for mechanisms, group in groups.items():
        isolated = ISOLATION in mechanisms
        scenarios = tuple(map(mixed_up, group)) if isolated else tuple(group)
        for preset in WORSE:
            policy = preset if isolated else "-".join((preset, *mechanisms))
            for each in played(scenarios, policy):
                if not each.passed:
                    failing[each.scenario.name].append(policy)
    return failing


def test_the_suite_is_as_large_as_it_says() -> None:
    """At least thirty scenarios, ten of them Chinese, each with a mechanism that carries it."""
    assert len(SUITE) >= 30
    assert sum(scenario.language == "zh" for scenario in SUITE) >= 10
    assert all(scenario.mechanisms for scenario in SUITE)
    assert sum(len(scenario.users) > 1 for scenario in SUITE) >= 2
    summed = {behaviour for scenario in SUITE for behaviour in scenario.summaries}
    assert summed >= {"faithful", "fails", "lies", "repeats", "empty", "forgets", "refuses"}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_suite_passes_under_every_preset(preset: str) -> None:
    """Every scenario passes with the scripted model; the megabyte is tried under two, as it takes a while."""
    scenarios = tuple(each for each in SUITE if each.name != LARGE or preset in WORSE)
    wrong = [
        f"{each.scenario.name}, turn {problem.turn}: {problem.what}"
        for each in played(scenarios, preset)
        for problem in each.problems
    ]
    assert wrong == []


@pytest.mark.parametrize("name", [scenario.name for scenario in SUITE])
def test_each_scenario_can_fail(name: str) -> None:
    """Without the mechanisms that it names a scenario fails, under one of two presets at least."""
    assert failing_when_worse()[name]


def test_a_naive_window_fails_most_of_it() -> None:
    """The newest turns that fit are not enough for most scenarios."""
    scenarios = tuple(each for each in SUITE if each.name != LARGE)
    passed = [each.scenario.name for each in played(scenarios, "naive") if each.passed]
    assert len(passed) < len(scenarios) / 3, passed


def test_scenarios_bring_their_mechanism_into_play() -> None:
    """A talk that is not about isolation is longer than its window: something has left before it ends."""
    scenarios = tuple(each for each in SUITE if each.name != LARGE and ISOLATION not in each.mechanisms)
    at_ease = [each.scenario.name for each in played(scenarios, "tools") if not each.figures.compactions]
    assert at_ease == []
