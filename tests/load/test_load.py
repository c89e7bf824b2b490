"""The load test: it counts every session, and finds what one session sees of another."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.load.canary import canary, sessions_in
from orchestra.load.figures import figures_of, problems_of, spread
from orchestra.load.notes import note_of, question_of
from orchestra.load.page import page_of
from orchestra.load.plan import LoadPlan
from orchestra.load.run import run_load
from orchestra.load.table import table_of
from orchestra.load.witness import Witness, covered, depth
from orchestra.values.messages import Message, Request, ToolCall

pytestmark = pytest.mark.anyio

SMALL = LoadPlan(sessions=24, concurrency=8, latency_seconds=0.01, warmup=2)


@given(st.lists(st.integers(0, 0xFFFF_FFFF), max_size=6), st.text(max_size=20))
def test_canaries_are_found_wherever_they_stand(numbers: list[int], between: str) -> None:
    """Whatever stands around them, all canaries of a text are found, and nothing else."""
    text = between.join(canary(number, "fact") for number in numbers)
    assert sessions_in(text) == set(numbers)


def test_every_kind_of_text_carries_its_session() -> None:
    """Question, fact and document name the session they belong to."""
    assert sessions_in(question_of(7)) == {7}
    assert question_of(7).count("canary-") == 2
    assert sessions_in(note_of(9, 1).text) == {9}


async def test_every_session_is_accounted_for() -> None:
    """With faults and cancellations each session has an outcome and an end; none sees another's data."""
    told: list[str] = []
    result = await run_load(
        LoadPlan(sessions=40, concurrency=20, latency_seconds=0.01, warmup=2, faults=0.1, cancel=0.2),
        told.append,
    )
    figures = figures_of(result)
    assert problems_of(result) == ()
    assert sum(figures.fates.values()) == 40
    assert figures.fates["cancelled"] > 0
    assert result.searched["prompts"] > 100
    assert result.searched["journal rows"] > 1_000
    assert "no foreign canary" in table_of(result)
    page = page_of(result)
    assert page.count("<svg") == 7
    assert "http://" not in page.replace("http://www.w3.org", "")


async def test_a_planted_leak_fails_the_test_and_names_both_sessions() -> None:
    """What a session sees of another is found in prompt and journal, with both numbers."""
    plan = LoadPlan(
        workflow="tests.load.leaky:leaky", sessions=8, concurrency=1, latency_seconds=0.001, warmup=1
    )
    result = await run_load(plan, lambda line: None)
    places = {leak.place for leak in result.leaks}
    assert "a prompt (user)" in places
    assert any("journal row" in place for place in places)
    pairs = {(leak.owner, leak.foreign) for leak in result.leaks}
    assert all(abs(owner - foreign) == 1 or foreign >= 0xFFFF_0000 for owner, foreign in pairs)
    owner, foreign = next(iter(pairs))
    assert any(f"session {owner} holds a canary of session {foreign}" in line for line in problems_of(result))


async def test_arrivals_are_measured_from_when_they_were_due() -> None:
    """In an open loop a session that has to wait has waited since its intended start."""
    plan = LoadPlan(
        workflow="tests.load.leaky:clean",
        sessions=20,
        rate=400.0,
        concurrency=2,
        latency_seconds=0.02,
        warmup=1,
    )
    result = await run_load(plan, lambda line: None)
    outcomes = result.outcomes
    gaps = [later.intended - sooner.intended for sooner, later in pairwise(outcomes)]
    assert max(gaps) == pytest.approx(1 / 400, abs=1e-6)
    waited = [outcome for outcome in outcomes if outcome.fate != "refused"]
    assert any(outcome.queued > 0.01 for outcome in waited) or figures_of(result).fates["refused"] > 0


def test_a_parted_pair_is_found() -> None:
    """A call without its result is a broken prompt."""
    witness = Witness()
    call = ToolCall("k1", "search", "{}")
    parted = (Message("user", "Q"), Message("assistant", calls=(call,)), Message("user", "and?"))
    witness.prompt(Request(messages=parted))
    assert witness.broken == ["session -1: user call user"]


def test_time_is_covered_once_and_chains_are_counted() -> None:
    """Calls at the same time count once; a chain is as long as its calls must wait for each other."""
    spans = [(0.0, 1.0), (1.0, 2.0), (1.0, 2.5), (2.5, 3.0)]
    assert covered(spans) == pytest.approx(3.0)
    assert depth(spans) == 3
    assert spread([]).most == 0.0


def test_the_page_is_written(tmp_path: Path) -> None:
    """The command prints the table, writes the page and says by its code how it went."""
    from click.testing import CliRunner

    from orchestra.cli.main import group

    page = tmp_path / "load.html"
    command = ["load", "--sessions", "8", "--concurrency", "4", "--latency", "5ms", "--report", str(page)]
    done = CliRunner().invoke(group, command, standalone_mode=False)
    assert done.return_value == 0, done.output
    assert "sessions a second" in done.output
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("wrong", "words"), [(["--faults", "150%"], "150%"), (["--endpoint", "here"], "no endpoint")]
)
def test_a_wrong_flag_is_named(wrong: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A share above one, an endpoint that is no URL: exit code 2 and a sentence."""
    from orchestra.cli.main import run

    assert run(["load", *wrong]) == 2
    assert words in capsys.readouterr().err
