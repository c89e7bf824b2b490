"""A conversation: turns in one context, that end as they may, and each within its limits."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from orchestra import Runtime, Scripted, tool
from orchestra.errors import InputError, ModelUnreachable
from orchestra.models.scripted import HANG
from orchestra.models.tiers import Tiers
from orchestra.values.messages import Delta, Reply, Request, ToolCall
from orchestra.values.roles import Limits
from orchestra.values.usage import Usage
from tests.talking import clerk, gauge, pairs_are_whole, read_gauge, shown, talk
from tests.team import settings

pytestmark = pytest.mark.anyio


@tool
async def wait_long() -> str:
    """Never comes back."""
    await anyio.sleep_forever()
    return ""


async def test_turns_share_one_context(tmp_path: Path) -> None:
    """The second prompt is the first one with its answer and what was said next."""
    model = Scripted([gauge("oil"), "It is at 7.", "Yes, 7."])
    async with talk(tmp_path, model) as (_, conversation):
        first = await conversation.say("How is the oil?")
        second = await conversation.say("Are you sure?")
    assert (first.text, first.status, second.text) == ("It is at 7.", "done", "Yes, 7.")
    before, after = shown(model.requests[1]), shown(model.requests[2])
    assert after[: len(before)] == before
    assert [text for _, text, _, _ in after[len(before) :]] == ["It is at 7.", "Are you sure?"]
    assert [each.said for each in conversation.turns] == ["How is the oil?", "Are you sure?"]


async def test_who_has_no_tools_is_shown_none(tmp_path: Path) -> None:
    """Nor those that an agent has by itself: an endpoint that never calls any would be doubted for it."""
    model = Scripted(["Hello.", "Still here."])
    async with talk(tmp_path, model, tools=()) as (_, conversation):
        await conversation.say("Hello?")
        await conversation.say("Are you there?")
    assert [each.tools for each in model.requests] == [(), ()]


class Streamed(Scripted):
    """Counts what is asked for as a stream."""

    streams = 0

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        self.streams += 1
        return super().stream(request)


async def test_what_a_failed_turn_heard_is_over(tmp_path: Path) -> None:
    """A tier whose replies are streamed failed; the other tier is still asked for whole replies."""
    small = Streamed(["I am done.", "I am done again."])
    large = Streamed([ModelUnreachable("The endpoint is down.", endpoint="e", model="m"), "It is at 7."])
    models = Tiers({"small": small, "large": large}, streamed=("large",))
    role = clerk(steps="small", final="large")
    runtime = Runtime(settings(tmp_path), models=models, roles=[role], tools=[read_gauge])
    async with runtime, runtime.session("?x") as session:
        conversation = session.conversation("clerk")
        assert (await conversation.say("How is the oil?")).status == "failed"
        assert (await conversation.say("And now?")).text == "It is at 7."
    assert (small.streams, large.streams) == (0, 2)


async def test_a_failed_turn_leaves_a_conversation_that_goes_on(tmp_path: Path) -> None:
    """An endpoint's failure behind a tool's result is an outcome; the next prompt has what was found."""
    failure = ModelUnreachable("The endpoint is down.", endpoint="e", model="m")
    model = Scripted([gauge("oil"), failure, "It was at 7."])
    async with talk(tmp_path, model) as (_, conversation):
        failed = await conversation.say("How is the oil?")
        assert (failed.status, failed.reason) == ("failed", "The endpoint is down.")
        assert (await conversation.say("And now?")).text == "It was at 7."
    assert pairs_are_whole(model.requests[2])
    assert "oil stands at 7" in str(shown(model.requests[2]))


async def test_cancelled_in_a_tool_the_results_that_came_stay(tmp_path: Path) -> None:
    """Two calls, one never ends: the talk goes on with the other's result, and a word on the lost one."""
    from orchestra.values.messages import ToolCall

    model = Scripted([(gauge("oil", "a"), ToolCall("b", "wait_long", "{}")), "Oil is at 7."])
    async with talk(tmp_path, model, tools=(read_gauge, wait_long)) as (_, conversation):
        with anyio.move_on_after(0.2) as scope:
            await conversation.say("Both, please.")
        assert scope.cancelled_caught
        assert conversation.turns[-1].outcome.reason == "cancelled"
        assert (await conversation.say("What do you have?")).text == "Oil is at 7."
    texts = [message.text for message in model.requests[1].messages if message.role == "tool"]
    assert pairs_are_whole(model.requests[1])
    assert "stands at 7" in texts[0]
    assert "no result, cancelled" in texts[1]


