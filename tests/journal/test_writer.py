"""The writer: groups, order, backpressure, failures, cancellation."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from orchestra.errors import StoreError
from orchestra.journal.faults import StoreBusy
from orchestra.journal.journal import Journal
from orchestra.journal.queue import Options
from orchestra.journal.rows import Item, Line, Live, Rows
from orchestra.journal.writer import Writer
from tests.journal.recording import SESSION, begun, event

pytestmark = pytest.mark.anyio
LONG = 3_600.0  # no test waits for a group's time


class Shelf:
    """A store for the writer alone: keeps the numbers of the items it was given, or fails as it is told."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.failing: StoreError | None = None
        self.tried = threading.Event()
        self._made: list[int] = []

    def make(self, items: Sequence[Item]) -> Rows:
        self._made = [item.seq for item in items if isinstance(item, Line)]
        return Rows()

    def write(self, rows: Rows) -> None:
        self.tried.set()
        if self.failing is not None:
            raise self.failing
        self.groups.append(self._made)


def item(number: int, size: int = 100) -> Item:
    return Line(Live(SESSION), number, size, "", 0, "note", 0.0, "{}", {})


async def tried(shelf: Shelf) -> None:
    await anyio.to_thread.run_sync(shelf.tried.wait)


async def test_items_are_committed_in_groups_and_in_order() -> None:
    """A thousand items that are there at once take a few commits, and keep their order."""
    shelf = Shelf()
    writer = Writer(shelf.write, shelf.make, Options(group_seconds=LONG))
    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        for number in range(1_000):
            await writer.put(item(number))
        await writer.flush()
        await writer.close()
    assert [number for numbers in shelf.groups for number in numbers] == list(range(1_000))
    assert len(shelf.groups) <= 3


async def test_a_full_queue_holds_its_callers() -> None:
    """What a store does not take soon enough waits in its callers, not in memory."""
    shelf = Shelf()
    shelf.failing = StoreBusy("The store is locked.")
    writer = Writer(shelf.write, shelf.make, Options(queue_events=3))
    taken: list[int] = []

    async def record() -> None:
        for number in range(10):
            await writer.put(item(number))
            taken.append(number)

    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        group.start_soon(record)
        await tried(shelf)
        assert taken == [0, 1, 2]
        shelf.failing = None
        while len(taken) < 10:
            await writer.flush()
        await writer.close()
    assert [number for numbers in shelf.groups for number in numbers] == list(range(10))


async def test_an_item_larger_than_the_queue_is_taken_alone() -> None:
    """A text above the queue's bytes is no dead end."""
    shelf = Shelf()
    writer = Writer(shelf.write, shelf.make, Options(queue_bytes=10))
    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        for number in range(3):
            await writer.put(item(number, 1_000))
        await writer.close()
    assert [number for numbers in shelf.groups for number in numbers] == [0, 1, 2]


async def test_a_failing_store_is_said_and_nothing_is_lost() -> None:
    """A full disk is raised by flush; what was taken is written as soon as there is space again."""
    shelf = Shelf()
    shelf.failing = StoreError("The disk is full.")
    writer = Writer(shelf.write, shelf.make, Options(queue_events=2))
    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        for number in range(2):
            await writer.put(item(number))
        with pytest.raises(StoreError, match="disk is full"):
            await writer.flush()
        with pytest.raises(StoreError, match="disk is full"):
            await writer.put(item(2))  # the queue is full too
        shelf.failing = None
        while writer.failure is not None:
            await anyio.lowlevel.checkpoint()
        await writer.flush()
        await writer.close()
    assert [number for numbers in shelf.groups for number in numbers] == [0, 1]


async def test_what_cannot_be_written_in_time_is_counted() -> None:
    """Closing is bounded, and says how much is lost and why."""
    shelf = Shelf()
    shelf.failing = StoreError("The disk is full.")
    writer = Writer(shelf.write, shelf.make, Options(close_seconds=0.01))
    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        await writer.put(item(1))
        await tried(shelf)
        with pytest.raises(StoreError, match=r"The disk is full\. The last event"):
            await writer.close()


async def test_cancellation_loses_nothing_that_was_taken(tmp_path: Path) -> None:
    """A run that is cancelled leaves a journal with everything it recorded."""
    store = tmp_path / "store.db"
    with anyio.CancelScope() as scope:
        async with Journal.open(store, options=Options(group_seconds=LONG)) as journal:
            await begun(journal)
            for number in range(1, 50):
                await journal.record(event(number, text="x" * 200))
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    async with Journal.open(store) as journal:
        assert [found.turn for found in await journal.events(SESSION)] == list(range(1, 50))


