"""A conversation goes on after a restart: its turns run again over the record, and no model is asked."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from orchestra import Scripted, Session
from orchestra.errors import ModelUnreachable
from orchestra.journal.prompts import read_prompt
from orchestra.journal.reading import read_journal
from orchestra.models.scripted import HANG
from orchestra.testing.replay import Replaying, replay
from orchestra.values.messages import Delta, Reply, Request, ToolCall
from tests.resume.cut import cut, events
from tests.talking import again, clerk, gauge, host, pairs_are_whole, read_gauge, shown, talk
from tests.team import settings
from tests.test_agent_compaction import summary

pytestmark = pytest.mark.anyio
SAID = ("How is the oil?", "Fail now.", "Hang now.", "Both, please: oil and gas.", "And in a word?")


def answers(request: Request) -> object:
    """From the request alone."""
    if request.purpose == "summary":
        assert request.output is not None
        told = summary("Gauges were read.")
        return Reply(text=told, value=request.output.validate(told))
    last = request.messages[-1]
    said = [message.text for message in request.messages if message.role == "user"][-1]
    if "Fail" in said.splitlines()[-1]:
        return ModelUnreachable("The endpoint is down.", endpoint="e", model="m")
    if "Hang" in said.splitlines()[-1]:
        return HANG
    if last.role == "tool":
        return f"I have read {sum(message.role == 'tool' for message in request.messages)} results."
    keys = f"k{len(request.messages)}"
    if "Both" in said:
        return (gauge("oil", keys + "a"), ToolCall(keys + "b", "recall", '{"wanted": "oil"}'))
    return gauge("oil", keys) if "?" in said and "word" not in said else "In a word: 7."


def nobody(request: Request) -> object:
    raise AssertionError(f"a model was asked: {request}")


async def whole_talk(folder: Path, model: Scripted) -> None:
    async with talk(folder, model) as (_, conversation):
        for text in SAID:
            with anyio.move_on_after(0.1 if text == "Hang now." else 10):
                await conversation.say(text)


async def next_prompt(folder: Path, *, said: str = "What did I ask first?") -> Request:
    """What a model is sent for the next turn after a restart."""
    model = Scripted(lambda request: nobody(request) if "What did" not in str(request) else "The oil.")
    async with again(folder, model) as (_, conversation):
        await conversation.catch_up()
        await conversation.say(said)
    return model.requests[0]


async def test_after_a_restart_the_next_prompt_is_byte_for_byte_the_same(tmp_path: Path) -> None:
    """Over a failed turn, a cancelled one, tools and pins: as if the program had never ended."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    model = Scripted(lambda request: "The oil." if "What did" in str(request) else answers(request))
    async with talk(first, model) as (_, conversation):
        for text in SAID:
            with anyio.move_on_after(0.1 if text == "Hang now." else 10):
                await conversation.say(text)
        await conversation.pin(conversation.context.blocks[1].id)
        told = conversation.turns
        await conversation.say("What did I ask first?")
    shutil.copytree(first, second)
    async with again(second, Scripted(nobody)) as (_, conversation):
        assert conversation.recorded == len(SAID) + 1
        turns = await conversation.catch_up()
    assert turns[: len(SAID)] == told
    whole = Scripted(lambda request: nobody(request) if "now then" not in str(request) else "Bye.")
    for folder in (second, second):  # a second restart is no other than the first
        async with again(folder, whole) as (_, conversation):
            await conversation.catch_up()
            context = conversation.context.fork()
            context.add_input("now then", at=1.0)
            prompt = context.prompt(model.requests[-1].tools)
            assert pairs_are_whole(Request(messages=prompt.messages))
            begun = shown(Request(messages=prompt.messages))
            assert begun[: len(model.requests[-1].messages)] == shown(model.requests[-1])
    story = [kind for _, agent, kind in events(second) if agent]
    assert story == [kind for _, agent, kind in events(first) if agent]


async def test_wherever_it_was_killed_the_talk_goes_on_and_nothing_is_asked_again(tmp_path: Path) -> None:
    """The turn that was cut off has failed; two restarts later its context is the same as one later."""
    whole = tmp_path / "whole"
    whole.mkdir()
    await whole_talk(whole, Scripted(answers))
    for number, agent, _ in events(whole):
        if not agent:
            continue
        folder = cut(whole, number, tmp_path / f"cut {number}")
        async with again(folder, Scripted(nobody)) as (_, conversation):
            turns = await conversation.catch_up()
            ended = [kind for _, _, kind in events(folder)].count("answered")
        shutil.copytree(folder, other := tmp_path / f"other {number}")
        one = await next_prompt(folder)
        async with again(other, Scripted(nobody)) as (_, conversation):
            assert [each.outcome for each in await conversation.catch_up()] == [
                each.outcome for each in turns
            ]
        assert shown(await next_prompt(other)) == shown(one), number
        assert pairs_are_whole(one)
        assert ended in (len(turns), len(turns) - 1)


