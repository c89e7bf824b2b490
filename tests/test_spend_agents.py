"""What agents and sessions do about limits: warn, finish, stop, and say so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from orchestra import Runtime, Scripted, Session
from orchestra.errors import AgentFailed, ConfigError, ContextTooLong, ModelThrottled
from orchestra.load.behaviour import Behaviour
from orchestra.load.simulated import simulated
from orchestra.models.retrying import Retrying
from orchestra.values.events import Event
from orchestra.values.messages import Reply, Request
from orchestra.values.roles import Limits, Role
from orchestra.values.usage import Usage
from tests.team import scripted_team, seen, settings
from tests.test_agent import clerk, gauge, read_gauge

pytestmark = pytest.mark.anyio


class Priced(Scripted):
    """A dollar for a million tokens; None: nobody knows."""

    price: float | None = 1.0

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        return None if self.price is None else (input_tokens + output_tokens) * self.price / 1e6


@asynccontextmanager
async def session_of(
    tmp_path: Path, role: Role, model: Scripted, events: list[Event] | None = None, **flags: object
) -> AsyncIterator[Session]:
    watch = events.append if events is not None else None
    models = {"small": model, "large": model}
    host = Runtime(settings(tmp_path, **flags), models=models, roles=[role], tools=[read_gauge])
    async with host, host.session("?x", watch=watch) as session:
        yield session


def took(tokens: int, request: Request) -> Reply:
    """A reply that used so many tokens, or as many as it may; the prompt's as it was counted."""
    made = min(tokens - request.tokens, request.max_output_tokens or tokens)
    usage = Usage(calls=1, input_tokens=request.tokens, output_tokens=made, cost=tokens / 1e6)
    if request.tool_choice == "none":
        return Reply(text="7", usage=usage)
    return Reply(calls=(gauge("oil", f"k{len(request.messages)}"),), finish="calls", usage=usage)


async def test_a_call_says_whose_it_is_and_how_large(tmp_path: Path) -> None:
    """The session, the prompt's tokens by the endpoint's count, and the limit of the reply."""
    model = Scripted(["fine"])
    async with session_of(tmp_path, clerk(), model) as session:
        await session.ask("clerk", "Go.")
        (request,) = model.requests
        assert request.session == session.id
    assert request.tokens > 0
    assert request.max_output_tokens == 4_000


async def test_a_warning_then_the_end_of_the_work(tmp_path: Path) -> None:
    """At 80 % an event; close to the end the agent is told to finish, and the result is partial."""
    events: list[Event] = []
    model = Scripted(lambda request: took(4_000, request))
    async with session_of(tmp_path, clerk(), model, events, **{"limits.tokens": 24_000}) as session:
        handoff = await session.ask("clerk", "Read.")
        assert session.spend.held == (0, 0.0)
        assert session.spend.spent[0] <= 24_000
    assert "close to your limit" in seen(model.requests[-1])
    assert [request.tool_choice for request in model.requests].count("none") == 1
    assert (handoff.status, "the session's budget" in handoff.reason) == ("partial", True)
    notes = [event.data for event in events if event.kind == "note"]
    assert [(note["what"], note["scope"]) for note in notes] == [("budget", "session")]


async def test_the_last_reply_is_shorter_before_there_is_none(tmp_path: Path) -> None:
    """Where a whole reply does not fit any more, a shorter one is asked for."""
    model = Scripted(lambda request: took(request.tokens + 100, request))
    async with session_of(tmp_path, clerk(limits=Limits(tokens=2_500)), model) as session:
        handoff = await session.ask("clerk", "Read.")
    assert model.requests[0].max_output_tokens == 2_000
    assert handoff.value == "7"


