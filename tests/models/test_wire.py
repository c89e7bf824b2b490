"""Connections of our own: HTTP/1.1 as servers speak it, TLS, and what is kept."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from orchestra.errors import ModelError, ModelRefused, ModelUnreachable
from orchestra.models.compatible.direct import Direct
from orchestra.models.compatible.pool import Pool
from orchestra.models.compatible.transport import Place
from orchestra.models.settings import Endpoint, Network, Times
from tests.models.loopback import DROP, HEAD, Server, completion, http, piece, serving

pytestmark = pytest.mark.anyio

PLACE = Place("here", "m", "sk-secret-key")
# Made for 127.0.0.1 and localhost with `openssl req -x509`, good until 2126; signs nothing but this test.
CERTIFICATE = Path(__file__).parent / "localhost.pem"


@asynccontextmanager
async def direct(url: str, *, ca_file: str | None = None, **endpoint: Any) -> AsyncIterator[Direct]:
    transport = Direct(Endpoint(name="here", url=url, **endpoint), Network(ca_file=ca_file))
    try:
        yield transport
    finally:
        await transport.close()


async def gone(server: Server) -> None:
    with anyio.fail_after(2):
        while server.open:
            await anyio.lowlevel.checkpoint()


def single(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


SHAPES: list[tuple[str, Any, int]] = [
    ("byte by byte", single(http(200, b"Hello")), 1),
    ("after a word that it takes the request", b"HTTP/1.1 100 Continue\r\n\r\n" + http(200, b"Hello"), 1),
    ("after a hint, in two pieces", [b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n", http(200, b"Hello")], 1),
    ("in chunks", [HEAD, piece(b"Hel"), piece(b"lo"), b"0\r\n\r\n"], 1),
    ("in chunks, with a trailer", [HEAD, piece(b"Hello"), b"0\r\nx-sum: 1\r\n\r\n"], 1),
    ("with line feeds alone", b"HTTP/1.1 200 OK\ncontent-length: 5\n\nHello", 1),
    ("until it hangs up", [b"HTTP/1.1 200 OK\r\n\r\nHel", b"lo", DROP], 2),
    ("and says that it hangs up", [http(200, b"Hello", connection="close"), DROP], 2),
    ("of 1.0", [b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nHello", DROP], 2),
    ("followed by words that nobody asked for", http(200, b"Hello") + http(408, b"Too slow"), 2),
    ("packed", http(200, gzip.compress(b"Hello"), content_encoding="gzip"), 1),
    ("packed the other way", http(200, zlib.compress(b"Hello"), content_encoding="deflate"), 1),
    ("that says it is not packed", http(200, b"Hello", content_encoding="identity"), 1),
]


@pytest.mark.parametrize(("name", "script", "connections"), SHAPES, ids=[row[0] for row in SHAPES])
async def test_shapes(name: str, script: Any, connections: int) -> None:
    """A reply is the same in whichever way it is sent; its connection serves again where it may."""
    async with serving(script) as here, direct(here.url) as transport:
        for _ in range(2):
            answer = await transport.post(PLACE, "/x", lambda: b"{}")
            assert (answer.status, answer.body) == (200, b"Hello")
            if connections > 1:
                await gone(here)
        assert here.connections == connections
    await gone(here)


@pytest.mark.parametrize(("name", "script", "connections"), SHAPES, ids=[row[0] for row in SHAPES])
async def test_shapes_of_streams(name: str, script: Any, connections: int) -> None:
    """The same, taken piece by piece."""
    async with serving(script) as here, direct(here.url) as transport:
        stream = await transport.open(PLACE, "/x", lambda: b"{}")
        assert b"".join([chunk async for chunk in stream.chunks()]) == b"Hello"
        await stream.finish()
        await stream.close()
    await gone(here)


async def test_a_stream_that_nobody_reads_waits() -> None:
    """What comes faster than it is read is held back, and none of it is lost."""
    pieces = [piece(b"%07d|" % number * 8_192) for number in range(256)]  # 16 MB
    async with serving([HEAD, *pieces, b"0\r\n\r\n"]) as here, direct(here.url) as transport:
        stream = await transport.open(PLACE, "/x", lambda: b"{}")
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        chunks = [chunk async for chunk in stream.chunks()]
        assert b"".join(chunks) == b"".join(b"%07d|" % number * 8_192 for number in range(256))
        await stream.close()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (http(200, b"abc", content_encoding="br"), "compresses its replies as 'br'"),
        (http(200, b"not packed", content_encoding="gzip"), "compression is damaged"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n", "does not speak HTTP"),
        ([HEAD, b"zz\r\n"], "dropped the connection inside its reply"),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "speak HTTP"),
    ],
)
async def test_broken(script: Any, words: str) -> None:
    """What cannot be understood is one sentence, and closes its connection where it has to."""
    async with serving(script) as here, direct(here.url) as transport:
        with pytest.raises(ModelUnreachable, match=words), anyio.fail_after(2):
            await transport.post(PLACE, "/x", lambda: b"{}")
    await gone(here)


async def test_headers() -> None:
    """The key, what is set by hand in place of ours, and nothing that would end a line."""
    async with serving(http(200, b"")) as here:
        async with direct(here.url, key="k" * 9, headers={"user-agent": "mine", "X-Team": "ä"}) as transport:
            await transport.post(PLACE, "/x", lambda: b"{}")
            await transport.get(PLACE, "/models")
        async with direct(here.url.replace("127", "me:word@127")) as transport:
            await transport.post(PLACE, "/x?a=1", lambda: b"{}")
        async with direct(here.url, headers={"X": "a\r\nY: b"}) as transport:
            with pytest.raises(ModelRefused, match="has a header 'X' that cannot be sent"):
                await transport.post(PLACE, "/x", lambda: b"{}")
    posted, got, named = here.seen
    assert (posted.headers["user-agent"], posted.headers["authorization"]) == ("mine", "Bearer " + "k" * 9)
    assert posted.headers["host"] == f"127.0.0.1:{here.port}"
    assert (got.method, got.path, got.raw) == ("GET", "/v1/models", b"")
    assert named.headers["authorization"] == "Basic bWU6d29yZA=="


async def test_tls() -> None:
    """A certificate that is trusted serves; another is refused in a sentence that says what to set."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    here = Server([completion("Hi.")])
    listener = await asyncio.start_server(here.handle, "127.0.0.1", 0, ssl=context)
    async with listener:
        url = f"https://localhost:{listener.sockets[0].getsockname()[1]}"
        async with direct(url, ca_file=str(CERTIFICATE)) as transport:
            for _ in range(2):
                assert (await transport.post(PLACE, "/x", lambda: b"{}")).status == 200
            assert here.connections == 1
        async with direct(url) as transport:
            with pytest.raises(ModelRefused, match=r"certificate that is not trusted .*SSL_CERT_FILE"):
                await transport.post(PLACE, "/x", lambda: b"{}")
        await gone(here)


