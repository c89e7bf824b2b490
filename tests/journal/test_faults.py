"""A store that takes nothing for a while: one sentence, nothing lost, and the run goes on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from orchestra.errors import StoreError
from orchestra.journal import upkeep
from orchestra.journal.journal import Journal
from orchestra.journal.reading import read_journal
from orchestra.journal.store import Store
from orchestra.testing.replay import Replaying, replay
from orchestra.workflow import research_then_write
from tests.journal.recording import SESSION, begun, event
from tests.resume.cut import CATS, DOGS, QUESTION, host, write_documents
from tests.team import scripted_team, settings

pytestmark = pytest.mark.anyio
FAULTS = {
    "PRAGMA max_page_count = 1": (
        "PRAGMA max_page_count = 1000000",
        r"^The disk .* is full: free some space\.$",
    ),
    "PRAGMA query_only = ON": ("PRAGMA query_only = OFF", r"^The store \S+ is read-only: .*\.$"),
}


def pragma(text: str):  # type: ignore[no-untyped-def] # a function of the store
    """Sets it on the connection that the store writes with."""

    def work(store: Store) -> None:
        store.writer.execute(text)

    return work


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_cannot_be_written_is_said_and_written_later(tmp_path: Path, fault: str) -> None:
    """Events are taken meanwhile; when the store takes them again, all are there."""
    mend, sentence = FAULTS[fault]
    async with Journal.open(tmp_path / "store.db") as journal:
        await begun(journal)
        await journal.flush()
        await journal.do(pragma(fault))
        for number in range(1, 30):
            await journal.record(event(number, text=random.randbytes(20_000).hex()))
        with pytest.raises(StoreError, match=sentence):
            await journal.flush()
        assert journal.failure is not None
        await journal.do(pragma(mend))
        await journal.durable()
        assert journal.failure is None
        assert [found.turn for found in await journal.events(SESSION)] == list(range(1, 30))


async def test_a_run_goes_on_while_its_store_is_full(tmp_path: Path) -> None:
    """It ends with its report, and when there is room again, with its record."""
    documents = write_documents(tmp_path / "docs")
    async with host(tmp_path, scripted_team(CATS, DOGS)) as runtime:
        journal = runtime.kit.journal
        async with runtime.session(QUESTION, documents=documents) as session:
            await journal.flush()
            await journal.do(pragma("PRAGMA query_only = ON"))
            report = await research_then_write(session, session.question)
            with pytest.raises(StoreError, match="is read-only"):
                await journal.flush()
            await journal.do(pragma("PRAGMA query_only = OFF"))
    assert [one.locator for one in report.references] == ["cats.md", "dogs.md"]
    async with read_journal(tmp_path / "store.db") as reader:
        assert await reader.do(upkeep.check) == ()
        again = await replay(reader, "last", Replaying(settings=settings(tmp_path)))
    assert again == report


async def test_a_session_that_another_process_writes_holds_up_no_other(tmp_path: Path) -> None:
    """Its rows are refused, with a sentence; those of the same commit are written."""
    other = "20261130-074206-aaaaaaaa"
    async with Journal.open(tmp_path / "store.db") as first, Journal.open(tmp_path / "store.db") as second:
        await begun(first)
        await first.record(event(1, text="mine"))
        await first.flush()
        await begun(second)
        await begun(second, other)
        await second.record(event(2, text="late"))
        await second.record(event(1, session=other, text="in time " * 60))
        await second.flush()
        with pytest.raises(StoreError, match="written by another process"):
            await second.record(event(3))
        await second.record(event(2, session=other, text="in time " * 60))
        await second.flush()
        assert [found.turn for found in await first.events(SESSION)] == [1]
        assert [found.turn for found in await first.events(other)] == [1, 2]
        assert await first.do(upkeep.check) == ()