async def test_summaries_and_compactions_come_again(tmp_path: Path) -> None:
    """A long talk in a small window, shortened by a person too: a restart leads to the same context."""
    words = "The pump of hall {0} hums at {0}5 Hz and was seen by Ann. " * 12

    def long_answers(request: Request) -> object:
        if request.purpose == "summary":
            return answers(request)
        return words.format(len(request.messages))

    model = Scripted(long_answers, window=4_000)
    role = clerk(context="tools")
    async with talk(tmp_path, model, role) as (_, conversation):
        for number in range(14):
            await conversation.say(f"Tell me about hall {number}.")
        assert (await conversation.compact()) is not None
        version = len(conversation.context.keeping.versions)
        assert version >= 2
        await conversation.restore(1)
        blocks, archive = conversation.context.blocks, len(conversation.context.archive)
    async with again(tmp_path, Scripted(nobody, window=4_000), role) as (_, conversation):
        await conversation.catch_up()
        assert conversation.context.blocks == blocks
        assert len(conversation.context.archive) == archive
        assert conversation.context.keeping.versions.current is not None


async def test_a_changed_role_takes_the_talk_over(tmp_path: Path) -> None:
    """New instructions, another model: the record comes back all the same, the next prompt has both."""
    async with talk(tmp_path, Scripted(["I am Ann."])) as (_, conversation):
        await conversation.say("Who are you?")
    model = Scripted(["I was Ann."], name="another")
    async with again(tmp_path, model, clerk(instructions="Work well.")) as (session, conversation):
        await conversation.catch_up()
        await conversation.say("And who were you?")
        name, path = session.id, conversation.path
    texts = [text for _, text, _, _ in shown(model.requests[0])]
    assert texts == ["Work well.", "Who are you?", "I am Ann.", "And who were you?"]
    async with read_journal(tmp_path / "store.db") as reader:
        prompt = await read_prompt(reader, name, path, 2)
    assert [message.text for message in prompt.messages] == texts


async def three_turns(session: Session, question: str) -> list[tuple[str, str]]:
    conversation = session.conversation("clerk")
    outcomes = [await conversation.say(text) for text in (question, "Fail now.", SAID[3])]
    return [(outcome.text, outcome.reason) for outcome in outcomes]


async def test_a_workflow_that_talks_is_resumed_and_replayed_like_any(tmp_path: Path) -> None:
    """A failure that it has built on comes back; what was cut off is made; a replay needs no model."""
    whole = tmp_path / "whole"
    whole.mkdir()
    async with host(whole, Scripted(answers)) as runtime:
        result = await runtime.run(three_turns, SAID[0])
    for number, _, _ in events(whole):
        folder = cut(whole, number, tmp_path / f"cut {number}")
        async with host(folder, Scripted(answers)) as runtime:
            assert await runtime.resume("last", workflow=three_turns) == result, number
    how = Replaying(workflow=three_turns, settings=settings(tmp_path), roles=(clerk(),), tools=(read_gauge,))
    async with read_journal(whole / "store.db") as reader:
        assert await replay(reader, "last", how) == result


async def test_a_larger_window_is_used_after_a_restart(tmp_path: Path) -> None:
    """What a smaller model's window kept out fits a larger one's; and that comes again like all else."""
    async with talk(tmp_path, Scripted(["One."], window=4_000)) as (_, conversation):
        await conversation.say("Hi.")
    for count in (1, 2):
        model = Scripted(["Two."], window=32_000)
        async with again(tmp_path, model) as (_, conversation):
            await conversation.catch_up()
            assert conversation.context.budget.window == 32_000
            await conversation.say("many words " * 4_000)
            assert len(conversation.turns) == 1 + count
    assert [kind for _, _, kind in events(tmp_path)].count("steered") == 1


class Dripping(Scripted):
    """Streams the beginning of an answer and never its end."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        self.requests.append(request)
        yield Delta(text="The pump of hall 3 ")
        yield Delta(text="hums at ")
        self.hanging += 1
        await anyio.sleep_forever()


async def test_what_was_shown_of_an_answer_that_was_stopped_comes_again(tmp_path: Path) -> None:
    """Its pieces are in the talk, marked, and the next prompt has them before and after a restart."""
    model, heard = Dripping([]), list[Delta | None]()
    async with host(tmp_path, model) as runtime, runtime.session("?x") as session:
        conversation = session.conversation("clerk", listen=heard.append)

        async def stop() -> None:
            while not model.hanging:
                await anyio.lowlevel.checkpoint()
            session.stop("", who="Ann", agent=conversation.path)

        async with anyio.create_task_group() as group:
            group.start_soon(stop)
            outcome = await conversation.say("Tell me about the pump.")
        assert (outcome.status, outcome.text) == ("failed", "The pump of hall 3 hums at ")
        assert [piece.text for piece in heard if piece] == ["The pump of hall 3 ", "hums at "]
        blocks = conversation.context.blocks
    assert "cut off here: clerk.1 was stopped by Ann" in blocks[-1].message.text
    async with again(tmp_path, Scripted(nobody)) as (_, conversation):
        (exchange,) = await conversation.catch_up()
        assert exchange.outcome == outcome
        assert conversation.context.blocks == blocks
