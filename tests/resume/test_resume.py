"""A session goes on over its record, wherever it was cut off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from msgspec import structs

from orchestra import Runtime
from orchestra.journal.prompts import read_prompt
from orchestra.models.scripted import Scripted
from orchestra.values.messages import Message
from tests.resume.cut import CATS, DOGS, GONE, cut, events, host, recorded, same
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


async def test_a_session_that_could_not_go_on_is_let_go_of(tmp_path: Path) -> None:
    """Cancelled at any moment before its workflow runs, or refused: it can be gone on with at once."""
    report = await recorded(tmp_path)
    folder = cut(tmp_path, 9, tmp_path / "cut")
    async with host(folder, scripted_team(CATS, DOGS)) as runtime:
        journal = runtime.kit.journal
        for turns in (*range(12), 20, 40):
            async with anyio.create_task_group() as group:
                group.start_soon(_opened, runtime, report.session)
                for _ in range(turns):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
            await journal.flush()
            found = await journal.find_session(report.session)
            assert found.owner == GONE or found.status == "interrupted"
        assert found.owner != GONE
        assert same(await runtime.resume(report.session)) == same(report)


async def _opened(runtime: Runtime, session: str) -> None:
    async with runtime.resumed(session):
        await anyio.sleep_forever()


async def test_what_a_fork_with_another_question_was_sent_is_what_its_record_shows(tmp_path: Path) -> None:
    """Wherever it was forked: its first calls come from a record of other words."""
    report = await recorded(tmp_path)
    for number, _, _ in events(tmp_path):
        model = scripted_team(CATS, DOGS)
        async with host(tmp_path, model) as runtime:
            name = await runtime.fork(report.session, at=number, question="Cows?")
            await runtime.resume(name)
            await runtime.kit.journal.flush()
            shown = [
                (await read_prompt(runtime.kit.journal, name, agent, turn)).messages
                for agent, turn in await _replied_after(runtime, name, number)
            ]
        asked = [each.messages for each in model.requests]
        assert sorted(map(_said, shown)) == sorted(map(_said, asked)), number


def _said(messages: Sequence[Message]) -> str:
    """All but the cache of what goes over a wire, which a role's message keeps from session to session."""
    return repr([structs.replace(each, wire=b"") for each in messages])


async def _replied_after(runtime: Runtime, session: str, number: int) -> list[tuple[str, int]]:
    replies = await runtime.kit.journal.events(session, kinds=("reply",))
    return [(event.agent, event.turn) for event in replies if event.seq > number]
