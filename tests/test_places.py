"""The places of a session's agents."""

from __future__ import annotations

from contextlib import AsyncExitStack

import anyio
import pytest

from orchestra.session.places import Places
from orchestra.tools.place import Place

pytestmark = pytest.mark.anyio


async def test_agents_are_let_in_as_they_ask() -> None:
    """With two places the third waits for the first to end; nobody passes who came later."""
    places, came = Places(2), list[int]()
    ends = [anyio.Event() for _ in range(5)]

    async def agent(number: int) -> None:
        async with places.taken(Place()):
            came.append(number)
            await ends[number].wait()

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(agent, number)
            await anyio.wait_all_tasks_blocked()
        assert came == [0, 1]
        for number in range(5):
            ends[number].set()
            await anyio.wait_all_tasks_blocked()
            assert came == list(range(min(number + 3, 5)))


async def test_who_is_cancelled_in_line_takes_no_place_with_it() -> None:
    """Cancelled before its turn or at its very turn, an agent leaves every place to the others."""
    places = Places(1)
    for at_its_turn in (False, True):
        with anyio.CancelScope() as scope:
            async with AsyncExitStack() as first, anyio.create_task_group() as group:
                await first.enter_async_context(places.taken(Place()))

                async def second() -> None:
                    async with places.taken(Place()):
                        await anyio.sleep_forever()

                group.start_soon(second)
                await anyio.wait_all_tasks_blocked()
                if at_its_turn:
                    await first.aclose()
                scope.cancel()
        async with places.taken(Place()):
            pass


async def test_who_waits_for_a_person_holds_no_place() -> None:
    """Another works meanwhile, and the one that waited comes back when there is a place again."""
    places, place, told = Places(1), Place(), list[str]()

    async def other() -> None:
        async with places.taken(Place()):
            told.append("other")

    async with places.taken(place), anyio.create_task_group() as group:
        async with places.waiting(place):
            group.start_soon(other)
            await anyio.wait_all_tasks_blocked()
        told.append("back")
    assert told == ["other", "back"]
