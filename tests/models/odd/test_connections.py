"""Connections that break, hang, drip, and ways to the endpoint; both transports alike."""

from __future__ import annotations

import gzip
from typing import Any

import anyio
import pytest

from orchestra.errors import ModelRefused, ModelThrottled, ModelUnreachable
from orchestra.models.opening import Outlook, open_models
from orchestra.models.settings import Endpoint, Network, TierSetting, Times
from orchestra.values.messages import Reply
from tests.models.loopback import DROP, HANG, completion, error, event, http, serving, sse
from tests.models.opened import asks, opened

pytestmark = pytest.mark.anyio

BOTH = pytest.mark.parametrize("transport", ["direct", "official"])
SHORT = Times(connect_seconds=0.3, first_byte_seconds=0.15, silence_seconds=0.1, total_seconds=0.5)
WHOLE = completion("Hello, this is a reply of some length.")
BROKEN: list[tuple[str, Any, str]] = [
    ("drops before the reply", [DROP], "dropped the connection before its reply"),
    ("drops in the head", [WHOLE[:30], DROP], "dropped the connection before its reply"),
    ("drops in the body", [WHOLE[:-20], DROP], "dropped the connection inside its reply"),
    ("never answers", [HANG], "sent no first byte within 0.15 s"),
    ("falls silent", [WHOLE[:-20], HANG], "fell silent for 0.1 s inside its reply"),
    (
        "drips",
        [
            WHOLE[:-60],
            *(part for at in range(60, 0, -1) for part in (0.05, WHOLE[-at : len(WHOLE) - at + 1])),
        ],
        "was not done within 0.5 s",
    ),
    ("not HTTP", [b"SSH-2.0-OpenSSH_9.6\r\n", DROP], "dropped the connection"),
]


@BOTH
@pytest.mark.parametrize(("name", "script", "words"), BROKEN, ids=[row[0] for row in BROKEN])
async def test_broken(name: str, script: Any, words: str, transport: str) -> None:
    """Each way to break is one sentence that says which; no wait is longer than its limit."""
    if transport == "official" and name == "falls silent":
        words = "fell silent|sent no first byte within 0.15 s"  # its client has one limit for both
    async with serving(script) as here, opened(here.url, times=SHORT, transport=transport) as model:
        with pytest.raises(ModelUnreachable, match=words), anyio.fail_after(3):
            await model.reply(asks())


@BOTH
async def test_broken_streams(transport: str) -> None:
    """A stream may not be silent for longer than its limit, comments or not."""
    head = sse(event({"content": "Hi"}))[:2]
    async with (
        serving([*head, HANG]) as here,
        opened(here.url, times=SHORT, transport=transport) as model,
    ):
        with (
            pytest.raises(ModelUnreachable, match=r"fell silent for 0\.1 s inside its reply"),
            anyio.fail_after(3),
        ):
            async for _ in model.stream(asks()):
                pass


@BOTH
async def test_drops_after_the_reply(transport: str) -> None:
    """A server that hangs up after each reply costs a connection a call and nothing else."""
    async with serving([WHOLE, DROP]) as here, opened(here.url, transport=transport) as model:
        for _ in range(3):
            assert (await model.reply(asks())).text.startswith("Hello")
            with anyio.fail_after(2):
                while here.open:
                    await anyio.lowlevel.checkpoint()


@BOTH
async def test_a_kept_connection_may_be_closed_meanwhile(transport: str) -> None:
    """A drop on a connection that served before is met with one more try; on a fresh one it is raised."""
    async with (
        serving(WHOLE, [DROP], WHOLE, [DROP], [DROP]) as here,
        opened(here.url, transport=transport) as model,
    ):
        for _ in range(2):
            assert (await model.reply(asks())).text.startswith("Hello")
        with pytest.raises(ModelUnreachable, match="dropped the connection before its reply"):
            await model.reply(asks())
    assert len(here.seen) == 5