async def test_a_report_says_that_the_money_is_gone(tmp_path: Path) -> None:
    """What was found by then is the report, and it says why it is partial."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Oil\n\nThe oil stands at 7. It was read today.\n")
    questions = ("Where does the oil stand?", "What was read today?", "Where is the oil?")
    team = scripted_team(*questions)
    flags = {"limits.tokens": 8_000, "limits.agents": 1}

    def dear(request: Request) -> Reply:
        line = team._answer(request)
        assert isinstance(line, Reply)
        made = min(700, request.max_output_tokens or 700)
        usage = Usage(calls=1, input_tokens=request.tokens, output_tokens=made, cost=0.0)
        return Reply(text=line.text, calls=line.calls, value=line.value, usage=usage)

    models = {"small": Scripted(dear), "large": Scripted(dear)}
    async with Runtime(settings(tmp_path, **flags), models=models) as host:
        report = await host.research("Where does the oil stand?", documents=tmp_path / "docs")
        assert host.kit.spend.spent[0] <= 8_000
    assert report.references
    assert "budget" in report.partial or "are left" in report.partial


async def test_money_without_a_price_is_refused(tmp_path: Path) -> None:
    """Unknown is not zero: the model and what to set are named; a person may say otherwise."""

    class Unpriced(Priced):
        price = None

    model = Unpriced(["fine"])
    flags: dict[str, Any] = {"limits.dollars": 1.0}
    with pytest.raises(ConfigError, match=r"price of scripted \(tier small\) is unknown: set price_in"):
        async with session_of(tmp_path, clerk(), model, **flags):
            pass
    flags["runtime.unpriced"] = True
    async with session_of(tmp_path, clerk(), model, **flags) as session:
        assert (await session.ask("clerk", "Go.")).value == "fine"


@pytest.mark.parametrize("told", [12_000, None])
async def test_a_prompt_that_was_too_long_is_trimmed_once(tmp_path: Path, told: int | None) -> None:
    """The window that the endpoint named, or a smaller one than ours, and then the same step again."""
    events: list[Event] = []

    def answer(request: Request) -> object:
        if len(model.requests) <= 6:
            return gauge("oil " * 900, f"k{len(model.requests)}")
        return ContextTooLong("too long", window=told) if len(model.requests) == 7 else "done"

    model = Scripted(answer, window=32_000)
    async with session_of(tmp_path, clerk(), model, events) as session:
        handoff = await session.ask("clerk", "Read.")
    assert handoff.value == "done"
    assert model.requests[7].tokens < (model.requests[6].tokens if told else 24_000)
    assert [event.data["tokens"] for event in events if event.data.get("what") == "window lowered"] == [
        told or 24_000
    ]


async def test_a_prompt_that_is_too_long_again_ends_the_agent(tmp_path: Path) -> None:
    """One more try, not for ever."""
    model = Scripted(lambda _: ContextTooLong("too long"), window=32_000)
    async with session_of(tmp_path, clerk(), model) as session:
        handoff = await session.ask("clerk", "Read.")
    assert (handoff.status, len(model.requests)) == ("failed", 2)


async def test_retries_are_charged(tmp_path: Path) -> None:
    """What a failed try was billed stands in the session's usage, and nothing stays held."""
    failed = ModelThrottled("slow")
    failed.usage = Usage(calls=1, input_tokens=40, cost=0.0)
    good = Reply(text="7", usage=Usage(calls=1, input_tokens=50, output_tokens=5, cost=0.0))

    async def at_once(seconds: float) -> None:
        assert seconds >= 0

    model = Retrying(Scripted([failed, good]), sleep=at_once)
    host = Runtime(settings(tmp_path), models={"small": model}, roles=[clerk()])
    async with host, host.session("?x") as session:
        await session.ask("clerk", "Read.")
        assert [(used.tokens, used.calls) for used in session.usage.values()] == [(95, 2)]
        assert session.spend.held == (0, 0.0)


async def test_many_sessions_stay_within_one_sum(tmp_path: Path) -> None:
    """By the endpoint's own count, with 40 sessions at once; and most of the sum can be used."""
    async with simulated(Behaviour(reply_tokens=100)) as server:
        (tmp_path / "orchestra.toml").write_text(
            f'[endpoints.here]\nurl = "{server.url}"\n[tiers.small]\nendpoint = "here"\nmodel = "m"\n'
            "window = 32000\nprice_in = 1.0\nprice_out = 4.0\n[runtime]\ndollars = 0.05\n"
        )
        async with Runtime(settings(tmp_path), roles=[clerk(context="chat")]) as host:

            async def one() -> None:
                async with host.session("?x") as session:
                    for _ in range(5):
                        if (await session.ask("clerk", "word " * 100)).status == "failed":
                            return

            async with anyio.create_task_group() as group:
                for _ in range(40):
                    group.start_soon(one)
            assert host.kit.spend.held == (0, 0.0)
            assert host.governors["here"].in_flight == 0
    served = server.served
    assert 0.03 <= (served.input_tokens * 1.0 + served.output_tokens * 4.0) / 1e6 <= 0.05


async def test_nothing_can_be_done_for_nothing(tmp_path: Path) -> None:
    """Where not one call fits, the run fails with the numbers."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("The oil stands at 7.")
    flags = {"limits.tokens": 300}
    async with Runtime(settings(tmp_path, **flags), models={"small": scripted_team("Where?")}) as host:
        with pytest.raises(AgentFailed, match="300 of 300 are left; raise the token limit"):
            await host.research("Where does the oil stand?", documents=tmp_path / "docs")


async def test_a_call_that_waited_asks_for_less_rather_than_for_nothing(tmp_path: Path) -> None:
    """What others have spent meanwhile shortens the reply; the call is made."""
    release = anyio.Event()

    class Slow(Scripted):
        async def reply(self, request: Request) -> Reply:
            reply = await super().reply(request)
            if len(self.requests) == 1:
                await release.wait()
            return reply

    model = Slow(lambda request: Reply(text="7", usage=Usage(calls=1, input_tokens=2_000, output_tokens=10)))
    flags: dict[str, Any] = {"limits.tokens": 5_000}
    host = session_of(tmp_path, clerk(), model, **flags)
    async with host as session, anyio.create_task_group() as group:
        first = group.start_soon(session.ask, "clerk", "Read.")
        await anyio.wait_all_tasks_blocked()
        second = group.start_soon(session.ask, "clerk", "Read.")
        await anyio.wait_all_tasks_blocked()
        assert len(model.requests) == 1
        release.set()
    assert (first.return_value.value, second.return_value.value) == ("7", "7")
    assert model.requests[1].max_output_tokens == 2_000
