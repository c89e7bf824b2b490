"""An agent acts on the calls of a reply that still comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from orchestra import tool
from orchestra.tools.approval import Answer
from orchestra.tools.decorator import FunctionTool
from tests.listening import Heard, calling, clerk_at, part, says
from tests.models.loopback import DROP, HANG, HEAD, event, piece, sse
from tests.models.odd.test_streams import CALLS

pytestmark = pytest.mark.anyio


class Gauges:
    """A tool that says when it is at work; `hanging` counts those that wait for ever, "stuck"."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.hanging = 0
        self.at_work: dict[str, anyio.Event] = {name: anyio.Event() for name in ("oil", "gas", "stuck")}

        @tool
        async def read_gauge(name: str) -> str:
            """Read a gauge."""
            self.read.append(name)
            self.at_work[name].set()
            if name == "stuck":
                self.hanging += 1
                try:
                    await anyio.sleep_forever()
                finally:
                    self.hanging -= 1
            return f"{name} stands at 7"

        self.tool = read_gauge


def gauge(name: str, index: int = 0) -> bytes:
    return part("read_gauge", f"k{index}", index, name=name)


@pytest.mark.parametrize("transport", ["direct", "official"])
async def test_a_tool_runs_before_its_reply_ends(tmp_path: Path, transport: str) -> None:
    """The endpoint ends its reply only when the tool has run; the journal's order is the usual one."""
    gauges = Gauges()
    reply = calling(gauge("oil"), gauges.at_work["oil"])
    replies = reply, says("Oil is at 7")
    async with clerk_at(tmp_path, [gauges.tool], *replies, transport=transport) as (session, story, _):
        with anyio.fail_after(5):
            handed = await session.ask("clerk", "How is the oil?")
        assert str(handed.value).strip() == "Oil is at 7"
    assert gauges.read == ["oil"]
    assert story.kinds == ["call", "reply", "tool_called", "tool_returned", "call", "reply"]
    assert [reply["output_tokens"] for reply in story.data("reply")] == [20, 20]


async def test_the_first_of_two_calls_runs_while_the_second_comes(tmp_path: Path) -> None:
    """Results stand in the order of the calls."""
    gauges = Gauges()
    reply = calling(gauge("oil"), gauges.at_work["oil"], gauge("gas", 1), gauges.at_work["gas"])
    async with clerk_at(tmp_path, [gauges.tool], reply, says("Both at 7")) as (session, _, here):
        with anyio.fail_after(5):
            await session.ask("clerk", "How are both?")
        results = [each for each in here.seen[1].body["messages"] if each["role"] == "tool"]
    assert ["oil" in results[0]["content"], "gas" in results[1]["content"]] == [True, True]
    assert gauges.read == ["oil", "gas"]


async def test_a_stream_that_fails_leaves_nothing_of_its_calls(tmp_path: Path) -> None:
    """The call that had begun is cancelled, who listens forgets, the next try goes its own way."""
    gauges, heard = Gauges(), Heard()
    broken = [HEAD, gauge("stuck"), gauges.at_work["stuck"], DROP]
    async with clerk_at(tmp_path, [gauges.tool], broken, says("No need to look")) as (session, story, _):
        with anyio.fail_after(5):
            handed = await session.ask("clerk", "How is the oil?", listen=heard)
        assert str(handed.value).strip() == "No need to look"
    assert (gauges.read, gauges.hanging) == (["stuck"], 0)
    assert story.kinds == ["call", "reply"]
    assert (heard.forgot, heard.text.strip(), heard.calls) == (1, "No need to look", [])


async def test_a_retried_stream_begins_its_calls_anew(tmp_path: Path) -> None:
    """What the first try had begun is not taken for the second's."""
    gauges = Gauges()
    broken = [HEAD, gauge("stuck"), gauges.at_work["stuck"], DROP]
    whole = calling(gauge("oil"), gauges.at_work["oil"])
    async with clerk_at(tmp_path, [gauges.tool], broken, whole, says("At 7")) as (session, story, _):
        with anyio.fail_after(5):
            await session.ask("clerk", "How is the oil?")
    assert (gauges.read, gauges.hanging) == (["stuck", "oil"], 0)
    assert [each["error"] for each in story.data("tool_returned")] == [""]


async def test_a_call_that_turns_out_otherwise_is_made_as_recorded(tmp_path: Path) -> None:
    """An empty object came first, as some servers send it: only the recorded call counts."""
    seen: list[str] = []

    @tool
    async def list_gauges(kind: str = "all") -> str:
        """List the gauges."""
        seen.append(kind)
        return f"{kind}: oil, gas"

    more = piece(event({"tool_calls": [{"index": 0, "function": {"arguments": '{"kind": "new"}'}}]}))
    reply = calling(part("list_gauges", "k1"), more)
    async with clerk_at(tmp_path, [list_gauges], reply, says("done")) as (session, story, _):
        await session.ask("clerk", "Which are there?")
    recorded = [each.texts["arguments"] for each in story if each.kind == "tool_called"]
    assert len(story.data("tool_returned")) == len(recorded) == 1
    assert ("new" in recorded[0]) == (seen[-1] == "new")