async def test_a_cancelled_wait_takes_nothing(tmp_path: Path) -> None:
    """An event whose caller gave up while the queue was full is not recorded, and leaves no hole."""
    store = tmp_path / "store.db"
    async with Journal.open(store, options=Options(queue_events=2)) as journal:
        await begun(journal)
        await journal.flush()
        lock = sqlite3.connect(store, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        await journal.record(event(1))
        await journal.record(event(2))
        with anyio.CancelScope() as scope:
            scope.cancel()
            await journal.record(event(3))
        assert scope.cancelled_caught
        lock.execute("ROLLBACK")
        lock.close()
        await journal.flush()
        await journal.record(event(4))
        await journal.flush()
        found = await journal.events(SESSION)
    assert [(each.seq, each.turn) for each in found] == [(1, 1), (2, 2), (3, 4)]


async def test_a_locked_store_only_delays(tmp_path: Path) -> None:
    """Another process that holds the lock for a while is no failure."""
    store = tmp_path / "store.db"
    async with Journal.open(store) as journal:
        await begun(journal)
        await journal.flush()
        lock = sqlite3.connect(store, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        await journal.record(event(1))
        async with anyio.create_task_group() as group:
            group.start_soon(journal.flush)
            await anyio.wait_all_tasks_blocked()
            assert await journal.events(SESSION) == ()
            lock.execute("ROLLBACK")
            lock.close()
        assert journal.failure is None
        assert len(await journal.events(SESSION)) == 1


async def test_a_long_lock_is_a_sentence(tmp_path: Path) -> None:
    """After its patience the journal says who is in the way, and goes on when it can."""
    store = tmp_path / "store.db"
    async with Journal.open(store, options=Options(locked_seconds=0.0)) as journal:
        await begun(journal)
        await journal.flush()
        lock = sqlite3.connect(store, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        await journal.record(event(1))
        with pytest.raises(StoreError, match="locked by another process"):
            await journal.flush()
        lock.execute("ROLLBACK")
        lock.close()
    async with Journal.open(store) as journal:
        assert len(await journal.events(SESSION)) == 1


async def test_a_session_of_another_process_is_refused_alone(tmp_path: Path) -> None:
    """Two writers of one session: the second is told, and the other sessions of its group are kept."""
    store = tmp_path / "store.db"
    async with Journal.open(store) as first, Journal.open(store) as second:
        await begun(first)
        await first.flush()
        await begun(second)
        await begun(second, "20261130-080000-00000000")
        await second.record(event(1, session="20261130-080000-00000000"))
        await second.flush()
        with pytest.raises(StoreError, match="written by another process"):
            await second.record(event(1))
        assert len(await second.events("20261130-080000-00000000")) == 1


async def test_what_is_queued_of_a_session_that_another_process_took_is_not_written(tmp_path: Path) -> None:
    """Between its events would stand those of two runs, and its end would be the wrong one's."""
    store = tmp_path / "store.db"
    async with Journal.open(store) as journal:
        await begun(journal)
        await journal.record(event(1))
    elsewhere = "UPDATE sessions SET status = 'running', owner = 'elsewhere:1'"
    async with Journal.open(store, options=Options(group_events=2)) as late, Journal.open(store) as other:
        for journal in (late, other):
            with sqlite3.connect(store) as database:
                database.execute(elsewhere)
            await journal.reopen(SESSION)
        await other.record(event(2))
        await other.flush()
        for number in range(102, 107):  # three groups
            await late.record(event(number))
        await late.finish(SESSION, "failed", at=9.0)
        await late.flush()
        await other.record(event(3))
        await other.flush()
        assert [found.turn for found in await other.events(SESSION)] == [1, 2, 3]
        assert (await other.find_session(SESSION)).status == "running"


async def test_a_session_is_gone_on_with_as_soon_as_it_has_ended(tmp_path: Path) -> None:
    """What is recorded of it and waits to be written counts."""
    async with Journal.open(tmp_path / "store.db", options=Options(group_seconds=LONG)) as journal:
        await begun(journal)
        await journal.record(event(1))
        await journal.finish(SESSION, "interrupted", at=2.0)
        assert (await journal.reopen("last")).status == "interrupted"
        await journal.record(event(2))
        await journal.flush()
        assert [found.turn for found in await journal.events(SESSION)] == [1, 2]


async def test_the_error_of_the_block_leaves_as_it_is(tmp_path: Path) -> None:
    """Closing the journal wraps nothing in a group."""
    with pytest.raises(KeyError, match="mine"):  # noqa: PT012 - the block is what is tested
        async with Journal.open(tmp_path / "store.db") as journal:
            await begun(journal)
            raise KeyError("mine")


async def test_events_of_no_session_are_refused() -> None:
    """A session is begun before its events, and over when it is finished."""
    async with Journal.open(":memory:") as journal:
        with pytest.raises(ValueError, match="not begun"):
            await journal.record(event(1))
        await begun(journal)
        await journal.finish(SESSION, "done", at=2.0)
        with pytest.raises(ValueError, match="finished"):
            await journal.record(event(1))
        await journal.flush()
        [session] = await journal.sessions()
        assert (session.status, session.finished) == ("done", 2.0)


async def test_data_that_is_no_json_is_refused_where_it_is_given() -> None:
    """A mistake in one event is its caller's and does not stop the writer."""
    async with Journal.open(":memory:") as journal:
        await begun(journal)
        with pytest.raises(TypeError):
            await journal.record(structs.replace(event(1), data={"x": object()}))
        await journal.record(event(2))
        await journal.flush()
        assert [found.turn for found in await journal.events(SESSION)] == [2]
