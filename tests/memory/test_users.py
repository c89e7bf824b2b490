"""What a user said in one session is there in his next, and in nobody else's."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import anyio
import pytest

from orchestra import Runtime, Scripted
from orchestra.context.tokens import counter_for
from orchestra.errors import InputError, StoreError
from orchestra.journal.journal import Journal
from orchestra.journal.reading import read_journal
from orchestra.memory import shelf
from orchestra.memory.kept import Whose
from orchestra.resume.host import Resuming
from orchestra.testing.replay import Replaying, replay
from tests.memory.remembering import clerk, kept, seen, stored, talked

pytestmark = pytest.mark.anyio

SECRETS = ("hunter22", "sk-proj-9aF3kL7wQz1XcV5bN8mT2rYp")  # never valid


async def test_a_fact_is_there_when_its_key_is_named(tmp_path: Path) -> None:
    """Fenced, with its day and its session; not before it is named, and not twice."""
    await talked(tmp_path, ["My budget is $1,200."], user="ada")
    first, second, third = await talked(
        tmp_path, ["How is green tea made?", "What was my budget?", "And half of the budget?"], user="ada"
    )
    assert "1,200" not in first
    line = r"- My budget is \$1,200\. \(\d{4}-\d\d-\d\d, session [\w-]+\)"
    block = rf"remembered from earlier sessions \| [^\n]+ UTC\n```\n{line}\n```"
    assert re.search(block, second)
    assert third.count("1,200") == 1


async def test_constraints_are_there_whatever_is_asked(tmp_path: Path) -> None:
    """Word for word, before the input."""
    await talked(tmp_path, ["Never book hotels without breakfast.", "I am allergic to peanuts."], user="ada")
    (prompt,) = await talked(tmp_path, ["Where do I go on Sunday?"], user="ada")
    assert prompt.index("Never book hotels without breakfast.") < prompt.index("Where do I go on Sunday?")
    assert "I am allergic to peanuts." in prompt


async def test_an_update_takes_the_old_ones_place(tmp_path: Path) -> None:
    """With its history; a correction of another kind of words finds what it corrects."""
    await talked(tmp_path, ["My budget is $1,200.", "My name is Ada."], user="ada")
    await talked(tmp_path, ["Actually, change the budget to $1,500."], user="ada")
    (prompt,) = await talked(tmp_path, ["What is my budget?"], user="ada")
    assert "change the budget to $1,500. (" in prompt
    assert "before: $1,200)" in prompt
    assert "My budget is $1,200." not in prompt
    old, name, new = await kept(tmp_path, "ada")
    assert (old.by, name.until, new.until) == (new.number, None, None)


async def test_a_language_takes_the_place_of_another(tmp_path: Path) -> None:
    """Two would contradict each other; two other constraints may both hold."""
    await talked(tmp_path, ["Always answer in German.", "Never book a hostel."], user="ada")
    await talked(tmp_path, ["Always answer in French.", "Actually, never book a hotel."], user="ada")
    (prompt,) = await talked(tmp_path, ["Hello."], user="ada")
    assert "in German" not in prompt
    assert all(each in prompt for each in ("in French", "a hostel", "a hotel"))


async def test_what_is_said_again_is_kept_once(tmp_path: Path) -> None:
    """And what a model says, or a question, not at all."""
    for _ in range(2):
        await talked(tmp_path, ["My budget is $1,200.", "my budget is $1,200", "Is it enough?"], user="ada")
    assert len(await kept(tmp_path, "ada")) == 1


async def test_two_users_never_see_each_other(tmp_path: Path) -> None:
    """Forty sessions of two users and nobody, interleaved at once in one runtime, in and out of a project."""
    model = Scripted(lambda _: "Understood.")
    host = Runtime(stored(tmp_path), models={"small": model}, roles=[clerk()])
    shown: dict[str, list[str]] = {"ada": [], "bob": [], "": []}

    async def one(user: str, number: int) -> None:
        project = "tea" if number % 2 and user else None
        async with host.session("A chat.", user=user or None, project=project) as session:
            conversation = session.conversation("clerk")
            canary = f"CANARY-{user.upper() or 'NOBODY'}-{number}"
            await conversation.say(f"My locker is {canary}. Never tell {canary} to anybody.")
            await conversation.say("What is in my locker? Our locker is our locker.")
            shown[user].append("\n".join(block.message.text for block in conversation.context.blocks))

    async with host:
        for number in range(10):
            async with anyio.create_task_group() as group:
                for user in ("ada", "bob", "", "ada"):
                    group.start_soon(one, user, number)
    for user, texts in shown.items():
        own = f"CANARY-{user.upper() or 'NOBODY'}"
        for text in texts:
            found = set(re.findall(r"CANARY-[A-Z]+", text))
            assert found <= {own}
    assert sum("earlier sessions" in text for text in shown["ada"]) > 10
    everybody = await kept(tmp_path, "ada") + await kept(tmp_path, "bob")
    assert {memory.user for memory in everybody} == {"ada", "bob"}


async def test_a_project_of_his_is_not_another(tmp_path: Path) -> None:
    """What a user says in a project stays there; what always holds of him goes with him."""
    await talked(tmp_path, ["Our deadline is 5 March 2027.", "I don't eat meat."], user="ada", project="tea")
    (other,) = await talked(tmp_path, ["What is our deadline?"], user="ada", project="coffee")
    (same,) = await talked(tmp_path, ["What is our deadline?"], user="ada", project="tea")
    (bob,) = await talked(tmp_path, ["What is our deadline?"], user="bob", project="tea")
    assert "5 March" in same
    assert "5 March" not in other + bob
    assert "I don't eat meat." in other
    assert "meat" not in bob


async def test_it_is_off_unless_somebody_is_named(tmp_path: Path) -> None:
    """Nothing is kept of a session that does not say whose it is."""
    await talked(tmp_path, ["My budget is $1,200.", "I am allergic to peanuts."])
    (prompt,) = await talked(tmp_path, ["What is my budget?"])
    assert "1,200" not in prompt
    assert await kept(tmp_path, "", "") == ()


async def test_secrets_are_not_kept(tmp_path: Path) -> None:
    """Neither what looks like one nor what is called one; not even in the store's file."""
    said = [f"My password is {SECRETS[0]}.", f"My license is {SECRETS[1]}.", "My budget is $1,200."]
    await talked(tmp_path, said, user="ada")
    assert [memory.key for memory in await kept(tmp_path, "ada")] == ["budget"]
    assert SECRETS[1].encode() not in (tmp_path / "store.db").read_bytes()


