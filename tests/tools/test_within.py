"""Scopes end when their time is up, by one timer for all of them, and leave none behind."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from orchestra.tools.within import Timekeeper, stoppable


class Timers:
    """What the running loop was asked to call later."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[asyncio.TimerHandle] = []
        loop = asyncio.get_running_loop()
        call_at = loop.call_at

        def counted(
            when: float, callback: Callable[..., Any], *given: Any, **named: Any
        ) -> asyncio.TimerHandle:
            self.made.append(call_at(when, callback, *given, **named))
            return self.made[-1]

        monkeypatch.setattr(loop, "call_at", counted)

    @property
    def waiting(self) -> int:
        return sum(not handle.cancelled() for handle in self.made)


@pytest.mark.anyio
async def test_a_scope_ends_when_its_time_is_up() -> None:
    """And not before, whichever was begun first."""
    times = Timekeeper()
    with times.within(60) as long:
        for seconds in (0.02, 0.01):
            began = anyio.current_time()
            with times.within(seconds) as scope:
                await anyio.sleep_forever()
            assert scope.cancelled_caught
            assert anyio.current_time() - began >= seconds - 0.002
    assert not long.cancel_called


@pytest.mark.anyio
async def test_each_of_several_ends_at_its_own_time() -> None:
    """One that is due later goes on when another has ended."""
    times, ended = Timekeeper(), list[float]()

    async def wait(seconds: float) -> None:
        with times.within(seconds):
            await anyio.sleep_forever()
        ended.append(seconds)

    async with anyio.create_task_group() as group:
        for seconds in (0.09, 0.03, 0.06):
            group.start_soon(wait, seconds)
    assert ended == [0.03, 0.06, 0.09]


@pytest.mark.anyio
async def test_scopes_share_one_timer_and_leave_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest deadline has it; it is gone with the last of them."""
    times, timers = Timekeeper(), Timers(monkeypatch)
    with times.within(300):
        for _ in range(20):
            with times.within(60):
                await anyio.lowlevel.checkpoint()
        assert len(timers.made) == 2
        assert timers.waiting == 1
    assert timers.waiting == 0


@pytest.mark.anyio
async def test_a_deadline_is_seen_and_can_be_moved() -> None:
    """Who asks how much time is left is told; a limit that stands still ends nothing until it goes on."""
    times = Timekeeper()
    with times.within(0.02) as scope:
        due = scope.deadline
        assert anyio.current_effective_deadline() == due
        scope.deadline = math.inf
        with anyio.move_on_after(0.05):
            await anyio.sleep_forever()
        assert not scope.cancel_called
        scope.deadline = due
        await anyio.sleep_forever()
    assert scope.cancelled_caught


@pytest.mark.anyio
async def test_without_a_limit_only_somebody_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """No timer is made for it."""
    timers = Timers(monkeypatch)
    for scope in (stoppable(), Timekeeper().within(None)):
        with scope:
            assert anyio.current_effective_deadline() == math.inf
            scope.cancel()
            await anyio.Event().wait()
        assert scope.cancelled_caught
    assert not timers.made


def test_one_serves_one_loop_after_another() -> None:
    """What a loop left when it was done is nothing to the next."""
    times = Timekeeper()

    async def ends() -> bool:
        with times.within(0.01) as scope:
            await anyio.sleep_forever()
        return scope.cancelled_caught

    assert anyio.run(ends)
    assert anyio.run(ends)
