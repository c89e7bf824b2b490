"""A person is asked before something is done, from the shell or the library, today or next week."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra import Scripted, tool
from orchestra.errors import RoleError
from orchestra.journal.journal import Journal
from orchestra.journal.records import Order
from orchestra.roles.conditions import condition_of
from orchestra.roles.read import load_role
from orchestra.session.session import Session
from orchestra.tools.approval import Answer
from orchestra.tools.place import Place
from orchestra.values.events import Event
from orchestra.values.messages import ToolCall
from orchestra.values.roles import Limits, Role
from tests.resume.cut import cut, events, host
from tests.team import seen

pytestmark = pytest.mark.anyio
PAY = ToolCall("k1", "pay_bill", '{"amount": 120}')
KEY = "clerk.1/1/0"


def clerk(**fields: Any) -> Role:
    return Role(name="clerk", description="d", instructions="Work.", context="tools", **fields)


class Till:
    """What was paid."""

    def __init__(self, approve: Any = "when amount > 100") -> None:
        self.paid: list[float] = []

        @tool(approve=approve)
        async def pay_bill(amount: float) -> str:
            """Pay a bill."""
            self.paid.append(amount)
            return "paid"

        self.tool = pay_bill


async def answered(folder: Path, answer: Answer, till: Till, **fields: Any) -> Scripted:
    """A session that asks once and is answered as soon as it waits."""
    model = Scripted([PAY, "done"])
    async with host(folder, model, roles=[clerk(**fields)], tools=[till.tool]) as runtime:
        asked = anyio.Event()

        def watch(event: Event) -> None:
            if event.kind == "approval" and event.data["state"] == "asked":
                asked.set()

        async with runtime.session("?x", watch=watch) as session, anyio.create_task_group() as group:

            async def reply() -> None:
                await asked.wait()
                session.people.answer(KEY, answer)

            group.start_soon(reply)
            handoff = await session.ask("clerk", "Pay.")
            assert handoff.value == "done"
    return model


async def test_what_is_agreed_to_is_done(tmp_path: Path) -> None:
    """And the journal says who agreed."""
    till = Till()
    await answered(tmp_path, Answer(approved=True, by="Ada"), till)
    assert till.paid == [120]
    async with Journal.open(tmp_path / "store.db") as journal:
        found = await journal.find_session("last")
        asked, said = await journal.events(found.id, kinds=("approval",))
    assert (asked.data["state"], said.data["by"], said.data["approved"]) == ("asked", "Ada", True)


async def test_a_refusal_reaches_the_model_with_its_reason(tmp_path: Path) -> None:
    """As the call's result; nothing was done."""
    till = Till()
    model = await answered(tmp_path, Answer(approved=False, reason="too dear"), till)
    assert till.paid == []
    assert "refused this call: too dear" in seen(model.requests[1])


async def test_what_the_rule_does_not_name_is_not_asked(tmp_path: Path) -> None:
    """The role's rule counts before the tool's own."""
    till = Till()
    model = Scripted([PAY, "done"])
    free = clerk(approve=(("pay_bill", "never"),))
    opened = host(tmp_path, model, roles=[free], tools=[till.tool])
    async with opened as runtime, runtime.session("?x") as session:
        await session.ask("clerk", "Pay.")
    assert till.paid == [120]


async def waiting(folder: Path, till: Till) -> None:
    """A session whose process ends while it waits."""
    async with host(folder, Scripted([PAY]), roles=[clerk()], tools=[till.tool]) as runtime:
        with anyio.CancelScope() as scope:

            def watch(event: Event) -> None:
                if event.kind == "approval":
                    scope.cancel()

            async with runtime.session("?x", watch=watch) as session:
                await session.ask("clerk", "Pay.")


async def test_a_session_waits_over_a_restart_and_hears_what_was_said_meanwhile(tmp_path: Path) -> None:
    """The answer was given while no process was there."""
    till = Till()
    await waiting(tmp_path, till)
    async with Journal.open(tmp_path / "store.db") as journal:
        name = (await journal.find_session("last")).id
        await journal.give(Order(session=name, what="approve", key=KEY, who="Ada"))
    model = Scripted(["done"])
    opened = host(tmp_path, model, roles=[clerk()], tools=[till.tool])
    async with opened as runtime, runtime.resumed(name) as (session, _):
        assert (await session.ask("clerk", "Pay.")).value == "done"
    assert till.paid == [120]