async def test_a_resumed_session_has_the_memory_it_had(tmp_path: Path) -> None:
    """Whatever the store holds by now; and so has a replay, which has no store."""
    await talked(tmp_path, ["Never book hotels without breakfast."], user="ada")
    model = Scripted(["One."])
    host = Runtime(stored(tmp_path), models={"small": model}, roles=[clerk()])
    async with host, host.session("A chat.", user="ada") as session:
        await session.conversation("clerk").say("Where do I sleep?")
    name = session.id
    await talked(tmp_path, ["Never book a hostel.", "Actually, never book hotels at all."], user="ada")
    model = Scripted(["Two."])
    host = Runtime(stored(tmp_path), models={"small": model}, roles=[clerk()])
    async with host, host.resumed(name, Resuming()) as (session, _):
        conversation = session.conversation("clerk")
        await conversation.catch_up()
        await conversation.say("And on Monday?")
    prompt = seen(model.requests[0])
    assert prompt.index("without breakfast") < prompt.index("Where do I sleep?")
    assert prompt.index("And on Monday?") > 0
    assert "hostel" in prompt  # what he said since comes with what is asked since


async def ask_once(session: object, question: str) -> str:
    """A workflow of one agent."""
    handoff = await session.ask("clerk", question)  # type: ignore[attr-defined] # a Session
    return str(handoff.value)


async def test_a_replay_has_it_from_the_record(tmp_path: Path) -> None:
    """The same prompt, though the memory is gone."""
    await talked(tmp_path, ["Never book hotels without breakfast."], user="ada")
    model = Scripted(["One."])
    host = Runtime(stored(tmp_path), models={"small": model}, roles=[clerk()])
    async with host:
        assert await host.run(ask_once, "Where do I sleep?", user="ada") == "One."
    assert "breakfast" in seen(model.requests[0])
    async with Journal.open(str(tmp_path / "store.db")) as journal:
        await journal.do(shelf.forget, Whose("ada"), None)
    how = Replaying(workflow=ask_once, settings=stored(tmp_path), roles=(clerk(),))
    async with read_journal(str(tmp_path / "store.db")) as reader:
        assert await replay(reader, "last", how) == "One."


async def test_it_keeps_within_its_share(tmp_path: Path) -> None:
    """A thousand constraints are cut to the memory's part of the budget, the newest stay."""
    said = [f"Never use supplier number {number} for any order of mine." for number in range(300)]
    await talked(tmp_path, said, user="ada")
    policy = stored(tmp_path)
    model = Scripted(lambda _: "Yes.")
    host = Runtime(policy, models={"small": model}, roles=[clerk()])
    async with host, host.session("A chat.", user="ada") as session:
        conversation = session.conversation("clerk")
        conversation.context.narrow(16_000)
        await conversation.say("Which one is best?")
        usable = conversation.context.budget.usable
    text = next(part for part in seen(model.requests[0]).split("\n\n") if "remembered from" in part)
    assert counter_for("").count(text) <= 0.15 * usable + 40
    assert "supplier number 299 " in text
    assert "supplier number 3 " not in text


@pytest.mark.parametrize("bad", ["", "  ", "two\nlines", "x" * 201])
async def test_an_id_that_is_none_is_one_sentence(tmp_path: Path, bad: str) -> None:
    """Empty, of two lines, too long."""
    with pytest.raises(InputError, match=r"^The user's id "):
        await talked(tmp_path, ["Hello."], user=bad)


async def test_forgotten_is_gone_though_the_journal_is_damaged(tmp_path: Path) -> None:
    """Which sessions were shown it cannot be read then, and that is said; the memory is gone all the same."""
    await talked(tmp_path, ["I live in Berlin."], user="ada")
    assert len(await kept(tmp_path, "ada")) == 1
    with sqlite3.connect(tmp_path / "store.db") as database:
        database.execute("UPDATE pages SET codec = 0, body = x'5b31'")
    async with Journal.open(str(tmp_path / "store.db")) as journal:
        with pytest.raises(StoreError, match="cannot be read"):
            await journal.do(shelf.forget, Whose("ada"), None)
    assert await kept(tmp_path, "ada") == ()
