"""A tool that blocks the event loop is found and named; plain functions run in threads under a limit."""

from __future__ import annotations

import threading
from pathlib import Path

import anyio
import msgspec
import pytest

from orchestra.config.settings import RuntimeLimits
from orchestra.models.scripted import Scripted
from orchestra.models.tiers import Tiers
from orchestra.runtime import Runtime
from orchestra.session.session import Session
from orchestra.session.watchdog import Blocked, watched
from orchestra.tools.decorator import tool
from orchestra.tools.threads import run_in_tool_thread, tool_threads
from orchestra.values.messages import Reply, Request, ToolCall
from orchestra.values.roles import Role
from tests.team import settings

pytestmark = pytest.mark.anyio

WAIT_SECONDS = 10.0  # for a thread to do its part; a test that works ends long before


def answer(request: Request) -> object:
    if any(message.role == "tool" for message in request.messages):
        return "done"
    return Reply(calls=(ToolCall("k1", "look_up", '{"topic": "x"}'),), finish="calls")


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_blocking_tool_is_named_with_its_agent(tmp_path: Path, streamed: bool) -> None:
    """A sleep in an async tool, a user's mistake, is found while it lasts: tool, agent, line.

    Also where the tool began while its reply still came.
    """
    found: list[Blocked] = []

    @tool
    async def look_up(topic: str) -> str:
        """Look a topic up."""
        pause = threading.Event()
        for _ in range(1_000):
            found.extend(runtime.blocked)
            if found:
                break
            pause.wait(WAIT_SECONDS / 1_000)
        return topic

    role = Role(name="clerk", description="d", instructions="Look it up.", tools=("look_up",))
    model = Scripted(answer)
    runtime = Runtime(
        msgspec.structs.replace(settings(tmp_path), runtime=RuntimeLimits(blocked_seconds=0.1)),
        models=Tiers.of(model, model) if not streamed else Tiers({"large": model}, streamed=["large"]),
        roles=[role],
        tools=[look_up],
    )

    async def work(session: Session, question: str) -> str:
        return str((await session.ask("clerk", question)).value)

    async with runtime:
        assert await runtime.run(work, "What is it?") == "done"
    assert (found[0].tool, found[0].agent) == ("look_up", "clerk.1")
    assert found[0].seconds < 1.0
    assert "test_watchdog.py" in found[0].where
    assert "look_up" in found[0].where


async def test_code_outside_tools_is_named_by_its_place() -> None:
    """Where no tool is to blame, file, line and function say who is; each block is told once."""
    told: list[Blocked] = []
    seen = threading.Event()

    def tell(found: Blocked) -> None:
        told.append(found)
        seen.set()

    with watched(0.05, tell):
        assert seen.wait(WAIT_SECONDS)
    assert [found.tool for found in told] == [""]
    assert "test_code_outside_tools_is_named_by_its_place" in told[0].where


async def test_a_loop_that_waits_is_not_blocked() -> None:
    """A loop with nothing to do beats on; nothing is told and the thread goes with the block."""
    told: list[Blocked] = []
    before = threading.active_count()
    with watched(0.05, told.append):
        assert threading.active_count() == before + 1
        with anyio.move_on_after(0.2):
            await anyio.sleep_forever()
    assert told == []
    assert threading.active_count() == before


async def test_plain_functions_share_a_limited_number_of_threads() -> None:
    """No more run at once than the limit; the rest wait for a place."""
    tool_threads().total_tokens = 2
    lock, now, most = threading.Lock(), [0], [0]
    both = threading.Barrier(2)

    def work() -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        both.wait(WAIT_SECONDS)  # two are really at work at once
        with lock:
            now[0] -= 1

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(run_in_tool_thread, work)
    assert most[0] == 2
    assert tool_threads().borrowed_tokens == 0


async def test_a_thread_that_is_left_behind_keeps_its_place() -> None:
    """A cancelled call does not make room for another while its thread is still at work."""
    tool_threads().total_tokens = 1
    began, go = threading.Event(), threading.Event()

    def stuck() -> None:
        began.set()
        go.wait(WAIT_SECONDS)

    async with anyio.create_task_group() as group:
        group.start_soon(run_in_tool_thread, stuck)
        await anyio.to_thread.run_sync(began.wait, WAIT_SECONDS)
        group.cancel_scope.cancel()
    assert tool_threads().borrowed_tokens == 1
    go.set()
    assert await run_in_tool_thread(lambda: "room again") == "room again"
    assert tool_threads().borrowed_tokens == 0
