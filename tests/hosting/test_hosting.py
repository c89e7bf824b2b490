"""A runtime's sessions: admitted, refused, drained, and gone without a trace."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import msgspec
import pytest

from orchestra.config.settings import RuntimeLimits, Settings
from orchestra.errors import Overloaded, RunError
from orchestra.runtime import Runtime
from orchestra.session.session import Session
from orchestra.values.messages import Delta, Reply, Request
from orchestra.values.roles import Role
from orchestra.values.usage import Usage
from tests.team import settings

pytestmark = pytest.mark.anyio

ROLE = Role(name="clerk", description="d", instructions="Answer.")


def limited(folder: Path, **limits: object) -> Settings:
    return msgspec.structs.replace(settings(folder), runtime=RuntimeLimits(**limits))  # type: ignore[arg-type]


class Done:
    """A model with one answer, which keeps nothing of what it is asked."""

    name, window = "done", 8_000

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        return 0.0

    async def reply(self, request: Request) -> Reply:
        return Reply(text="done", usage=Usage(calls=1), model="done")

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        raise NotImplementedError


def runtime_of(chosen: Settings) -> Runtime:
    model = Done()
    return Runtime(chosen, models={"small": model, "large": model}, roles=[ROLE])


async def one(session: Session, question: str) -> str:
    return str((await session.ask("clerk", question)).value)


async def test_sessions_beyond_limit_and_queue_are_refused(tmp_path: Path) -> None:
    """One at work, one waiting; the third is told when to come again, and the second has its turn."""
    async with runtime_of(limited(tmp_path, sessions=1, waiting=1)) as runtime:
        done = list[str]()

        async def wait() -> None:
            done.append(await runtime.run(one, "The second question?"))

        async with anyio.create_task_group() as group:
            async with runtime.session("The first question?"):
                group.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
                with pytest.raises(Overloaded) as refused:
                    await runtime.run(one, "The third question?")
            assert refused.value.retry_after is not None
        assert done == ["done"]
        assert runtime.statistics.refused == 1
        assert runtime.statistics.active == 0


async def test_a_drain_lets_sessions_finish(tmp_path: Path) -> None:
    """Within the time given a session ends by itself; new ones are refused meanwhile."""
    async with runtime_of(limited(tmp_path)) as runtime:
        entered, go = anyio.Event(), anyio.Event()

        async def slow(session: Session, question: str) -> str:
            entered.set()
            await go.wait()
            return await one(session, question)

        async with anyio.create_task_group() as group:
            running = group.start_soon(runtime.run, slow, "A question?")
            await entered.wait()
            draining = group.start_soon(runtime.drain, None)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(Overloaded, match="shutting down"):
                await runtime.run(one, "Another?")
            go.set()
        assert running.return_value == "done"
        assert draining.return_value is None


async def test_a_drain_stops_who_takes_too_long(tmp_path: Path) -> None:
    """After its time a session is asked to stop, which its workflow may answer with what it has."""
    chosen = limited(tmp_path)
    async with runtime_of(chosen) as runtime:
        entered = anyio.Event()

        async def endless(session: Session, question: str) -> str:
            with session.working():
                entered.set()
                await anyio.sleep_forever()
            return session.stopped

        async with anyio.create_task_group() as group:
            running = group.start_soon(runtime.run, endless, "A question?")
            await entered.wait()
            await runtime.drain(0.01)
        assert running.return_value == "interrupted"
        await runtime.kit.journal.flush()
        (record,) = await runtime.kit.journal.sessions()
        assert record.status == "interrupted"


async def test_a_workflow_that_does_not_listen_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workflow that cannot be asked is cancelled; its caller hears why and its record is kept."""
    monkeypatch.setattr("orchestra.session.house.STOPPING_SECONDS", 0.05)
    async with runtime_of(limited(tmp_path)) as runtime:
        entered, heard = anyio.Event(), list[str]()

        async def deaf(session: Session, question: str) -> str:
            entered.set()
            await anyio.sleep_forever()
            return question

        async def call() -> None:
            with pytest.raises(RunError) as stopped:
                await runtime.run(deaf, "A question?")
            heard.append(str(stopped.value))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await entered.wait()
            await runtime.drain(0.01)
        assert "was stopped because its runtime shut down" in heard[0]
        await runtime.kit.journal.flush()
        (record,) = await runtime.kit.journal.sessions()
        assert record.status == "interrupted"


async def test_nothing_is_left_of_sessions_served(tmp_path: Path) -> None:
    """After a thousand sessions files, tasks, threads and objects are as many as after the first hundred."""
    async with runtime_of(limited(tmp_path)) as runtime:

        async def serve(number: int) -> None:
            async with anyio.create_task_group() as group:
                for _ in range(number):
                    group.start_soon(runtime.run, one, "A question?")
            await runtime.kit.journal.flush()

        def left() -> tuple[int, int, int]:
            gc.collect()
            files = len(os.listdir("/proc/self/fd"))
            return files, len(anyio.get_running_tasks()), threading.active_count()

        await serve(100)
        before, objects = left(), len(gc.get_objects())
        for _ in range(9):
            await serve(100)
        now = left()
        assert now[:2] == before[:2]
        # Idle worker threads stay for ten seconds, so their number goes up and down by itself.
        assert now[2] <= before[2] + 2
        assert len(gc.get_objects()) <= objects * 1.01
