"""An agent whose window is small: what leaves is summed up by the small model, charged and recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestra import Runtime, Scripted, tool
from orchestra.context.summary.schema import Part, SummaryTask
from orchestra.errors import ModelUnreachable, OutputInvalid
from orchestra.models.summariser import ModelSummariser, drafted
from orchestra.values.events import Event
from orchestra.values.handoffs import HandOff
from orchestra.values.messages import Reply, Request, ToolCall
from orchestra.values.roles import Role
from orchestra.values.usage import Usage
from tests.team import seen, settings

pytestmark = pytest.mark.anyio

FIELDS: dict[str, Any] = dict.fromkeys(
    ("constraints", "exclusions", "decisions", "done", "open", "entities", "numbers"), ()
)
USAGE = Usage(calls=1, input_tokens=50, output_tokens=10, cost=0.001)


@tool
async def read_gauge(name: str) -> str:
    """Read a gauge."""
    return f"{name} stands at 7 " + "and hums quietly " * 60


def summary(narrative: str) -> str:
    return json.dumps({**FIELDS, "goal": "", "narrative": narrative})


def clerk() -> Role:
    return Role(name="clerk", description="d", instructions="Work.", context="tools")


async def run(
    tmp_path: Path, sum_up: Callable[[Request], object], steps: int = 14
) -> tuple[HandOff[Any], list[Event], Scripted, dict[str, Usage]]:
    made = 0

    def answer(request: Request) -> object:
        nonlocal made
        if request.purpose == "summary":
            return sum_up(request)
        made += 1
        if made > steps:
            return Reply(text="all read", usage=USAGE)
        return Reply(calls=(ToolCall(f"k{made}", "read_gauge", f'{{"name": "g{made}"}}'),), usage=USAGE)

    model = Scripted(answer, window=4_000)
    events: list[Event] = []
    models = {"small": model, "large": model}
    async with (
        Runtime(settings(tmp_path), models=models, roles=[clerk()], tools=[read_gauge]) as host,
        host.session("?x", watch=events.append) as session,
    ):
        handoff = await session.ask("clerk", "Read all gauges.")
        return handoff, events, model, session.usage


async def test_the_small_model_sums_up_what_leaves(tmp_path: Path) -> None:
    """The summary stands in the next prompts; the call is charged, and the compaction tells what it did."""
    told = summary("Several gauges were read.")
    handoff, events, model, usage = await run(
        tmp_path,
        lambda request: Reply(text=told, value=request.output.validate(told), usage=USAGE),  # type: ignore[union-attr] # asked with one
    )
    assert (handoff.value, handoff.status) == ("all read", "done")
    asked = [request for request in model.requests if request.purpose == "summary"]
    assert asked
    assert "and hums quietly" in seen(asked[0])
    assert "Several gauges were read." in seen(model.requests[-1])
    assert sum(one.calls for one in usage.values()) == len(model.requests)
    compacted = [event for event in events if event.kind == "compacted"]
    assert len(compacted) == len(asked)
    data = compacted[0].data
    assert data["level"] in ("medium", "heavy")
    assert data["after"] < data["before"]
    assert (data["version"], data["by"], data["refused"]) == (1, "scripted", "")
    assert data["left"]
    kinds = [event.kind for event in events if event.data.get("purpose") == "summary"]
    assert kinds[:2] == ["call", "reply"]


@pytest.mark.parametrize("problem", ["unreachable", "invalid", "refusal", "wrong"])
async def test_a_summary_that_fails_does_not_hurt_the_run(tmp_path: Path, problem: str) -> None:
    """The agent goes on, what leaves is offloaded by rule, and the record says why there is no summary."""

    def sum_up(_: Request) -> object:
        if problem == "unreachable":
            return ModelUnreachable("The endpoint did not answer.")
        if problem == "invalid":
            return "this is no JSON"
        if problem == "refusal":
            return Reply(text="I'm sorry", finish="refusal", usage=USAGE)
        return summary("Gauge 99 stands at 31.")

    handoff, events, model, _ = await run(tmp_path, sum_up)
    assert handoff.value == "all read"
    compacted = [event.data for event in events if event.kind == "compacted"]
    assert compacted
    assert all(data["version"] == 0 and data["refused"] for data in compacted)
    assert not any("99" in seen(request) or "sorry" in seen(request) for request in model.requests)
    assert "read_gauge(" in seen(model.requests[-1])


async def test_a_draft_without_a_summary_says_why() -> None:
    """A run's failure is a draft with its problem; a text where a summary was asked for is no summary."""
    task = SummaryTask(parts=(Part("b2", "user", 1, "Hello."),), previous=None, tokens=100)

    async def silent(_: Request) -> Reply:
        raise ModelUnreachable("The endpoint did not answer.")

    async def chatty(request: Request) -> Reply:
        assert (request.purpose, request.tool_choice) == ("summary", "none")
        return Reply(text="They said hello.")

    assert (await drafted(ModelSummariser(silent, "small"), task)).problem == "The endpoint did not answer."
    draft = await drafted(ModelSummariser(chatty, "small"), task)
    assert (draft.summary, draft.by) == (None, "small")
    with pytest.raises(OutputInvalid, match="gave no summary"):
        await ModelSummariser(chatty, "small").summarise(task)


async def test_an_agent_proposes_changes_to_its_state(tmp_path: Path) -> None:
    """A role that names update_state may change its state; what contradicts the user is refused."""
    calls = iter(
        [
            ("facts", "gauge=g1", "add"),
            ("facts", "budget=$800", "add"),
            ("nothing", "x", "add"),
        ]
    )

    def answer(request: Request) -> object:
        asked = next(calls, None)
        if asked is None:
            return "done"
        arguments = json.dumps(dict(zip(("field", "value", "how"), asked, strict=True)))
        return ToolCall(f"k{len(request.messages)}", "update_state", arguments)

    model = Scripted(answer)
    role = Role(
        name="clerk",
        description="d",
        instructions="Work.",
        context="tools",
        tools=("read_gauge", "update_state"),
    )
    async with (
        Runtime(settings(tmp_path), models={"small": model}, roles=[role], tools=[read_gauge]) as host,
        host.session("?x") as session,
    ):
        await session.ask("clerk", "The budget is $900.")
    assert [tool.name for tool in model.requests[0].tools] == ["read_gauge", "recall", "update_state"]
    assert "gauge=g1" in seen(model.requests[1])
    assert "the user said budget=$900 in turn 1" in seen(model.requests[2])
    assert "update_state needs a field" in seen(model.requests[3])
    assert "$800" not in model.requests[3].messages[-1].text
