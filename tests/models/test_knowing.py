"""What is known of endpoints: the table, prices, windows, local servers, and what is remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from orchestra.errors import ConfigError, ModelRefused, ModelThrottled, ModelUnreachable
from orchestra.load.behaviour import Behaviour
from orchestra.load.simulated import simulated
from orchestra.models.compatible.known import kind_of, known_endpoints, known_quirks
from orchestra.models.compatible.memory import InFile, InMemory
from orchestra.models.compatible.quirks import Quirks, by_hand
from orchestra.models.discovery import local_servers
from orchestra.models.fallback import LEFT_OUT_SECONDS, Fallback
from orchestra.models.opening import Outlook, open_models
from orchestra.models.prices import listed
from orchestra.models.probe import probe
from orchestra.models.scripted import Scripted
from orchestra.models.settings import Endpoint, Price, TierSetting
from orchestra.models.windows import window_of
from orchestra.values.messages import Delta, Message, Reply, Request
from tests.models.loopback import Seen, call, completion, serving
from tests.models.opened import SEARCH, asks, opened

pytestmark = pytest.mark.anyio


def test_every_known_endpoint_is_described() -> None:
    """Each row's quirks can be used, and its own URL leads back to it."""
    for kind, row in known_endpoints().items():
        known_quirks(kind, "any")
        for model in row.models:
            assert known_quirks(kind, f"{model}-x") != Quirks()
        assert kind_of(row.url) == kind
    assert len(known_endpoints()) == 15
    assert kind_of("http://127.0.0.1:9/v1") == ""


def test_prices_come_from_the_table() -> None:
    """Known models have prices, with those of cache reads and of long prompts; others have none."""
    price = listed("openai", "gpt-5").price
    assert price is not None
    assert price.cached_input is not None
    assert price.cached_input < price.input
    gemini = listed("google", "gemini-2.5-pro").price
    assert gemini is not None
    assert gemini.cost(300_000, 0) > 1.9 * gemini.cost(150_000, 0) + 0.1
    assert listed("openai", "no-such-model").price is None


def test_cached_tokens_cost_less() -> None:
    """Cache reads are paid at their own price, and without one like any others."""
    assert Price(input=2.0, output=8.0, cached_input=0.5).cost(1_000_000, 0, 500_000) == 1.25
    assert Price(input=2.0, output=8.0).cost(1_000_000, 0, 500_000) == 2.0