async def test_no_such_host() -> None:
    """A name that nobody knows is told with the host."""
    async with direct("http://nobody.invalid") as transport:
        with pytest.raises(ModelError, match=r"cannot be reached \(nobody.invalid port 80"):
            await transport.post(PLACE, "/x", lambda: b"{}")


async def test_idle_connections_are_closed() -> None:
    """A connection that nobody wanted for so long is closed."""
    async with serving(http(200, b"Hello")) as here:
        from yarl import URL

        pool = Pool(URL(here.url), Times(), None, idle_seconds=0.02)
        wire = await pool.connect(PLACE)
        wire.send(b"GET / HTTP/1.1\r\n\r\n")
        await wire.rest()
        pool.give_back(wire)
        with anyio.fail_after(2):
            await here.closed.wait()
        assert pool.take() is None
        await pool.close()


async def test_many_at_once() -> None:
    """A hundred calls at once need a hundred connections, which the next hundred use again."""
    async with serving(http(200, b"Hello")) as here, direct(here.url) as transport:

        async def ask() -> None:
            assert (await transport.post(PLACE, "/x", lambda: b"{}")).body == b"Hello"

        for _ in range(2):
            async with anyio.create_task_group() as group:
                for _ in range(100):
                    group.start_soon(ask)
        assert here.connections <= 100
    await gone(here)
