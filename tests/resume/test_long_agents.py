"""An agent with many turns goes on too: over compactions, summaries, recalls and lowered windows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from orchestra import Scripted, tool
from orchestra.errors import ContextTooLong, OutputInvalid
from orchestra.journal.prompts import read_prompt
from orchestra.journal.reading import read_journal
from orchestra.session.session import Session
from orchestra.values.messages import Reply, Request, ToolCall
from orchestra.values.roles import Role
from orchestra.values.usage import Usage
from tests.resume.cut import cut, events, host
from tests.test_agent_compaction import summary

pytestmark = pytest.mark.anyio
CLERK = Role(name="clerk", description="d", instructions="Work.", context="tools")
USAGE = Usage(calls=1, input_tokens=50, output_tokens=10, cost=0.001)
STEPS = 12


@tool
async def read_gauge(name: str) -> str:
    """Read a gauge."""
    return f"{name} stands at 7 " + "and hums quietly " * 60


def answers(request: Request) -> object:
    """From the request alone: the next gauge, twice a recall, once a prompt too long, once a bad summary."""
    if request.purpose == "summary":
        if "g2 stands" in request.messages[-1].text:
            return OutputInvalid("no", model="scripted", problem="no summary")
        told = summary("Several gauges were read.")
        assert request.output is not None
        return Reply(text=told, value=request.output.validate(told), usage=USAGE)
    keys = [call.id for message in request.messages for call in message.calls]
    number = max([int(key[1:]) for key in keys], default=0) + 1
    if number == STEPS:
        return Reply(text="all read", usage=USAGE)
    if number == 10 and sum(len(message.text) for message in request.messages) > 5_600:
        return ContextTooLong("too long", model="scripted", window=2_400)
    name, arguments = "read_gauge", f'{{"name": "g{number}"}}'
    if number in (6, 10):
        name, arguments = "recall", '{"wanted": "r1"}'
    return Reply(calls=(ToolCall(f"k{number}", name, arguments),), usage=USAGE, seconds=0.0)


async def read_all(session: Session, question: str) -> Any:
    handoff = await session.ask("clerk", question)
    return handoff.value, handoff.status, session.usage


def opened(folder: Path, model: Scripted) -> Any:
    return host(folder, model, roles=[CLERK], tools=[read_gauge])


async def test_a_long_agent_ends_the_same_wherever_it_was_cut_off(tmp_path: Path) -> None:
    """What was asked before is not asked again, and all that is asked is what the whole run asked."""
    whole = tmp_path / "whole"
    whole.mkdir()
    first = Scripted(answers, window=4_000)
    async with opened(whole, first) as runtime:
        result = await runtime.run(read_all, "Read all gauges.")
    assert result[0] == "all read"
    story = events(whole)
    kinds = [kind for _, _, kind in story]
    assert kinds.count("compacted") >= 2
    assert any(request.purpose == "summary" for request in first.requests)
    async with read_journal(whole / "store.db") as reader:
        name = (await reader.find_session("last")).id
        notes = [event.data["what"] for event in await reader.events(name, kinds=("note",))]
        assert {"window lowered", "call failed"} <= set(notes)
        steps = [request for request in first.requests if request.purpose != "summary"]
        for turn, request in enumerate(steps, start=1):
            assert (await read_prompt(reader, name, "clerk.1", turn)).messages == request.messages
    for number, _, kind in story:
        if kind in ("prompt", "handoff"):
            continue
        folder = cut(whole, number, tmp_path / f"cut {number}")
        model = Scripted(answers, window=4_000)
        async with opened(folder, model) as runtime:
            again = await runtime.resume("last", workflow=read_all)
        assert again == result, number
        asked = [shown(request) for request in model.requests]
        assert asked == [shown(request) for request in first.requests][len(first.requests) - len(asked) :], (
            number
        )


def shown(request: Request) -> list[str]:
    """What a request shows, without the minute in which results came."""
    return [re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", message.text) for message in request.messages]
