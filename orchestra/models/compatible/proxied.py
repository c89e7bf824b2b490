"""The transport `direct` where a proxy stands between: through aiohttp."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import aiohttp
from yarl import URL

from orchestra.models.compatible.addresses import base_url
from orchestra.models.compatible.connector import Connector, reused
from orchestra.models.compatible.dropped import dropped, was_closed
from orchestra.models.compatible.targets import REDIRECTS, credentials, joined, moved, moved_to
from orchestra.models.compatible.transport import Answer, Body, Place
from orchestra.models.settings import Endpoint, Network, Times

_READ_BUFFER = 1 << 18
_LAST_BYTES_SECONDS = 0.25


class Proxied:
    """Connections to one endpoint, kept and reused; as many at once as are asked for."""

    def __init__(self, endpoint: Endpoint, network: Network, *, url: str = "") -> None:
        self._base = url or base_url(endpoint.url)
        self._times = endpoint.times
        self._compress_over = endpoint.compress_over
        parts = URL(self._base)
        self._proxy = network.proxy_for(parts.scheme, parts.host or "")
        self._urls: dict[str, URL] = {}
        self._headers = {"Content-Type": "application/json", **credentials(endpoint), **endpoint.headers}
        self._session = _session(endpoint.times, parts.scheme == "https", network)

    async def post(self, place: Place, path: str, body: Body) -> Answer:
        return await self._whole(place, await self._begin("POST", place, path, body()))

    async def open(self, place: Place, path: str, body: Body) -> _Stream:
        response = await self._begin("POST", place, path, body())
        self._limit_silence(response)
        return _Stream(response, place, self._times)

    async def get(self, place: Place, path: str) -> Answer:
        return await self._whole(place, await self._begin("GET", place, path, b""))

    async def close(self) -> None:
        await self._session.close()

    async def _whole(self, place: Place, response: aiohttp.ClientResponse) -> Answer:
        try:
            if not response.content.is_eof():
                self._limit_silence(response)
            return Answer(response.status, response.headers, await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise dropped(place, error, self._times, begun=True) from error
        finally:
            response.close()  # a reply that was read to its end has given its connection back already

    def _limit_silence(self, response: aiohttp.ClientResponse) -> None:
        """From the first byte on, a pause may last no longer than `silence_seconds`."""
        connection = response.connection
        if connection is not None and connection.protocol is not None:
            connection.protocol.read_timeout = self._times.silence_seconds
            connection.protocol.start_timeout()

    async def _begin(self, method: str, place: Place, path: str, body: bytes) -> aiohttp.ClientResponse:
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = joined(self._base, path)
        headers = self._headers
        if self._compress_over is not None and len(body) >= self._compress_over:
            body = gzip.compress(body, compresslevel=1)
            headers = {**headers, "Content-Encoding": "gzip"}
        response = await self._request(method, place, url, body, headers)
        if response.status in REDIRECTS:
            response.close()
            url = moved_to(place, url, response.headers.get("Location", ""), response.status)
            self._urls[path] = url
            response = await self._request(method, place, url, body, headers)
            if response.status in REDIRECTS:
                response.close()
                raise moved(place, URL(response.headers.get("Location", "")), response.status)
        return response

    async def _request(
        self, method: str, place: Place, url: URL, body: bytes, headers: Mapping[str, str]
    ) -> aiohttp.ClientResponse:
        """One exchange; once more where a kept connection turns out to be closed.

        Servers close kept connections when they like (llama.cpp's after every stream), and a request may
        cross that on its way. On a fresh connection a drop is the endpoint's failure and is raised.
        """
        again = True
        while True:
            try:
                return await self._session.request(
                    method, url, data=body or None, headers=headers, proxy=self._proxy, allow_redirects=False
                )
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
                if not (again and reused() and was_closed(error)):
                    raise dropped(place, error, self._times, begun=False) from error
                again = False


class _Stream:
    """A reply that is still coming."""

    def __init__(self, response: aiohttp.ClientResponse, place: Place, times: Times) -> None:
        self._response = response
        self._place = place
        self._times = times
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        read = self._response.content.readany
        try:
            while chunk := await read():
                yield chunk
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise dropped(self._place, error, self._times, begun=True) from error

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    async def finish(self) -> None:
        """Take what is left, so that the connection can serve again; a server that keeps it open loses it."""
        try:
            async with asyncio.timeout(_LAST_BYTES_SECONDS):
                while await self._response.content.readany():
                    pass
        except (aiohttp.ClientError, TimeoutError, OSError):
            self._response.close()

    async def close(self) -> None:
        self._response.close()


def _session(times: Times, secure: bool, network: Network) -> aiohttp.ClientSession:
    """`limit=0`: how many may be in flight is the governor's business, not the pool's."""
    tls: Any = True
    if secure and network.ca_file:
        import ssl

        tls = ssl.create_default_context(cafile=network.ca_file)
    connector = Connector(limit=0, ssl=tls)
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        read_bufsize=_READ_BUFFER,
        timeout=aiohttp.ClientTimeout(
            total=times.total_seconds,
            connect=times.connect_seconds,
            sock_connect=times.connect_seconds,
            sock_read=times.first_byte_seconds,
        ),
    )
