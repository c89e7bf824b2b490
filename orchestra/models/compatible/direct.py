"""The transport `direct`: connections of our own, with everything that does not change made once.

Where a proxy stands between, `proxied` goes instead.
"""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

import anyio
from msgspec import Struct
from yarl import URL

from orchestra.errors import ModelUnreachable
from orchestra.models.compatible.addresses import base_url
from orchestra.models.compatible.failures import refused, unreachable
from orchestra.models.compatible.pool import Pool
from orchestra.models.compatible.targets import REDIRECTS, credentials, joined, moved, moved_to
from orchestra.models.compatible.transport import Answer, Body, Fields, Place
from orchestra.models.compatible.wire import Lost, Wire
from orchestra.models.settings import Endpoint, Network

_LAST_BYTES_SECONDS = 0.25
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_OUR_HEADERS = {
    "Accept": "*/*",
    "Accept-Encoding": "gzip, deflate",
    "Content-Type": "application/json",
    "User-Agent": "orchestra",
}
_POST = b"%bContent-Length: %d\r\n\r\n%b"
_POST_GZIP = b"%bContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b"
Wait = Callable[[Wire], Awaitable[None]]


class _Target(Struct, frozen=True):
    """One address; `posts` and `gets` are what every request to it begins with, header fields and all."""

    url: URL
    pool: Pool
    posts: bytes
    gets: bytes


class Direct:
    """Connections to one endpoint, kept and reused; as many at once as are asked for."""

    def __init__(self, endpoint: Endpoint, network: Network, *, url: str = "") -> None:
        self._base = url or base_url(endpoint.url)
        self._times = endpoint.times
        self._ca_file = network.ca_file
        self._compress_over = endpoint.compress_over
        self._headers = {**credentials(endpoint), **endpoint.headers}
        self._targets: dict[str, _Target] = {}
        self._pools: dict[tuple[str, str | None, int | None], Pool] = {}

    async def post(self, place: Place, path: str, body: Body) -> Answer:
        target = self._targets.get(path)
        if target is None or (wire := target.pool.take()) is None:
            return _answered(place, *await self._asked(place, path, body, Wire.rest))
        # The usual way, as `_exchange` goes it, without its layers: a kept connection, and one future.
        try:
            got = await wire.ask(self._request(target, body))
        except Lost as lost:
            if not lost.stale:
                raise unreachable(place, lost.what) from lost
            return _answered(place, *await self._asked(place, path, body, Wire.rest))
        except BaseException:
            wire.close()
            raise
        if wire.status in REDIRECTS:
            return _answered(place, *await self._follow(wire, target, (place, path, body, Wire.rest)))
        return _answer(place, target.pool, wire, got)

    async def open(self, place: Place, path: str, body: Body) -> _Stream:
        pool, wire = await self._asked(place, path, body, Wire.head)
        return _Stream(place, pool, wire)

    async def get(self, place: Place, path: str) -> Answer:
        pool, wire = await self._asked(place, path, None, Wire.rest)
        return _answered(place, pool, wire)

    async def close(self) -> None:
        for pool in self._pools.values():
            await pool.close()

    async def _asked(self, place: Place, path: str, body: Body | None, wait: Wait) -> tuple[Pool, Wire]:
        """A connection on which the reply has come, as far as `wait` waits; after a redirect, if need be."""
        target = self._targets.get(path) or self._aim(place, path, joined(self._base, path))
        wire = await self._exchange(target, place, body, wait)
        if wire.status not in REDIRECTS:
            return target.pool, wire
        return await self._follow(wire, target, (place, path, body, wait))

    async def _follow(
        self, wire: Wire, target: _Target, asked: tuple[Place, str, Body | None, Wait]
    ) -> tuple[Pool, Wire]:
        """Where a redirect points to, from now on."""
        place, path, body, wait = asked
        wire.close()
        here = moved_to(place, target.url, wire.headers.get("location", ""), wire.status)
        target = self._aim(place, path, here)
        wire = await self._exchange(target, place, body, wait)
        if wire.status not in REDIRECTS:
            return target.pool, wire
        wire.close()
        raise moved(place, URL(wire.headers.get("location", "")), wire.status)

    async def _exchange(self, target: _Target, place: Place, body: Body | None, wait: Wait) -> Wire:
        """One exchange; once more, on a fresh connection, where a kept one turns out to be closed.

        Servers close kept connections when they like (llama.cpp's after every stream), and a request may
        cross that on its way. On a fresh connection a drop is the endpoint's failure and is raised.
        """
        wire = target.pool.take()
        while True:
            kept = wire is not None
            if wire is None:
                wire = await target.pool.connect(place)
            try:
                wire.send(self._request(target, body))
                await wait(wire)
            except Lost as lost:
                if not (kept and lost.stale):
                    raise unreachable(place, lost.what) from lost
                wire = None
            except BaseException:
                wire.close()
                raise
            else:
                return wire

    def _request(self, target: _Target, make: Body | None) -> bytes:
        """Head and body; a write of two pieces would cost more than one more copy."""
        if make is None:
            return target.gets
        body, over = make(), self._compress_over
        if over is not None and len(body) >= over:
            body = gzip.compress(body, compresslevel=1)
            return _POST_GZIP % (target.posts, len(body), body)
        return _POST % (target.posts, len(body), body)

    def _aim(self, place: Place, path: str, url: URL) -> _Target:
        """Send what is asked of this path here from now on. Raises ModelRefused for a header or a URL."""
        origin = (url.scheme, url.raw_host, url.port)
        pool = self._pools.get(origin)
        if pool is None:
            pool = self._pools[origin] = Pool(url, self._times, self._ca_file)
        rest = f" {url.raw_path_qs} HTTP/1.1\r\n".encode() + _fields(place, url, self._headers)
        target = self._targets[path] = _Target(url, pool, b"POST" + rest, b"GET" + rest + b"\r\n")
        return target


