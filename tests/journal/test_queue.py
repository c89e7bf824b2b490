"""The journal's queue: what it takes, and when the writer is told."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.journal.queue import Options, Queue
from orchestra.journal.rows import Line, Live

pytestmark = pytest.mark.anyio
LIVE = Live("s")
SMALL = st.integers(1, 12)


def line(size: int) -> Line:
    return Line(LIVE, 1, size, "", 0, "note", 0.0, "{}", {})


@given(SMALL, SMALL, SMALL, SMALL, st.lists(st.integers(-1, 14)))
def test_it_takes_what_has_room_and_nothing_else(
    events: int, size: int, group: int, group_size: int, steps: list[int]
) -> None:
    """Whatever its limits and its groups: an item while there are fewer and smaller ones, or alone.

    A step is an item of that size; 0 takes a group, -1 writes it.
    """
    options = Options(queue_events=events, queue_bytes=size, group_events=group, group_bytes=group_size)
    queue = Queue(options)
    waiting: list[int] = []
    at_work: list[int] = []
    for step in steps:
        if step > 0:
            held = [*waiting, *at_work]
            room = not held or (len(held) < events and sum(held) + step <= size)
            assert queue.offer(line(step)) is room
            waiting += [step] * room
        elif step == 0 and waiting and not at_work:
            taken, taken_size = queue.take()
            at_work, waiting = waiting[: len(taken)], waiting[len(taken) :]
            assert [each.size for each in taken] == at_work
            assert taken_size == sum(at_work)
        elif step < 0 and at_work:
            queue.wrote()
            at_work = []
        assert queue.accepted - queue.written == len(waiting) + len(at_work)


@pytest.mark.parametrize(("size", "count"), [(1, 5), (40, 3)])
async def test_a_whole_group_is_not_waited_for_any_longer(size: int, count: int) -> None:
    """By number or by size: the writer is told as soon as it is whole, and takes it."""
    queue = Queue(Options(group_seconds=3_600.0, group_events=5, group_bytes=100))
    for _ in range(count - 1):
        assert queue.offer(line(size))
    with anyio.move_on_after(0.01) as early:
        await queue.ready(at_once=False)
    assert early.cancelled_caught
    assert queue.offer(line(size))
    assert await queue.ready(at_once=False)
    assert len(queue.take()[0]) == count


async def test_a_closed_queue_takes_nothing_and_gives_what_it_has() -> None:
    """Until it is empty."""
    queue = Queue(Options(group_events=1, group_seconds=3_600.0))
    assert queue.offer(line(1))
    assert queue.offer(line(1))
    queue.close()
    assert not queue.offer(line(1))
    for _ in range(2):
        assert await queue.ready(at_once=False)
        queue.take()
        queue.wrote()
    assert not await queue.ready(at_once=False)
