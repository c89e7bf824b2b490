"""A turn may be cancelled at any moment: a restart leads to the very context that it left."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from msgspec import structs

from orchestra import Scripted, tool
from orchestra.context.context import Context
from orchestra.values.messages import Delta, Reply, Request, ToolCall
from tests.resume.test_conversation import nobody
from tests.talking import again, clerk, gauge, pairs_are_whole, talk
from tests.test_agent_compaction import summary

pytestmark = pytest.mark.anyio
WORDS = "The pump of hall {0} hums at {0}5 Hz and was seen by Ann. " * 8


@tool
async def read_gauge(name: str) -> str:
    """Read a gauge."""
    for _ in range(3):
        await anyio.lowlevel.checkpoint()
    return f"{name} stands at 7. " + WORDS.format(name)


@tool
async def read_clock() -> str:
    """Read the clock."""
    await anyio.lowlevel.checkpoint()
    return "noon"


def answers(request: Request) -> object:
    """Two tools at once, then the context's own, then words; summaries where they are asked for."""
    if request.purpose == "summary":
        assert request.output is not None
        told = summary("Gauges were read.")
        return Reply(text=told, value=request.output.validate(told))
    key = f"k{len(request.messages)}{sum(len(message.text) for message in request.messages)}"
    last = request.messages[-1]
    results = [message for message in request.messages if message.role == "tool"]
    if last.role != "tool" and not (results and last.text.startswith("State")):
        return (gauge(str(len(request.messages)), key + "a"), ToolCall(key + "b", "read_clock", "{}"))
    if results[-1].text.startswith("recall"):
        return WORDS.format(len(request.messages))
    return ToolCall(key, "recall", '{"wanted": "pump"}')


class Piecemeal(Scripted):
    """Streams its words one by one, with a moment between them."""

    async def stream(self, request: Request):  # type: ignore[no-untyped-def]  # as the port has it
        reply = await self.reply(request)
        for word in reply.text.split():
            await anyio.lowlevel.checkpoint()
            yield Delta(text=f"{word} ")
        yield reply


def essence(context: Context) -> tuple[object, ...]:
    """All but the second in which a summary was made."""
    blocks = [structs.replace(block, at=0.0) for block in context.blocks]
    return blocks, context.turn, context.state, len(context.archive), len(context.keeping.versions)


@pytest.mark.parametrize("listens", [False, True])
async def test_cancelled_at_any_moment(tmp_path: Path, listens: bool) -> None:
    """After so many moments of the third turn, in a window where every few turns are summed up."""
    tools, role = (read_gauge, read_clock), clerk(context="tools")
    ends = set()
    for moments in range(0, 90, 7):
        folder = tmp_path / str(moments)
        folder.mkdir()
        model = Piecemeal(answers, window=4_000)
        async with talk(folder, model, role, tools) as (session, _):
            listen = (lambda piece: None) if listens else None
            conversation = session.conversation("clerk", listen=listen)
            for number in range(2):
                await conversation.say(f"Tell me about hall {number}.")
            async with anyio.create_task_group() as group:
                group.start_soon(conversation.say, "Tell me about hall 3.")
                for _ in range(moments):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
            ends.add(conversation.turns[-1].outcome.status if len(conversation.turns) == 3 else "unsaid")
            left, turns = essence(conversation.context), conversation.turns
        async with again(folder, Scripted(nobody, window=4_000), role, tools) as (session, _):
            talked = session.conversation("clerk")
            assert await talked.catch_up() == turns, moments
            assert essence(talked.context) == left, moments
            prompt = talked.context.fork().prompt(talked.tools)
            assert pairs_are_whole(Request(messages=prompt.messages))
    assert "failed" in ends


async def test_a_turn_that_was_cut_off_behind_its_tools_takes_nothing_of_the_next(tmp_path: Path) -> None:
    """All its results are there and no further call is: the calls that follow are the next turn's."""
    scope = anyio.CancelScope()

    @tool
    async def read_gauge(name: str) -> str:
        """Read a gauge."""
        if name == "last":
            scope.cancel()
        return f"{name} stands at 7"

    model = Scripted(
        [(gauge("oil", "k1"), gauge("last", "k2")), gauge("fuel", "k3"), "Fuel is at 7.", "Yes."]
    )
    async with talk(tmp_path, model, tools=(read_gauge,)) as (_, conversation):
        with scope:
            await conversation.say("How is all?")
        await conversation.say("How is the fuel?")
        await conversation.say("Really?")
        left, turns = essence(conversation.context), conversation.turns
    async with again(tmp_path, Scripted(nobody), tools=(read_gauge,)) as (_, conversation):
        assert await conversation.catch_up() == turns
        assert essence(conversation.context) == left
    async with again(tmp_path, Scripted(nobody), tools=(read_gauge,)) as (_, conversation):
        for turn in turns:  # a workflow that says it all again
            assert await conversation.say(turn.said) == turn.outcome
        assert essence(conversation.context) == left
    assert [each.outcome.status for each in turns] == ["failed", "done", "done"]