class _Stream:
    """A reply that is still coming."""

    def __init__(self, place: Place, pool: Pool, wire: Wire) -> None:
        self._place = place
        self._pool = pool
        self._wire = wire
        self.status = wire.status
        self.headers: Mapping[str, str] = wire.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        wire, unpacker = self._wire, _unpacker(self._place, self.headers)
        try:
            while chunk := wire.take() or await wire.more():
                yield chunk if unpacker is None else _unpacked(self._place, unpacker, chunk)
        except Lost as lost:
            raise unreachable(self._place, lost.what) from lost

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    async def finish(self) -> None:
        """Take what is left, so that the connection can serve again; a server that keeps it open loses it."""
        if self._wire.whole:
            return
        with anyio.move_on_after(_LAST_BYTES_SECONDS):
            try:
                await self._wire.rest()
            except Lost:
                return

    async def close(self) -> None:
        self._pool.give_back(self._wire)


def _answered(place: Place, pool: Pool, wire: Wire) -> Answer:
    return _answer(place, pool, wire, wire.take())


def _answer(place: Place, pool: Pool, wire: Wire, body: bytes) -> Answer:
    status, headers = wire.status, Fields(wire.fields.copy())
    pool.give_back(wire)
    if body[:1] != b"{":  # nothing compressed begins so
        unpacker = _unpacker(place, headers)
        if unpacker is not None:
            body = _unpacked(place, unpacker, body)
    return Answer(status, headers, body)


def _unpacker(place: Place, headers: Mapping[str, str]) -> Any:
    """What undoes the body's compression, None where there is none. Raises ModelUnreachable."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding in {"identity", ""}:
        return None
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise unreachable(place, f"compresses its replies as {encoding!r}, which it was not asked for")
    return zlib.decompressobj(_GZIP_OR_ZLIB)


def _unpacked(place: Place, unpacker: Any, data: bytes) -> bytes:
    try:
        unpacked: bytes = unpacker.decompress(data)
    except zlib.error as error:
        raise _damaged(place, error) from error
    return unpacked


def _damaged(place: Place, error: Exception) -> ModelUnreachable:
    return unreachable(place, f"sent a reply whose compression is damaged ({error})")


def _fields(place: Place, url: URL, given: Mapping[str, str]) -> bytes:
    """The header fields of every request to an address; what is given by hand goes before ours."""
    host = url.host_port_subcomponent or ""
    ours = {"Host": host, **_OUR_HEADERS}
    if url.user is not None:
        secret = base64.b64encode(f"{url.user}:{url.password or ''}".encode()).decode()
        ours["Authorization"] = f"Basic {secret}"
    named = {name.lower() for name in given}
    fields = {**{name: value for name, value in ours.items() if name.lower() not in named}, **given}
    for name, value in fields.items():
        if not name or set(f"{name}{value}") & {"\r", "\n", "\0"} or set(name) & {":", " "}:
            raise refused(place, f"has a header {name!r} that cannot be sent: mend it in its settings")
    return "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
