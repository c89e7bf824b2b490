"""The collector's pace is the program's again when a runtime is done."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestra.models.scripted import Scripted
from orchestra.runtime import Runtime
from orchestra.session.collecting import collected_seldom
from orchestra.workflow import research_then_write
from tests.team import scripted_team, settings


@pytest.fixture(autouse=True)
def pace() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.anyio
async def test_a_runtime_has_the_collector_look_less_often(tmp_path: Path) -> None:
    """While it hosts, and no longer."""
    gc.set_threshold(700, 10, 10)
    async with Runtime(settings(tmp_path)):
        assert gc.get_threshold()[0] > 700
    assert gc.get_threshold() == (700, 10, 10)


def test_what_sessions_at_work_hold_is_not_looked_for() -> None:
    """Many at work make the collector wait longer, until somebody else sets its pace."""
    gc.set_threshold(700, 10, 10)
    with collected_seldom() as pace:
        assert pace is not None
        idle = gc.get_threshold()[0]
        pace.at_work(500)
        assert gc.get_threshold()[0] > idle + 100_000
        pace.at_work(0)
        assert gc.get_threshold()[0] == idle
        gc.set_threshold(5_000, 7, 7)
        pace.at_work(500)
    assert gc.get_threshold() == (5_000, 7, 7)


@pytest.mark.parametrize("chosen", [(0, 10, 10), (50_000, 20, 100)])
def test_who_has_chosen_a_slower_pace_keeps_it(chosen: tuple[int, int, int]) -> None:
    """Off stays off, and seldom stays seldom."""
    gc.set_threshold(*chosen)
    with collected_seldom():
        assert gc.get_threshold() == chosen
    assert gc.get_threshold() == chosen


def test_a_change_inside_stays() -> None:
    """What the program sets while a runtime hosts is not undone."""
    gc.set_threshold(700, 10, 10)
    with collected_seldom():
        gc.set_threshold(1_234, 5, 5)
    assert gc.get_threshold() == (1_234, 5, 5)


@pytest.mark.anyio
async def test_what_a_session_held_is_gone_when_it_ends(tmp_path: Path) -> None:
    """Nothing of it goes round in a circle and waits for the collector."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "cats.md").write_text("# Cats\n\nCats sleep 13 hours a day.\n", encoding="utf-8")
    model: Scripted = scripted_team("How long do cats sleep?")
    async with Runtime(settings(tmp_path), models={"small": model}) as host:
        gc.disable()
        try:
            async with host.session("How long do cats sleep?", documents=folder) as session:
                await research_then_write(session, session.question)
                held = [weakref.ref(part) for part in (session, session.ledger, session.people)]
            del session
            assert [part() for part in held] == [None, None, None]
        finally:
            gc.enable()