@pytest.mark.parametrize("transport", ["direct", "official"])
@pytest.mark.parametrize("how", ["cancelled", "stopped"])
async def test_cancelling_closes_the_connection_at_once(tmp_path: Path, how: str, transport: str) -> None:
    """In the middle of a stream, with a call at work: both end."""
    gauges = Gauges()
    hanging = [HEAD, gauge("stuck"), HANG]
    async with clerk_at(tmp_path, [gauges.tool], hanging, transport=transport) as (session, story, here):
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(session.ask, "clerk", "How is the oil?")
                await gauges.at_work["stuck"].wait()
                if how == "cancelled":
                    group.cancel_scope.cancel()
                else:
                    session.stop("enough", agent="clerk.1")
            await here.closed.wait()
        assert (gauges.hanging, here.open) == (0, 0)
    assert story.kinds == ["call"]


async def test_a_begun_call_can_be_stopped(tmp_path: Path) -> None:
    """By its name, while its reply still comes; the model is told so."""
    gauges, stopped = Gauges(), anyio.Event()
    reply = calling(gauge("stuck"), gauges.at_work["stuck"], stopped)
    async with clerk_at(tmp_path, [gauges.tool], reply, says("It is stuck")) as (session, story, _):
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(session.ask, "clerk", "How is the oil?")
                await gauges.at_work["stuck"].wait()
                session.stop("too slow", tool="read_gauge")
                stopped.set()
    (returned,) = story.data("tool_returned")
    assert returned["error"] == "read_gauge was stopped by the program: too slow."


def kinds_at_call(story: list[Any], run: Callable[[], None], **fields: Any) -> FunctionTool:
    """A tool that notes what was recorded when it ran."""

    @tool(**fields)
    async def turn_valve(name: str) -> str:
        """Turn a valve."""
        run()
        return f"{name} is shut"

    return turn_valve


async def test_what_writes_waits_for_the_record(tmp_path: Path) -> None:
    """A writing call, and the reading one that follows it, begin when the reply is recorded."""
    gauges, at_call = Gauges(), []
    story: list[Any] = []
    valve = kinds_at_call(
        story, lambda: at_call.append([*story[0].kinds, list(gauges.read)]), effects="write"
    )
    reply = calling(part("turn_valve", "k0", name="oil"), gauge("oil", 1))
    async with clerk_at(tmp_path, [gauges.tool, valve], reply, says("Shut")) as (session, told, _):
        story.append(told)
        await session.ask("clerk", "Shut it.")
    assert at_call[0][:5] == ["call", "reply", "tool_called", "tool_called", "intended"]
    assert gauges.read == ["oil"]


async def test_what_a_person_has_to_allow_waits(tmp_path: Path) -> None:
    """The person is asked when the reply is recorded, and the tool runs after the answer."""
    gauges = Gauges()
    reply = calling(gauge("oil"))
    rules = {"read_gauge": "always"}
    async with (
        clerk_at(tmp_path, [gauges.tool], reply, says("At 7"), approve=rules) as (session, story, _),
        anyio.create_task_group() as group,
    ):
        group.start_soon(session.ask, "clerk", "How is the oil?")
        with anyio.fail_after(5):
            while not session.people.pending:
                await anyio.lowlevel.checkpoint()
        assert (gauges.read, story.kinds[:2]) == ([], ["call", "reply"])
        session.people.answer(next(iter(session.people.pending)), Answer(approved=True, by="me"))
    assert gauges.read == ["oil"]


@pytest.mark.parametrize(("name", "deltas", "expected"), CALLS, ids=[row[0] for row in CALLS])
async def test_odd_streams_through_an_agent(tmp_path: Path, name: str, deltas: Any, expected: Any) -> None:
    """Each call that was meant runs once, and each result follows its call."""
    asked: list[str] = []

    @tool
    async def search(query: str) -> str:
        """Search the documents."""
        asked.append(query)
        return f"found {query}"

    reply = sse(*[event(delta) for delta in deltas], event(finish="tool_calls"))
    async with clerk_at(tmp_path, [search], reply, says("done")) as (session, story, here):
        with anyio.fail_after(5):
            await session.ask("clerk", "Search.")
        messages = here.seen[1].body["messages"]
    assert sorted(asked) == ["a", "b"][: len(expected)]
    made = [call["id"] for each in messages for call in each.get("tool_calls") or ()]
    assert [each["tool_call_id"] for each in messages if each["role"] == "tool"] == made
    assert story.kinds.count("tool_returned") == len(expected)
