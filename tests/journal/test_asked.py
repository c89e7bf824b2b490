"""What a call asked: the same as its record, or said to differ, and in what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from orchestra.journal.asked import PastPrompts, asked_now, asked_then, output_key
from orchestra.journal.journal import Journal
from orchestra.journal.past import AgentPast
from orchestra.journal.prompts import Moment, PromptTrail, Sent, prompt_event, told_beside
from orchestra.redact import Redactor
from orchestra.values.events import Event
from orchestra.values.messages import Message, OutputSpec, Request, ToolCall, ToolSpec
from tests.journal.recording import SESSION, begun
from tests.journal.test_prompts import MESSAGES as ANY_MESSAGES

pytestmark = pytest.mark.anyio
SECRET = "known-secret-value-7"
CLEAN = Redactor([SECRET])
AGENT = "writer.1"
LONG = f"What was found. {SECRET} " * 30
TOOLS = (ToolSpec("search", "Find.", {"type": "object", "properties": {}}),)
OUTPUT = OutputSpec("Answer", {"type": "object"}, str)
MESSAGES = (
    Message("system", "Answer."),
    Message("user", "What?"),
    Message("assistant", "", (ToolCall("c1", "search", '{"query": "it"}'),)),
    Message("tool", LONG, call_id="c1"),
)
REQUEST = Request(messages=MESSAGES, tools=TOOLS, output=OUTPUT)


def called(turn: int, request: Request, **data: str) -> Event:
    told = {"model": "m", "purpose": request.purpose, **data}
    return Event(session=SESSION, agent=AGENT, turn=turn, kind="call", at=2.0, data=told)


async def recorded(folder: Path, requests: list[Request], **data: str) -> AgentPast:
    """The record of these calls of one agent; a summary's prompt stands beside its own."""
    async with Journal.open(folder / "store.db", secrets=[SECRET]) as journal:
        await begun(journal)
        trail = PromptTrail()
        for turn, request in enumerate(requests, 1):
            moment, sent = Moment(SESSION, AGENT, turn, 1.0), Sent(request.messages, request.tools)
            if request.purpose == "summary":
                await journal.record(structs.replace(prompt_event(moment, sent), data=told_beside(sent)[0]))
            else:
                await trail.record(journal.record, moment, sent)
            await journal.record(called(turn, request, **data))
        await journal.flush()
        return AgentPast(AGENT, await journal.events(SESSION))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.lists(ANY_MESSAGES, max_size=4), st.booleans()), min_size=1, max_size=4),
    st.sets(st.integers(0, 3)),
)
async def test_what_was_asked_is_known_again(
    tmp_path_factory: pytest.TempPathFactory, prompts: list[tuple[list[Message], bool]], skipped: set[int]
) -> None:
    """For any prompts, a summary's beside them, and whichever of the calls are asked about."""
    requests = [
        Request(messages=tuple(messages), purpose="summary" if beside else "step")
        for messages, beside in prompts
    ]
    past = await recorded(tmp_path_factory.mktemp("store"), requests)
    prompts_of = PastPrompts()
    for number, request in enumerate(requests):
        if number in skipped:
            continue
        call = past.calls[number]
        then = asked_then(call.data, prompts_of.of(past, number))
        assert asked_now(request, "m", CLEAN) == then


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({}, ""),
        ({"messages": (Message("system", "Answer!"), *MESSAGES[1:])}, "its instructions"),
        ({"messages": (MESSAGES[0], Message("user", "Why?"), *MESSAGES[2:])}, "its task"),
        ({"messages": MESSAGES[:3]}, "what it has been shown since its task"),
        ({"messages": (*MESSAGES[:3], Message("tool", LONG + "!", call_id="c1"))}, "what it has been shown"),
        ({"tools": ()}, "its tools"),
        ({"output": None}, "its output"),
        ({"output": OutputSpec("Answer", {"type": "array"}, str), "tools": ()}, "its tools and output"),
        ({"purpose": "final"}, "its purpose, which was step and is final"),
    ],
)
async def test_what_differs_is_said(tmp_path: Path, changed: dict[str, Any], difference: str) -> None:
    """Each part by its name; to another version only instructions, task, model and purpose count."""
    now = asked_now(structs.replace(REQUEST, **changed), "m", CLEAN)
    past = await recorded(tmp_path, [REQUEST], output=asked_now(REQUEST, "m", CLEAN).output)
    then = asked_then(past.calls[0].data, PastPrompts().of(past, 0))
    assert now.difference(then).startswith(difference)
    assert bool(now.difference(then)) == bool(difference)
    strict = {"its instructions", "its task", "its purpose, which was step and is final"}
    assert bool(now.difference(then, loosely=True)) == (difference in strict)
    assert structs.replace(now, model="other").difference(then) == "its model, which was m and is other"


@pytest.mark.parametrize(("output", "is_same"), [("000000000000", True), ("5ece96361a1a", False)])
async def test_a_record_of_an_earlier_version_is_known_again(
    tmp_path: Path, output: str, is_same: bool
) -> None:
    """Its calls have a key of all parts; the prompts are compared, and of the key the output."""
    request = structs.replace(REQUEST, output=None)
    key = f"6c387c2cd4de.9ac806d7a527.c63ca137d693.5ece96361a1a.{output}.2"
    past = await recorded(tmp_path, [request], key=key)
    then = asked_then(past.calls[0].data, PastPrompts().of(past, 0))
    assert (asked_now(request, "m", CLEAN).difference(then) == "") is is_same


def test_an_output_that_was_made_of_another_is_known_by_its_own_schema() -> None:
    """What is kept of the first does not speak for it."""
    first = output_key(OUTPUT)
    assert output_key(OUTPUT) == first
    for changed in ({"schema": {"type": "array"}}, {"name": "Other"}):
        assert output_key(structs.replace(OUTPUT, **changed)) != first
