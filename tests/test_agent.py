"""One agent's loop: tools, tiers, limits, failures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from orchestra import Runtime, Scripted, Session, tool
from orchestra.errors import InputError, OutputInvalid, RoleError
from orchestra.models.scripted import HANG
from orchestra.values.events import Event
from orchestra.values.messages import Reply, ToolCall
from orchestra.values.roles import Limits, Role
from orchestra.values.usage import Usage
from tests.team import plan_of, seen, settings

pytestmark = pytest.mark.anyio


@tool
async def read_gauge(name: str) -> str:
    """Read a gauge."""
    if name == "broken":
        raise ValueError("the gauge is broken")
    return f"{name} stands at 7"


def clerk(**fields: object) -> Role:
    return Role(
        **{"name": "clerk", "description": "d", "instructions": "Work.", "context": "tools", **fields}  # type: ignore[arg-type] # a role's fields
    )


@asynccontextmanager
async def session_of(
    tmp_path: Path,
    role: Role,
    small: Scripted,
    large: Scripted | None = None,
    events: list[Event] | None = None,
) -> AsyncIterator[Session]:
    models = {"small": small, "large": large or small}
    watch = events.append if events is not None else None
    host = Runtime(settings(tmp_path), models=models, roles=[role], tools=[read_gauge])
    async with host, host.session("?x", watch=watch) as session:
        yield session


def gauge(name: str, key: str = "k1") -> ToolCall:
    return ToolCall(key, "read_gauge", f'{{"name": "{name}"}}')


async def test_results_follow_their_calls(tmp_path: Path) -> None:
    """Two calls at once come back in order, a failed one as a text, and the next prompt holds the pairs."""
    model = Scripted([(gauge("broken", "a"), gauge("oil", "b")), "oil is at 7"])
    async with session_of(tmp_path, clerk(), model) as session:
        handoff = await session.ask("clerk", "Read both.")
    assert (handoff.value, handoff.status) == ("oil is at 7", "done")
    system, user, asked, first, second = model.requests[1].messages[:5]
    assert [m.role for m in (system, user, asked, first, second)] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert [first.call_id, second.call_id] == ["a", "b"]
    assert "the gauge is broken" in first.text
    assert "oil stands at 7" in second.text


async def test_a_role_is_offered_its_own_tools_only(tmp_path: Path) -> None:
    """No tools means none; an unknown one is the role's author's to mend."""
    model = Scripted(["fine"])
    async with session_of(tmp_path, clerk(tools=()), model) as session:
        await session.ask("clerk", "Go.")
        assert model.requests[0].tools == ()
    with pytest.raises(RoleError, match="nearest: read_gauge"):
        async with session_of(tmp_path, clerk(tools=("read_gauges",)), model) as session:
            await session.ask("clerk", "Go.")


async def test_steps_and_final_may_be_two_tiers(tmp_path: Path) -> None:
    """The small model works, the large one answers, once, with no call allowed."""
    small, large = (
        Scripted([gauge("oil"), "I have what I need"]),
        Scripted(['{"title": "t", "questions": ["q"]}']),
    )
    role = clerk(steps="small", final="large", output="Plan")
    async with session_of(tmp_path, role, small, large) as session:
        handoff = await session.ask("clerk", "Plan.")
        assert (session.usage["small"].calls, session.usage["large"].calls) == (2, 1)
    assert handoff.value == structs.replace(plan_of("q"), title="t")
    assert (large.requests[0].tool_choice, large.requests[0].purpose) == ("none", "final")


async def test_close_to_its_steps_an_agent_is_told_to_finish(tmp_path: Path) -> None:
    """The last allowed call says so, and the result is partial with the reason."""
    model = Scripted(
        lambda request: "7" if request.tool_choice == "none" else gauge("oil", f"k{len(request.messages)}")
    )
    async with session_of(tmp_path, clerk(limits=Limits(steps=3)), model) as session:
        handoff = await session.ask("clerk", "Read.")
    assert len(model.requests) == 3
    assert "close to your limit" in seen(model.requests[2])
    assert handoff.status == "partial"
    assert "limit of 3 steps" in handoff.reason


async def test_a_model_that_never_finishes_is_stopped(tmp_path: Path) -> None:
    """Calls against the prohibition do not run for ever."""
    model = Scripted(lambda request: gauge("oil", f"k{len(request.messages)}"))
    async with session_of(tmp_path, clerk(limits=Limits(steps=2), output="Plan"), model) as session:
        handoff = await session.ask("clerk", "Read.")
    assert handoff.status == "failed"
    assert len(model.requests) <= 4


async def test_an_agents_time_is_its_own(tmp_path: Path) -> None:
    """A model that hangs costs the agent, not the session."""
    model = Scripted([HANG, "on time"])
    async with session_of(tmp_path, clerk(limits=Limits(seconds=0.05)), model) as session:
        late = await session.ask("clerk", "Go.")
        good = await session.ask("clerk", "Go.")
    assert late.status == "failed"
    assert "longer than its limit of 0.05 s" in late.reason
    assert good.value == "on time"


async def test_a_schema_that_fails_hands_the_step_to_the_large_tier(tmp_path: Path) -> None:
    """It is recorded, what was billed is booked, and the large model's failure is the end."""
    bad = OutputInvalid("no", problem="title: missing")
    bad.usage = Usage(calls=2, input_tokens=10, output_tokens=5, cost=0.0)
    events: list[Event] = []
    small, large = Scripted([bad, bad]), Scripted([plan_of("q"), bad])
    async with session_of(tmp_path, clerk(output="Plan"), small, large, events) as session:
        done = await session.ask("clerk", "Plan.")
        failed = await session.ask("clerk", "Plan.")
        assert session.usage["small"].calls == 4
    assert done.value == plan_of("q")
    assert failed.status == "failed"
    notes = [event.data["what"] for event in events if event.kind == "note"]
    notes = [what for what in notes if what != "call failed"]
    assert notes == ["output invalid", "escalated", "output invalid", "escalated", "output invalid"]


