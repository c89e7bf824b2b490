"""A session goes on over its record, wherever it was cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra.models.scripted import Scripted
from tests.resume.cut import CATS, DOGS, cut, events, host, recorded, same
from tests.team import scripted_team

pytestmark = pytest.mark.anyio


async def test_a_session_ends_the_same_wherever_it_was_cut_off(tmp_path: Path) -> None:
    """After each event: the report is the undisturbed one's, and only what is missing is asked."""
    whole = tmp_path / "whole"
    whole.mkdir()
    report = await recorded(whole)
    story = events(whole)
    for number, _, _ in story:
        folder = cut(whole, number, tmp_path / f"cut {number}")
        model = scripted_team(CATS, DOGS)
        async with host(folder, model) as runtime:
            again = await runtime.resume(report.session)
        replies = sum(kind == "reply" for seq, _, kind in story if seq <= number)
        assert same(again) == same(report), number
        assert len(model.requests) == 6 - replies
        apart = ("resumed", "verified")
        kinds = [(agent, kind) for _, agent, kind in events(folder) if kind not in apart]
        assert sorted(kinds) == sorted((agent, kind) for _, agent, kind in story if kind not in apart)


async def test_a_session_that_is_done_is_not_paid_for_again(tmp_path: Path) -> None:
    """Resuming it asks nobody and says the same."""
    report = await recorded(tmp_path)
    async with host(tmp_path, Scripted([])) as runtime:
        assert same(await runtime.resume("last")) == same(report)
