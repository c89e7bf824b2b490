"""A recorded session runs again with no model and no network."""

from __future__ import annotations

from pathlib import Path

import anyio
import msgspec
import pytest

from orchestra.errors import RecordDiffers
from orchestra.journal.export import export_session
from orchestra.journal.reading import read_journal
from orchestra.models.scripted import Scripted
from orchestra.testing.recordings import Recording
from orchestra.testing.replay import Replaying, replay
from orchestra.values.report import Report
from orchestra.workflow import research_then_write
from tests.resume.cut import CATS, DOGS, QUESTION, cut, events, host, recorded, write_documents
from tests.team import first_study, settings, stuck_at

pytestmark = pytest.mark.anyio


async def replayed(folder: Path) -> Report:
    async with read_journal(folder / "store.db") as reader:
        report = await replay(reader, "last", Replaying(settings=settings(folder)))
    assert isinstance(report, Report)
    return report


async def test_a_replay_ends_in_the_same_report_byte_for_byte(tmp_path: Path) -> None:
    """Time, usage and all; without its documents."""
    report = await recorded(tmp_path)
    (tmp_path / "docs" / "cats.md").unlink()
    assert msgspec.json.encode(await replayed(tmp_path)) == msgspec.json.encode(report)


async def test_a_resumed_session_replays_too(tmp_path: Path) -> None:
    """Cut off in the middle, gone on with, and said again."""
    whole = tmp_path / "whole"
    whole.mkdir()
    first = await recorded(whole)
    half = cut(whole, len(events(whole)) // 2, tmp_path / "half")
    async with host(half) as runtime:
        report = await runtime.resume(first.session)
    assert msgspec.json.encode(await replayed(half)) == msgspec.json.encode(report)


async def test_a_session_that_was_stopped_replays_its_partial_report(tmp_path: Path) -> None:
    """What was found until then is said again, and so is why there is no more."""
    studied = anyio.Event()
    reports: list[Report] = []
    documents = write_documents(tmp_path / "docs")
    async with (
        host(tmp_path, Scripted(stuck_at(DOGS, CATS, DOGS))) as runtime,
        runtime.session(QUESTION, documents=documents, watch=first_study(studied)) as session,
        anyio.create_task_group() as group,
    ):

        async def work() -> None:
            reports.append(await research_then_write(session, QUESTION))

        group.start_soon(work)
        await studied.wait()
        session.stop("interrupted", who="a test")
    again = await replayed(tmp_path)
    assert again.partial == "interrupted"
    assert msgspec.json.encode(again) == msgspec.json.encode(reports[0])


async def test_a_replay_of_half_a_session_says_so(tmp_path: Path) -> None:
    """It makes nothing up."""
    whole = tmp_path / "whole"
    whole.mkdir()
    await recorded(whole)
    half = cut(whole, len(events(whole)) // 2, tmp_path / "half")
    with pytest.raises(RecordDiffers, match="orchestra resume"):
        await replayed(half)


async def test_an_exported_session_is_one_file_that_replays(tmp_path: Path) -> None:
    """Anywhere, as a test's fixture."""
    report = await recorded(tmp_path)
    file = tmp_path / "session.jsonl"
    async with read_journal(tmp_path / "store.db") as reader:
        file.write_text(await export_session(reader, "last"), encoding="utf-8")
    recording = Recording(file)
    again = await recording.replay(Replaying(settings=settings(tmp_path)))
    assert msgspec.json.encode(again) == msgspec.json.encode(report)
    assert await recording.report() == report


async def test_a_changed_role_is_said(tmp_path: Path) -> None:
    """Who differs, in which turn and in what."""
    await recorded(tmp_path)
    async with host(tmp_path) as runtime:
        role = msgspec.structs.replace(runtime.kit.roles["writer"], instructions="Write it in verse.")
    async with read_journal(tmp_path / "store.db") as reader:
        with pytest.raises(RecordDiffers, match=r"writer\.1 differs .* in turn 1: its instructions"):
            await replay(reader, "last", Replaying(settings=settings(tmp_path), roles=(role,)))
