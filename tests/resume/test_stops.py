"""A session, an agent or a tool is stopped: by whom stands in the journal, and the rest goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec import structs

from orchestra import Runtime, Scripted, tool
from orchestra.errors import InputError
from orchestra.journal.journal import Journal
from orchestra.journal.records import Order
from orchestra.models.scripted import HANG
from orchestra.session.session import Session
from orchestra.values.events import Event
from orchestra.values.messages import Request, ToolCall
from orchestra.values.report import Report
from orchestra.values.roles import Role
from orchestra.workflow import research_then_write
from tests.resume.cut import CATS, DOGS, QUESTION, host, same, write_documents
from tests.team import scripted_team, seen, settings, task_of, team

pytestmark = pytest.mark.anyio
CLERK = Role(name="clerk", description="d", instructions="Work.", context="tools")
LOOK = ToolCall("k1", "watch_river", "{}")


@tool
async def watch_river() -> str:
    """Watch the river."""
    await anyio.sleep_forever()
    return "it flows"


def dogs_hang(request: Request) -> object:
    if request.output is not None and request.output.name == "Findings" and task_of(request) == DOGS:
        return HANG
    return team(CATS, DOGS)(request)


class Watcher:
    """Sets `begun` at the first event of this kind and agent."""

    def __init__(self, kind: str, agent: str) -> None:
        self.begun = anyio.Event()
        self._wanted = (kind, agent)

    def __call__(self, event: Event) -> None:
        if (event.kind, event.agent) == self._wanted:
            self.begun.set()


async def stopped_session(folder: Path, how: Any) -> Report:
    """The report of a session with a hanging researcher that `how(session)` stops once it hangs."""
    model, watcher = Scripted(dogs_hang), Watcher("call", "researcher.2")
    reports: list[Report] = []
    documents = folder / "docs"
    if not documents.exists():
        write_documents(documents)
    async with (
        host(folder, model) as runtime,
        runtime.session(QUESTION, documents=documents, watch=watcher) as session,
        anyio.create_task_group() as group,
    ):

        async def work() -> None:
            reports.append(await research_then_write(session, session.question))

        group.start_soon(work)
        await watcher.begun.wait()
        with anyio.fail_after(5):
            await how(session)
            while not reports:
                await anyio.lowlevel.checkpoint()
    assert model.hanging == 0
    return reports[0]


async def stops(folder: Path) -> list[Any]:
    async with Journal.open(folder / "store.db") as journal:
        name = (await journal.find_session("last")).id
        return [event.data for event in await journal.events(name, kinds=("stopped",))]


async def test_an_order_from_another_process_stops_a_session(tmp_path: Path) -> None:
    """The report is partial and says why; the session can be gone on with and ends whole."""

    async def order(session: Session) -> None:
        async with Journal.open(tmp_path / "store.db") as second:
            await second.give(Order(session=session.id, what="stop", reason="enough", who="Ada (shell)"))

    report = await stopped_session(tmp_path, order)
    assert report.partial == "enough"
    assert await stops(tmp_path) == [{"what": "session", "who": "Ada (shell)", "reason": "enough"}]
    whole = tmp_path / "whole"
    whole.mkdir()
    write_documents(whole / "docs")
    async with host(whole) as runtime:
        undisturbed = await runtime.research(QUESTION, documents=whole / "docs")
    model = scripted_team(CATS, DOGS)
    async with host(tmp_path, model) as runtime:
        again = await runtime.resume("last")
    left_out = {"session": "", "usage": {}}
    assert {**same(again), **left_out} == {**same(undisturbed), **left_out}
    assert all(task_of(request) != CATS for request in model.requests if request.tools)


async def test_one_agent_is_stopped_and_the_others_go_on(tmp_path: Path) -> None:
    """It becomes a gap that says who stopped it."""

    async def stop(session: Session) -> None:
        session.stop("too slow", who="Ada", agent="researcher.2")

    report = await stopped_session(tmp_path, stop)
    assert report.partial == ""
    assert any("researcher.2 was stopped by Ada: too slow" in gap for gap in report.gaps)
    (stopped,) = await stops(tmp_path)
    assert (stopped["target"], stopped["who"]) == ("researcher.2", "Ada")


async def test_a_tool_is_stopped_and_its_agent_goes_on(tmp_path: Path) -> None:
    """The model reads who stopped it, and every call has its result."""
    model, watcher = Scripted([LOOK, "done"]), Watcher("tool_called", "clerk.1")
    async with (
        host(tmp_path, model, roles=[CLERK], tools=[watch_river]) as runtime,
        runtime.session("?x", watch=watcher) as session,
        anyio.create_task_group() as group,
    ):

        async def stop() -> None:
            await watcher.begun.wait()
            while not session._diary.stops.calls.running:
                await anyio.lowlevel.checkpoint()
            session.stop("dull", who="Ada", tool="watch_river")

        group.start_soon(stop)
        assert (await session.ask("clerk", "Look.")).value == "done"
    assert "watch_river was stopped by Ada: dull" in seen(model.requests[1])


async def test_what_is_not_at_work_cannot_be_stopped(tmp_path: Path) -> None:
    """The error names who is."""
    async with host(tmp_path, Scripted([])) as runtime, runtime.session("?x") as session:
        with pytest.raises(InputError, match=r"No agent clerk\.9 is running; agents at work: none"):
            session.stop("x", agent="clerk.9")
        with pytest.raises(InputError, match="No session 'other' is at work here"):
            runtime.stop("other", "x")


async def test_a_deadline_is_named_as_what_stopped_the_session(tmp_path: Path) -> None:
    """With its seconds, in the report and in the journal."""
    documents = write_documents(tmp_path / "docs")
    own = settings(tmp_path, store=str(tmp_path / "store.db"))
    own = structs.replace(own, limits=structs.replace(own.limits, seconds=0.3))
    model = Scripted(dogs_hang)
    async with Runtime(own, models={"small": model}) as runtime:
        report = await runtime.research(QUESTION, documents=documents)
    assert report.partial == "the session's limit of 0.3 s was reached"
    (stopped,) = await stops(tmp_path)
    assert (stopped["who"], stopped["reason"]) == ("the deadline", report.partial)