async def test_cost_of_a_reply() -> None:
    """Set prices make the cost; this machine is free; elsewhere an unknown price is an unknown cost."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 500}}
    price = Price(input=1.0, output=10.0, cached_input=0.1)
    async with serving(completion("Hi", usage=usage)) as here:
        async with opened(here.url, price=price) as model:
            assert (await model.reply(asks())).usage.cost == pytest.approx((500 + 50 + 1000) / 1e6)
        async with opened(here.url) as model:
            assert (await model.reply(asks())).usage.cost == 0.0
            assert model.cost(10, 10) == 0.0
    endpoint = Endpoint(name="far", url="https://models.example/v1")
    async with open_models([endpoint], {"small": TierSetting(endpoint="far", model="m")}) as tiers:
        assert tiers["small"].cost(10, 10) is None


THINKING: dict[str, dict[str, Any]] = {
    "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 900}},
    "qwen": {"enable_thinking": True, "thinking_budget": 900},
    "gemini": {"extra_body": {"google": {"thinking_config": {"thinking_budget": 900}}}},
    "openrouter": {"reasoning": {"max_tokens": 900}},
    "": {},
}


@pytest.mark.parametrize("form", THINKING)
async def test_thinking(form: str) -> None:
    """Effort and budget are written as the endpoint reads them; a budget only where there is one."""
    setting: dict[str, Any] = {"thinking_tokens": 900, "reasoning_effort": "low", "max_output": 2_000}
    quirks = {"thinking": form, "tools": "native"}
    async with serving(completion("Hi")) as here, opened(here.url, quirks=quirks, **setting) as model:
        await model.reply(asks(max_output_tokens=5_000))
    body = here.seen[0].body
    fields = {name: value for name, value in body.items() if name not in ("model", "messages")}
    assert fields == {"max_tokens": 2_000, "reasoning_effort": "low", **THINKING[form]}


async def test_tools_are_checked_once() -> None:
    """Twenty first calls at once that use no tool bring one check, and its answer holds for all."""

    def server(seen: Seen) -> bytes:
        if seen.body["messages"][-1]["content"].startswith("Call report_ready"):
            return completion(None, calls=[call("report_ready", '{"ready": true}')])
        return completion("No need.")

    async with serving(server) as here, opened(here.url, quirks={}) as model:
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(model.reply, asks(tools=(SEARCH,)))
        assert (await model.reply(asks(tools=(SEARCH,)))).text == "No need."
    assert len(here.seen) == 22


async def test_cache_marks() -> None:
    """Where an endpoint wants them, the stable prefix ends in a mark; elsewhere there is none."""
    request = Request(messages=(*asks("One", "Two", "Three").messages,), cache_until=3)
    async with serving(completion("Hi")) as here:
        async with opened(here.url, quirks={"cache_marks": True, "tools": "native"}) as model:
            await model.reply(request)
        async with opened(here.url) as model:
            await model.reply(request)
    marked = [isinstance(message["content"], list) for message in here.seen[0].body["messages"]]
    assert marked == [True, False, True, False]
    assert here.seen[0].body["messages"][2]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert all(isinstance(message["content"], str) for message in here.seen[1].body["messages"])


def test_windows_and_their_sources() -> None:
    """Set, said by the endpoint, in the table, or assumed; and which of these is told."""
    openai = Endpoint(name="o", url="https://api.openai.com/v1")
    unknown = Endpoint(name="u", url="http://10.0.0.1/v1")
    gpt = TierSetting(endpoint="o", model="gpt-5")
    other = TierSetting(endpoint="u", model="m")
    assert window_of(openai, gpt, Quirks()).source == "table"
    assert window_of(openai, gpt, Quirks(listed_window=7)).tokens == 7
    assert window_of(unknown, other, Quirks()).source == "assumed"
    assert window_of(unknown, TierSetting(endpoint="u", model="m", window=9), Quirks()).tokens == 9


async def test_windows_are_asked_once() -> None:
    """A window that nobody knows is asked of the endpoint, and remembered."""
    store = InMemory()
    async with simulated(Behaviour(window=5_000, models=("m",))) as far:
        endpoint = Endpoint(name="here", url=far.url)
        for _ in range(2):
            outlook = Outlook(store=store, ask_windows=True)
            async with open_models(
                [endpoint], {"small": TierSetting(endpoint="here", model="m")}, outlook
            ) as tiers:
                assert tiers["small"].window == 5_000
        connections = far.served.connections
    assert connections == 1, "one GET in two openings"


async def test_local_servers_are_offered_by_name() -> None:
    """A server on a usual port is found, with a line that says how to use it; silent ports cost nothing."""
    async with simulated(Behaviour(models=("qwen",))) as here:
        port = int(here.url.rpartition(":")[2].removesuffix("/v1"))
        async with serving(b"") as gone:
            closed = gone.port
        found = await local_servers(ports={"lmstudio": closed, "ollama": port})
    assert [server.kind for server in found] == ["ollama"]
    assert found[0].sentence == (
        f"Ollama is running at http://127.0.0.1:{port}/v1 (qwen); "
        f"use it with --endpoint http://127.0.0.1:{port}/v1 --small qwen"
    )


async def test_probe() -> None:
    """A probe finds out what an endpoint does, and says in a sentence what it does not."""
    async with simulated(Behaviour(window=9_000)) as here:
        found = await probe(here.url)
        assert (found.answers, found.output, found.tools, found.streams) == (True, "schema", "native", True)
        assert (found.model, found.window, found.problems) == ("small", 9_000, ())
        dead = here.url
    lost = await probe(dead, "m")
    assert not lost.answers
    assert "cannot be reached" in lost.problems[0]


def test_remembered_in_a_file(tmp_path: Path) -> None:
    """What is learnt outlives the program; a file that was spoilt is an empty one."""
    path = tmp_path / "deep" / "endpoints.json"
    InFile(path).save("a", "m/1", Quirks(tools="emulated", learnt=("knows no tools",)))
    InFile(path).save("a", "m/2", Quirks(output="json"))
    kept = InFile(path).load("a", "m/1")
    assert kept is not None
    assert kept.tools == "emulated"
    assert InFile(path).load("b", "m/1") is None
    path.write_text("{spoilt")
    assert InFile(path).load("a", "m/1") is None


def test_quirks_set_by_hand() -> None:
    """A wrong name or value is the person's mistake, named."""
    assert by_hand(Quirks(output="json"), {"tools": "emulated"}, "e").output == "json"
    with pytest.raises(ConfigError, match=r"quirks of endpoint e cannot be used: .*toolz"):
        by_hand(Quirks(), {"toolz": "native"}, "e")
    with pytest.raises(ConfigError, match="endpoint e"):
        by_hand(Quirks(), {"tools": "sometimes"}, "e")


async def test_fallback() -> None:
    """The next endpoint answers where the first cannot; the window is the smallest, the price the highest."""
    first = Scripted([ModelUnreachable("down"), ModelThrottled("wait"), "back"], window=500)
    second = Scripted(["two", "three"], window=900)
    model = Fallback([first, second])
    assert model.window == 500
    assert (await model.reply(asks())).text == "two"
    items = [item async for item in model.stream(asks())]
    assert items[0] == Delta("three")
    assert isinstance(items[-1], Reply)
    assert (await model.reply(asks())).text == "back"


async def test_a_refused_key_falls_back_and_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """The endpoint is left out for minutes, then tried again; a refused request is not for anybody else."""
    now = [0.0]

    def refused(status: int) -> ModelRefused:
        return ModelRefused("did not accept the key", endpoint="e", model="m", status=status)

    first = Scripted([refused(401), refused(403), "mended", refused(402), refused(400)])
    model = Fallback([first, Scripted(["a", "b", "c", "d"])], clock=lambda: now[0])
    said = [(await model.reply(asks())).text, (await model.reply(asks())).text]
    assert (said, len(first.requests)) == (["a", "b"], 1)
    now[0] += LEFT_OUT_SECONDS
    assert (await model.reply(asks())).text == "c"
    assert capsys.readouterr().out.count("model.fell_back") == 1
    now[0] += LEFT_OUT_SECONDS
    assert (await model.reply(asks())).text == "mended"
    items = [item async for item in model.stream(asks())]
    assert (items[0], capsys.readouterr().out.count("model.fell_back")) == (Delta("d"), 1)
    now[0] += LEFT_OUT_SECONDS
    with pytest.raises(ModelRefused):
        await model.reply(asks())


def test_a_message_keeps_its_wire() -> None:
    """Encoding a message twice encodes it once."""
    from orchestra.models.compatible.encode import encoded

    message = Message(role="user", text="Hé")
    first = encoded([message], Quirks())
    assert message.wire == first
    assert encoded([message], Quirks()) == '{"role":"user","content":"Hé"}'.encode()