async def test_an_agent_may_ask_for_the_larger_model(tmp_path: Path) -> None:
    """On its own word the next step is the large tier's, as often as its role allows and no more."""
    word = ToolCall("w", "ask_larger_model", '{"reason": "hard"}')
    small, large = Scripted([word, word, "done"]), Scripted([gauge("oil", "g")])
    async with session_of(tmp_path, clerk(limits=Limits(escalations=1)), small, large) as session:
        handoff = await session.ask("clerk", "Read.")
    assert handoff.value == "done"
    assert len(large.requests) == 1
    assert "as often as it may" in seen(small.requests[2])
    plain = Scripted(["done"])
    async with session_of(tmp_path, clerk(), plain) as session:
        await session.ask("clerk", "Read.")
    assert "ask_larger_model" not in [spec.name for spec in plain.requests[0].tools]


async def test_a_token_limit_ends_with_what_there_is(tmp_path: Path) -> None:
    """A call that does not fit what is left is not made, and the reason has the numbers."""
    role = clerk(limits=Limits(tokens=2_000))
    model = Scripted(lambda request: Reply(text="7", usage=Usage(calls=1, input_tokens=50, output_tokens=5)))
    async with session_of(tmp_path, role, model) as session:
        handoff = await session.ask("clerk", "word " * 3_000)
    assert model.requests == []
    assert "of 2,000 are left" in handoff.reason


async def test_cancelling_closes_an_agent_in_the_journal(tmp_path: Path) -> None:
    """Its last event says that it was stopped."""
    events: list[Event] = []
    model = Scripted([HANG])
    async with session_of(tmp_path, clerk(), model, events=events) as session:
        with anyio.move_on_after(0.05):
            await session.ask("clerk", "Go.")
    assert (events[-1].kind, events[-1].agent) == ("failed", "clerk.1")


async def test_an_unknown_role_is_named_with_the_nearest(tmp_path: Path) -> None:
    """The mistake is the caller's."""
    async with session_of(tmp_path, clerk(), Scripted([])) as session:
        with pytest.raises(InputError, match="'clark'; nearest: clerk"):
            await session.ask("clark", "Go.")


async def test_two_agents_share_nothing_they_can_change(tmp_path: Path) -> None:
    """Interleaved agents of one role see only their own words."""
    model = Scripted(
        lambda request: gauge("oil") if not any(m.role == "tool" for m in request.messages) else "done"
    )
    async with session_of(tmp_path, clerk(), model) as session:

        async def one(number: int, word: str) -> str:
            await session.ask("clerk", f"Task {word}")
            return word

        await session.each(["alpha", "beta", "gamma"], one)
    for request in model.requests:
        assert sum(word in seen(request) for word in ("alpha", "beta", "gamma")) == 1
