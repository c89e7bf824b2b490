"""A reply is heard as it comes, and what was heard is what is recorded."""

from __future__ import annotations

from pathlib import Path

import anyio
import msgspec
import pytest

from orchestra import Runtime, Scripted, Session, tool
from orchestra.journal.reading import read_journal
from orchestra.models.tiers import Tiers
from orchestra.redact import MASK
from orchestra.session.outputs import as_json
from orchestra.testing.replay import Replaying, replay
from orchestra.values.drafts import Plan
from orchestra.values.messages import Delta, Listen
from orchestra.values.report import Report
from orchestra.values.roles import Role
from tests.listening import Heard, calling, clerk_at, part, says
from tests.models.loopback import END, HANG, HEAD, completion, event, piece
from tests.resume.cut import CATS, DOGS, cut, events, host, recorded, same
from tests.team import plan_of, scripted_team, settings

pytestmark = pytest.mark.anyio
SECRET = "sk-abc123def456ghi789"


async def test_words_are_heard_as_they_come(tmp_path: Path) -> None:
    """The second word is sent when the first was heard."""
    first, pieces = anyio.Event(), []

    def listen(delta: Delta | None) -> None:
        assert delta is not None
        pieces.append(delta.text)
        first.set()

    words = [
        HEAD,
        piece(event({"content": "Good "})),
        first,
        piece(event({"content": "day"}, finish="stop")),
        END,
    ]
    async with clerk_at(tmp_path, [], words, streamed=False) as (session, _, here):
        with anyio.fail_after(5):
            handed = await session.ask("clerk", "Say good day.", listen=listen)
        assert here.seen[0].body["stream"] is True
    assert (pieces, handed.value) == (["Good ", "day"], "Good day")


async def test_without_a_listener_whole_replies_are_asked_for(tmp_path: Path) -> None:
    """They cost less; an endpoint whose settings say `stream` streams none the less."""
    async with clerk_at(tmp_path, [], completion("hello"), streamed=False) as (session, _, here):
        await session.ask("clerk", "Say hello.")
        assert "stream" not in here.seen[0].body
    async with clerk_at(tmp_path / "b", [], says("hello")) as (session, _, here):
        await session.ask("clerk", "Say hello.")
        assert here.seen[0].body["stream"] is True


async def test_a_secret_is_not_heard(tmp_path: Path) -> None:
    """Not even one that is split over the pieces; what was heard is what is recorded."""
    heard = Heard()
    text = f"The key is {SECRET} indeed."
    words = [HEAD, *[piece(event({"content": letter})) for letter in text], piece(event(finish="stop")), END]
    async with clerk_at(tmp_path, [], words) as (session, _, _here):
        handed = await session.ask("clerk", "What is the key?", listen=heard)
    assert heard.text == handed.value == f"The key is sk-{MASK} indeed."
    assert (heard.forgot, len(heard.deltas) > 10) == (0, True)


async def test_what_was_heard_is_what_the_reply_says(tmp_path: Path) -> None:
    """Thoughts that an endpoint left in its text are taken back when the reply is whole."""
    heard = Heard()
    async with clerk_at(tmp_path, [], says("<think> hm </think> It is oil")) as (session, _, _here):
        await session.ask("clerk", "What is it?", listen=heard)
    assert (heard.text.strip(), heard.forgot) == ("It is oil", 1)


async def test_a_repaired_reply_is_heard_in_the_end(tmp_path: Path) -> None:
    """What did not fit its schema is forgotten, and so is a step's text that is not the answer."""
    heard = Heard()
    replies = (says("no plan at all"), completion(as_json(plan_of("Who?", "When?"))))
    async with clerk_at(tmp_path, [], *replies, output="Plan") as (session, _, _here):
        handed = await session.ask("clerk", "Plan it.", listen=heard)
    assert heard.forgot >= 1
    assert handed.value is not None
    assert msgspec.json.decode(heard.text, type=Plan) == handed.value


async def test_the_last_step_of_another_tier_is_not_the_answer(tmp_path: Path) -> None:
    """The small model's closing words make way for the large one's answer."""
    heard = Heard()
    models = {"small": Scripted(["I am done"]), "large": Scripted(["It is oil"])}

    @tool
    async def read_gauge(name: str) -> str:
        """Read a gauge."""
        return name

    role = Role(name="clerk", description="d", instructions="Work.", steps="small", final="large")
    host = Runtime(settings(tmp_path), models=models, roles=[role], tools=[read_gauge])
    async with host, host.session("?x") as session:
        await session.ask("clerk", "What is it?", listen=heard)
    assert (heard.text, heard.forgot) == ("It is oil", 1)