async def test_an_answer_from_another_process_is_heard(tmp_path: Path) -> None:
    """The session waits without a place: with one place for agents, another works meanwhile."""
    till = Till()
    model = Scripted([PAY, "the other is done", "done"])
    role = clerk(limits=Limits(seconds=30))
    async with host(tmp_path, model, roles=[role], tools=[till.tool]) as runtime:
        assert runtime.kit.limits.agents >= 1
        async with runtime.session("?x") as session, anyio.create_task_group() as group:

            async def other() -> None:
                while not session.people.pending:
                    await anyio.lowlevel.checkpoint()
                async with AsyncExitStack() as others:
                    for _ in range(runtime.kit.limits.agents - 1):  # fill the other places
                        await others.enter_async_context(session._places.taken(Place()))
                    handoff = await session.ask("clerk", "Look on.")
                assert handoff.value == "the other is done"
                async with Journal.open(tmp_path / "store.db") as second:
                    await second.give(Order(session=session.id, what="approve", key=KEY, who="Ada"))

            group.start_soon(other)
            assert (await session.ask("clerk", "Pay.")).value == "done"
    assert till.paid == [120]


async def test_a_stage_asks_too_and_its_answer_is_in_the_record(tmp_path: Path) -> None:
    """A resumed run does not ask again."""

    async def publish(session: Session, question: str) -> bool:
        session.people.answer("/1", Answer(approved=True, by="Ada"))
        answer = await session.approval("publish the report", detail=question)
        await session.ask("clerk", "Publish.")
        return answer.approved

    whole = tmp_path / "whole"
    whole.mkdir()
    async with host(whole, Scripted(["done"]), roles=[clerk()]) as runtime:
        assert await runtime.run(publish, "?x")
    folder = cut(whole, max(seq for seq, _, kind in events(whole) if kind == "approval"), tmp_path / "cut")

    async def again(session: Session, question: str) -> bool:
        return (await session.approval("publish the report", detail=question)).approved

    async with host(folder, Scripted([]), roles=[clerk()]) as runtime:
        assert await runtime.resume("last", workflow=again)


@pytest.mark.parametrize(
    ("rule", "arguments", "asks"),
    [
        ("always", {}, True),
        ("never", {"amount": 1}, False),
        ("when path", {"path": "x"}, True),
        ("when path", {"path": ""}, False),
        ("when amount > 100", {"amount": 100}, False),
        ("when amount >= 1,000", {"amount": "1000"}, True),
        ("when amount > 100", {"amount": "many"}, True),
        ("when path starts with /etc", {"path": "/ETC/passwd"}, True),
        ('when to is not "Ada"', {"to": "Bob"}, True),
        ("when sure is true", {"sure": True}, True),
        ("when text contains delete", {"text": "Please DELETE all"}, True),
    ],
)
def test_rules_mean_what_they_say(rule: str, arguments: Mapping[str, Any], asks: bool) -> None:
    """Numbers as numbers, texts without regard to case."""
    assert condition_of(rule)(arguments) is asks


@given(st.text(max_size=30))
def test_any_other_rule_is_refused_in_a_sentence(rule: str) -> None:
    """A rule that is mistyped never means `never`."""
    known = rule.split() in (["always"], ["never"]) or rule.strip().startswith("when ")
    if not known:
        with pytest.raises(ValueError, match="must be always, never"):
            condition_of(rule)


def test_a_role_file_names_its_rules(tmp_path: Path) -> None:
    """One for all its tools or one for each; a bad one with file and line."""
    head = "---\nname: clerk\ndescription: Pays.\ntools: [pay_bill]\n"
    file = tmp_path / "clerk.md"
    file.write_text(f"{head}approve: {{pay_bill: when amount > 5}}\n---\nPay.\n", encoding="utf-8")
    assert load_role(file).approve == (("pay_bill", "when amount > 5"),)
    file.write_text(f"{head}approve: sometimes\n---\nPay.\n", encoding="utf-8")
    with pytest.raises(RoleError, match=r"clerk\.md:5: approve: must be always, never"):
        load_role(file)
