"""Who waits for the writer is woken when it is its turn."""

from __future__ import annotations

import threading
from functools import partial

import anyio
import anyio.lowlevel
import pytest

from orchestra.errors import StoreError
from orchestra.journal.queue import Options
from orchestra.journal.rows import Change, Live, Rows, SessionChange
from orchestra.journal.waiting import Waiting
from orchestra.journal.writer import Writer

pytestmark = pytest.mark.anyio


async def test_a_commit_wakes_those_whose_events_it_wrote() -> None:
    """The others sleep on."""
    waiting, woken = Waiting(), []

    async def wait(mark: int) -> None:
        await waiting.until(mark)
        woken.append(mark)

    async with anyio.create_task_group() as group:
        for mark in (3, 1, 2):
            group.start_soon(wait, mark)
        await anyio.wait_all_tasks_blocked()
        waiting.written(2)
        await anyio.wait_all_tasks_blocked()
        assert woken == [1, 2]
        assert waiting
        waiting.all()
    assert woken == [1, 2, 3]
    assert not waiting


async def test_who_began_to_wait_later_is_looked_at_later() -> None:
    """One timer serves all, and nobody's patience ends with another's."""
    waiting = Waiting()
    first = waiting.until(1)
    assert waiting.look()
    second = waiting.until(1)
    assert waiting.look()
    assert first.done()
    assert not first.result()
    assert not second.done()
    waiting.written(1)
    assert second.result()
    assert not waiting.look()


async def test_room_goes_to_as_many_as_fit_in_their_order() -> None:
    """By number and by size; one that is larger than all there is goes first and alone."""
    waiting, woken = Waiting(), []

    async def wait(size: int) -> None:
        await waiting.room(size)
        woken.append(size)

    async with anyio.create_task_group() as group:
        for size in (90, 5, 6, 7):
            group.start_soon(wait, size)
            await anyio.wait_all_tasks_blocked()
        for events, size, expected in ((9, 50, [90]), (1, 50, [90, 5]), (9, 50, [90, 5, 6, 7])):
            waiting.room_for(events, size)
            await anyio.wait_all_tasks_blocked()
            assert woken == expected


async def test_room_that_is_not_taken_is_passed_on() -> None:
    """Who is cancelled as it gets room does not keep the others from theirs."""
    writer = Writer(lambda rows: None, lambda items: Rows(), Options(queue_events=1, group_events=1))
    live, taken = Live("s"), []
    scopes = [anyio.CancelScope() for _ in range(6)]

    async def record(number: int) -> None:
        with scopes[number]:
            await writer.put(Change(live, SessionChange("done", None), 10))
            taken.append(number)
            if number == 0:
                await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(partial(record, number))
        await anyio.wait_all_tasks_blocked()
        assert taken == [0]
        for scope in scopes[1:5]:
            scope.cancel()
        group.start_soon(writer.run)
        while 5 not in taken:
            await anyio.lowlevel.checkpoint()
        await writer.close()
    assert taken == [0, 5]
    with pytest.raises(StoreError, match="closed"):
        await writer.room(10)


async def test_who_waits_for_a_while_goes_on_where_the_store_hangs() -> None:
    """It is told that nothing is safe yet; once the store takes it, that it is."""
    free = threading.Event()

    def write(_rows: Rows) -> None:
        free.wait()

    writer = Writer(write, lambda items: Rows(), Options())
    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        await writer.put(Change(Live("s"), SessionChange("done", None), 10))
        mark = writer.queue.accepted
        late = writer.settled(mark, 0.01)
        assert late is not None
        assert not await late
        free.set()
        soon = writer.settled(mark, 60)
        assert soon is None or await soon
        await writer.close()