async def test_a_cut_off_stream_is_heard_anew(tmp_path: Path) -> None:
    """A session that ended in the middle of a stream asks again; what was recorded comes in whole parts."""
    asked: list[str] = []

    @tool
    async def read_gauge(name: str) -> str:
        """Read a gauge."""
        asked.append(name)
        return f"{name} stands at 7"

    reached, heard = anyio.Event(), Heard()

    def listen(delta: Delta | None) -> None:
        if delta is not None and delta.text:
            reached.set()

    reply = calling(part("read_gauge", "k0", name="oil"))
    hanging = [HEAD, piece(event({"content": "Oil "})), HANG]
    async with (
        clerk_at(tmp_path, [read_gauge], reply, hanging) as (session, _, _here),
        anyio.create_task_group() as group,
    ):
        group.start_soon(ask, session, listen)
        with anyio.fail_after(5):
            await reached.wait()
        group.cancel_scope.cancel()
    role = Role(name="clerk", description="d", instructions="Work.", context="tools")
    model = Scripted(["Oil is at 7"], name="m")
    async with (
        Runtime(settings(tmp_path), models=streaming(model), roles=[role], tools=[read_gauge]) as runtime,
        runtime.resumed("last") as (session, _),
    ):
        await ask(session, heard)
    assert (asked, len(model.requests), heard.calls) == (["oil"], 1, ["read_gauge"])
    assert (heard.text, heard.forgot) == ("Oil is at 7", 0)


async def ask(session: Session, listen: Listen) -> None:
    await session.ask("clerk", "How is the oil?", listen=listen)


def streaming(model: Scripted) -> Tiers:
    both = dict.fromkeys(("small", "large"), model)
    return Tiers(both, streamed=both)


async def test_a_streamed_session_resumes_and_replays(tmp_path: Path) -> None:
    """Cut off after any event it ends in the same report, and it replays byte for byte."""
    whole = tmp_path / "whole"
    whole.mkdir()
    report = await recorded(whole, streaming(scripted_team(CATS, DOGS)))
    story = events(whole)
    for number, _, _ in story:
        folder = cut(whole, number, tmp_path / f"cut {number}")
        model = scripted_team(CATS, DOGS)
        async with host(folder, streaming(model)) as runtime:
            again = await runtime.resume(report.session)
        replies = sum(kind == "reply" for seq, _, kind in story if seq <= number)
        assert (same(again), len(model.requests)) == (same(report), 6 - replies), number
    async with read_journal(whole / "store.db") as reader:
        told = await replay(reader, "last", Replaying(settings=settings(whole)))
    assert isinstance(told, Report)
    assert msgspec.json.encode(told) == msgspec.json.encode(report)


@pytest.mark.parametrize("how", ["cancelled", "stopped"])
async def test_a_turn_that_ends_in_its_stream_leaves_what_was_shown(tmp_path: Path, how: str) -> None:
    """A call that had begun ends with it, and the conversation goes on with whole pairs."""
    hanging, begun, heard = [0], anyio.Event(), Heard()

    @tool
    async def read_gauge(name: str) -> str:
        """Read a gauge."""
        hanging[0] += 1
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            hanging[0] -= 1
        return name

    stuck = [HEAD, piece(event({"content": "Let me "})), part("read_gauge", "k0", name="oil"), HANG]
    async with clerk_at(tmp_path, [read_gauge], stuck, says("Here I am")) as (session, story, here):
        conversation = session.conversation("clerk", listen=heard)
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(conversation.say, "How is the oil?")
                await begun.wait()
                if how == "cancelled":
                    group.cancel_scope.cancel()
                else:
                    session.stop("enough", agent=conversation.path)
            assert (hanging, heard.text, story.kinds[:3]) == ([0], "Let me ", ["said", "call", "answered"])
            assert conversation.turns[-1].outcome.text == "Let me "
            assert (await conversation.say("Are you there?")).text.strip() == "Here I am"
        sent = [(each["role"], each["content"]) for each in here.seen[1].body["messages"][1:]]
    assert [role for role, _ in sent] == ["user", "assistant", "user"]
    assert sent[1][1].startswith("Let me")
