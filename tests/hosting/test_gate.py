"""Admission: a limit, a bounded queue, a clear no."""

from __future__ import annotations

import anyio
import pytest

from orchestra.errors import Overloaded
from orchestra.session.gate import Gate

pytestmark = pytest.mark.anyio


def gate(limit: int | None = 1, queue: int | None = 1, took: float = 4.0) -> Gate:
    """With a clock that moves on by `took` seconds at each look."""
    times = iter(range(10_000))
    return Gate(limit, queue, lambda: next(times) * took)


async def test_a_place_is_given_while_there_is_one() -> None:
    """Up to the limit sessions come in at once."""
    house = gate(limit=2)
    async with house.place(), house.place():
        assert house.statistics.active == 2
    assert house.statistics.active == 0
    assert house.statistics.busiest == 2


async def test_who_waits_comes_in_in_order() -> None:
    """Places are given in the order of asking."""
    house, order = gate(queue=None), list[int]()
    release = anyio.Event()

    async def come(number: int) -> None:
        async with house.place():
            order.append(number)
            await release.wait()

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(come, number)
            await anyio.lowlevel.checkpoint()
        assert (house.statistics.active, house.statistics.waiting) == (1, 4)
        release.set()
    assert order == [0, 1, 2, 3, 4]


async def test_a_full_queue_says_when_to_come_again() -> None:
    """Beyond the queue comes Overloaded, with the time that the queue will take at the pace of late."""
    house = gate()
    async with house.place():
        pass
    entered, waiting = anyio.Event(), anyio.CancelScope()

    async def wait() -> None:
        with waiting:
            entered.set()
            async with house.place():
                pass

    async with house.place(), anyio.create_task_group() as group:
        group.start_soon(wait)
        await entered.wait()
        with pytest.raises(Overloaded, match="try again in 8 s") as caught:
            async with house.place():
                pass
        assert caught.value.retry_after == 8.0
        waiting.cancel()
    assert house.statistics.refused == 1


async def test_one_that_gives_up_waiting_leaves_no_gap() -> None:
    """A waiter that is cancelled frees its place in the queue, and nobody's place at work."""
    house = gate(queue=5)
    with anyio.CancelScope() as scope:
        async with house.place():
            scope.cancel()
            async with house.place():
                raise AssertionError("there was no place")
    assert (house.statistics.active, house.statistics.waiting) == (0, 0)
    async with house.place():
        assert house.statistics.active == 1


async def test_a_closed_gate_refuses_who_waits_and_who_comes() -> None:
    """Shutting down is said to both."""
    house, refused = gate(queue=5), list[str]()

    async def come() -> None:
        try:
            async with house.place():
                pass
        except Overloaded as error:
            refused.append(str(error))

    async with house.place(), anyio.create_task_group() as group:
        group.start_soon(come)
        await anyio.wait_all_tasks_blocked()
        house.close()
        group.start_soon(come)
    assert len(refused) == 2
    assert all("shutting down" in words for words in refused)
    await house.emptied()
