"""Recorded sessions as pytest fixtures.

from orchestra.testing.recordings import recording_fixture

cats = recording_fixture("tests/sessions/cats.jsonl")       # orchestra store export SESSION FILE

@pytest.mark.anyio
async def test_the_workflow_still_says_the_same(cats: Recording) -> None:
    report = await cats.replay()
    assert report == cats.report
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from orchestra.errors import InputError
from orchestra.journal.export import read_export
from orchestra.testing.replay import PLAIN, Replaying, replay
from orchestra.values.report import Report


class Recording:
    """An exported session in a file; nothing is read before it is asked for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    async def replay(self, how: Replaying = PLAIN) -> Any:
        """The session run again with no model and no network. Raises RecordDiffers where it goes apart."""
        async with read_export(self.path) as (reader, session):
            return await replay(reader, session, how)

    async def report(self) -> Report:
        """The report with which the session ended. Raises InputError where it ended without one."""
        async with read_export(self.path) as (reader, session):
            events = await reader.events(session, agent="", kinds=("verified",))
            if not events:
                raise InputError(f"The session in {self.path} ended without a report.")
            text = await reader.text(events[-1].texts["report"])
        return msgspec.json.decode(text, type=Report)


def recording_fixture(path: str | Path) -> Callable[..., Recording]:
    """A pytest fixture of this recording; assign it to a name in a test module or a conftest."""
    import pytest

    @pytest.fixture
    def recording() -> Recording:
        return Recording(path)

    return recording  # type: ignore[no-any-return, unused-ignore] # pytest wraps the function