async def test_a_person_stops_an_answer_and_not_the_talk(tmp_path: Path) -> None:
    """Stopped by name, the turn is an outcome that says by whom; the next is answered."""
    model = Scripted([HANG, "Here I am."])
    async with talk(tmp_path, model) as (session, conversation):
        with pytest.raises(InputError, match="No agent"):
            session.stop("enough", agent=conversation.path)

        async def stop() -> None:
            while not model.hanging:
                await anyio.lowlevel.checkpoint()
            session.stop("enough", who="Ann", agent=conversation.path)

        async with anyio.create_task_group() as group:
            group.start_soon(stop)
            outcome = await conversation.say("Hello?")
        assert outcome.status == "failed"
        assert "was stopped by Ann: enough" in outcome.reason
        assert model.hanging == 0
        assert (await conversation.say("Hello again?")).text == "Here I am."


async def test_limits_are_a_turns(tmp_path: Path) -> None:
    """Steps count from anew in each turn, and so does the time; the tokens are the conversation's."""

    def answer(request: Request) -> object:
        if request.tool_choice == "none":
            return "7"
        return gauge("oil", f"k{len(request.messages)}")

    model = Scripted(answer)
    role = clerk(limits=Limits(steps=3))
    async with talk(tmp_path, model, role) as (_, conversation):
        for number in (1, 2, 3):
            outcome = await conversation.say("Read.")
            assert (outcome.text, outcome.status) == ("7", "partial")
            assert len(model.requests) == 3 * number
    slow = Scripted([HANG, "quick"])
    async with talk(tmp_path, slow, clerk(limits=Limits(seconds=0.2))) as (_, conversation):
        assert "limit of 0.2 s" in (await conversation.say("Go.")).reason
        assert (await conversation.say("Go.")).text == "quick"
    poor = Scripted(
        lambda _request: Reply(text="Well. " * 40, usage=Usage(calls=1, input_tokens=200, output_tokens=80))
    )
    async with talk(tmp_path, poor, clerk(limits=Limits(tokens=3_000))) as (_, conversation):
        outcomes = [await conversation.say("More words, please.") for _ in range(40)]
    assert outcomes[0].status != "failed"
    assert outcomes[-1].status == "failed"
    assert outcomes[-1].short == "clerk"


async def test_one_turn_at_a_time(tmp_path: Path) -> None:
    """Who speaks while an answer is being made is told to wait."""
    model = Scripted([HANG])
    async with talk(tmp_path, model) as (_, conversation), anyio.create_task_group() as group:
        group.start_soon(conversation.say, "One.")
        while not model.hanging:
            await anyio.lowlevel.checkpoint()
        with pytest.raises(InputError, match="wait"):
            await conversation.say("Two.")
        group.cancel_scope.cancel()


async def test_a_cleared_conversation_knows_nothing_of_before(tmp_path: Path) -> None:
    """After it the prompt holds the instructions and what is said now, as at the beginning."""
    model = Scripted(["One.", "Two."])
    async with talk(tmp_path, model) as (_, conversation):
        await conversation.say("The word is Rumpelstilzchen.")
        await conversation.clear()
        await conversation.say("What is the word?")
        assert [each.said for each in conversation.current] == ["What is the word?"]
    assert [text for _, text, _, _ in shown(model.requests[1])] == ["Work.", "What is the word?"]


async def test_who_stops_the_session_stops_the_turn(tmp_path: Path) -> None:
    """Outside of a workflow's working part too: the turn has failed for that reason, and nothing hangs."""
    model = Scripted([HANG])
    async with talk(tmp_path, model) as (session, conversation):

        async def stop() -> None:
            while not model.hanging:
                await anyio.lowlevel.checkpoint()
            session.stop("the house is on fire", who="Ann")

        async with anyio.create_task_group() as group:
            group.start_soon(stop)
            outcome = await conversation.say("Hello?")
    assert (outcome.status, outcome.reason) == ("failed", "the house is on fire")


async def test_what_no_prompt_can_hold_is_not_said(tmp_path: Path) -> None:
    """It would be in the way of all that is said later; the talk goes on without it."""
    model = Scripted(["Hello."], window=4_000)
    async with talk(tmp_path, model) as (_, conversation):
        with pytest.raises(InputError, match="too long to be said"):
            await conversation.say("many words " * 4_000)
        assert (await conversation.say("Hi.")).text == "Hello."


async def test_what_a_person_took_in_a_turn_gives_the_next_no_more_time(tmp_path: Path) -> None:
    """It is told to finish when most of its own time is over, and not cut off behind its end."""

    @tool
    async def take_a_while() -> str:
        """Nearly the whole time of a turn."""
        await anyio.sleep(0.85)
        return "done"

    model = Scripted([ToolCall("k1", "take_a_while", "{}"), "It is done."])
    role = clerk(limits=Limits(seconds=1.0))
    async with talk(tmp_path, model, role, tools=(take_a_while,)) as (_, conversation):
        conversation._place.waited = 60.0  # in turns before
        outcome = await conversation.say("Do it.")
    assert (outcome.status, outcome.text) == ("partial", "It is done.")
    assert model.requests[-1].tool_choice == "none"