@BOTH
async def test_both_transports_say_the_same(transport: str) -> None:
    """Text, stream, errors and their fields are alike through either transport."""
    script = (
        completion("Hi."),
        sse(event({"content": "Hi."}, finish="stop")),
        error(429, "Slow", retry_after="3"),
        error(401, "Bad key sk-secret-key"),
        http(503, b"<h1>Busy</h1>", "text/html"),
        http(307, b"", Location="https://example.invalid/v1"),
    )
    async with serving(*script) as here, opened(here.url, transport=transport) as model:
        assert (await model.reply(asks())).text == "Hi."
        *_, last = [item async for item in model.stream(asks())]
        assert isinstance(last, Reply)
        assert last.text == "Hi."
        with pytest.raises(ModelThrottled) as throttled:
            await model.reply(asks())
        assert throttled.value.retry_after == 3
        with pytest.raises(ModelRefused, match=r"status 401\) did not accept the key: Bad key \*\*\*"):
            await model.reply(asks())
        with pytest.raises(ModelUnreachable, match="could not answer: Busy"):
            await model.reply(asks())
        with pytest.raises(ModelRefused, match=r"redirect to https://example\.invalid/v1"):
            await model.reply(asks())
    bodies = [seen.body for seen in here.seen]
    assert bodies[0] == {**bodies[2]}
    assert {seen.headers["authorization"] for seen in here.seen} == {"Bearer sk-secret-key"}


@BOTH
async def test_connections_are_used_again(transport: str) -> None:
    """Twenty calls in a row need one connection; at the end none is left open."""
    async with serving(WHOLE) as here, opened(here.url, transport=transport) as model:
        for _ in range(20):
            await model.reply(asks())
        assert here.connections == 1
    with anyio.fail_after(2):
        while here.open:
            await anyio.lowlevel.checkpoint()


@BOTH
async def test_bodies_are_compressed_both_ways(transport: str) -> None:
    """A gzipped reply is read, and a long request goes out gzipped where that is asked for."""
    packed = gzip.compress(WHOLE.split(b"\r\n\r\n", 1)[1])
    script = http(200, packed, Content_Encoding="gzip")
    async with serving(script) as here, opened(here.url, transport=transport, compress_over=100) as model:
        assert (await model.reply(asks("x" * 500))).text.startswith("Hello")
    (seen,) = here.seen
    assert seen.headers["content-encoding"] == "gzip"
    assert b"xxxx" in gzip.decompress(seen.raw)
    assert "gzip" in seen.headers["accept-encoding"]


@BOTH
async def test_ipv6(transport: str) -> None:
    """An address of six-byte groups in brackets is an address like any other."""
    async with (
        serving(WHOLE, host="::1") as here,
        opened(f"http://[::1]:{here.port}", transport=transport) as model,
    ):
        assert (await model.reply(asks())).text.startswith("Hello")


@BOTH
async def test_proxy(transport: str) -> None:
    """A proxy from the environment is used, except for the hosts that are exempt and for this machine."""
    async with serving(WHOLE) as proxy:
        network = Network.from_environment(
            {"HTTP_PROXY": f"http://127.0.0.1:{proxy.port}", "NO_PROXY": "internal.example, .local"}
        )
        endpoint = Endpoint(name="far", url="http://models.example", key="k" * 9, transport=transport)  # type: ignore[arg-type]
        tier = TierSetting(endpoint="far", model="m")
        async with open_models([endpoint], {"small": tier}, Outlook(network=network)) as tiers:
            assert (await tiers["small"].reply(asks())).text.startswith("Hello")
    assert proxy.seen[0].path == "http://models.example/v1/chat/completions"
    assert network.proxy_for("http", "a.internal.example") is None
    assert network.proxy_for("http", "127.0.0.1") is None


async def test_cancelling_a_reply_closes_its_connection() -> None:
    """A call that is cancelled while it waits leaves nothing open."""
    async with serving([HANG]) as here, opened(here.url) as model:
        with anyio.move_on_after(0.05):
            await model.reply(asks())
        with anyio.fail_after(2):
            await here.closed.wait()


async def test_azure_by_deployment() -> None:
    """With an api_version the official client speaks Azure's older addresses and sends Azure's header."""
    async with serving(WHOLE) as here:
        endpoint = Endpoint(
            name="az",
            url=f"http://127.0.0.1:{here.port}",
            key="azure-key",
            kind="azure",
            transport="official",
            api_version="2024-10-21",
        )
        async with open_models([endpoint], {"small": TierSetting(endpoint="az", model="dep")}) as tiers:
            await tiers["small"].reply(asks())
    assert here.seen[0].path == "/openai/deployments/dep/chat/completions?api-version=2024-10-21"
    assert here.seen[0].headers["api-key"] == "azure-key"
