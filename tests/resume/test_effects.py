"""A tool that changes something is never silently called twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from orchestra import Scripted, tool
from orchestra.session.session import Session
from orchestra.tools.decorator import FunctionTool
from orchestra.tools.effects import idempotency_key
from orchestra.values.messages import ToolCall
from orchestra.values.roles import Role
from tests.resume.cut import cut, events, host
from tests.team import seen

pytestmark = pytest.mark.anyio
CLERK = Role(name="clerk", description="d", instructions="Work.", context="tools")
SEND = ToolCall("k1", "send_letter", '{"to": "Ada"}')


class Post:
    """What was sent, by key."""

    def __init__(self, *, checked: bool) -> None:
        self.sent: list[str] = []

        @tool(effects="write")
        async def send_letter(to: str) -> str:
            """Send a letter."""
            self.sent.append(idempotency_key())
            return f"sent to {to}"

        if checked:

            @send_letter.checked_by
            async def was_sent(key: str) -> str | None:
                return "sent to Ada" if key in self.sent else None

        self.tool: FunctionTool = send_letter


async def letter(session: Session, question: str) -> Any:
    return await session.ask("clerk", question)


async def recorded(folder: Path, post: Post) -> str:
    """A whole session that sends one letter; its id."""
    await anyio.Path(folder).mkdir()
    async with host(folder, Scripted([SEND, "done"]), roles=[CLERK], tools=[post.tool]) as runtime:
        handoff = await runtime.run(letter, "Write to Ada")
        assert handoff.value == "done"
        return (await runtime.kit.journal.find_session("last")).id


async def resumed(folder: Path, post: Post) -> tuple[Scripted, Any, tuple[str, ...]]:
    """The model that was asked after the crash, the workflow's result, and what the person is told."""
    model = Scripted(["done"])
    opened = host(folder, model, roles=[CLERK], tools=[post.tool])
    async with opened as runtime, runtime.resumed("last") as (session, _):
        handoff = await letter(session, session.question)
        return model, handoff, session.notes


def after(folder: Path, kind: str) -> int:
    return next(seq for seq, _, each in events(folder) if each == kind)


async def test_a_call_has_a_key_that_is_recorded_before_it_runs(tmp_path: Path) -> None:
    """And outside of a call there is none."""
    post = Post(checked=False)
    await recorded(tmp_path / "whole", post)
    kinds = [kind for _, agent, kind in events(tmp_path / "whole") if agent == "clerk.1"]
    assert kinds[:6] == ["started", "prompt", "call", "reply", "tool_called", "intended"]
    assert len(post.sent[0]) == 32
    assert idempotency_key() == ""


async def test_a_call_that_was_cut_off_is_reported_and_not_repeated(tmp_path: Path) -> None:
    """The model and the person read that its outcome is unknown."""
    whole, post = tmp_path / "whole", Post(checked=False)
    await recorded(whole, post)
    folder = cut(whole, after(whole, "intended"), tmp_path / "cut")
    model, handoff, notes = await resumed(folder, post)
    assert handoff.value == "done"
    assert len(post.sent) == 1
    assert "Outcome unknown" in seen(model.requests[0])
    assert "Outcome unknown" in notes[0]
    _, _, again = await resumed(folder, post)
    assert again == notes, "whoever resumes once more is told as well"


@pytest.mark.parametrize("took_effect", [True, False])
async def test_a_tool_that_can_be_asked_says_what_came_of_it(tmp_path: Path, took_effect: bool) -> None:
    """What took effect is not done again; what had none is, under the same key."""
    whole, post = tmp_path / "whole", Post(checked=True)
    await recorded(whole, post)
    key = post.sent[0]
    if not took_effect:
        post.sent.clear()
    folder = cut(whole, after(whole, "intended"), tmp_path / "cut")
    model, handoff, notes = await resumed(folder, post)
    assert handoff.value == "done"
    assert post.sent == [key]
    assert "sent to Ada" in seen(model.requests[0])
    assert notes == ()


async def test_a_call_that_was_only_asked_for_is_made(tmp_path: Path) -> None:
    """Nothing was intended yet, so nothing can have happened."""
    whole, post = tmp_path / "whole", Post(checked=False)
    await recorded(whole, post)
    post.sent.clear()
    folder = cut(whole, after(whole, "tool_called"), tmp_path / "cut")
    await resumed(folder, post)
    assert len(post.sent) == 1
