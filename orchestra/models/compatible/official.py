"""The transport `official`: the openai client's low-level post, for Azure and for credentials of its own.

The client's retries, parsing and waiting are left out; its authentication and addresses are what it is for.
"""

from __future__ import annotations

import gzip
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import aiohttp
import anyio
import httpx2
import openai

from orchestra.errors import ModelError
from orchestra.models.compatible.addresses import base_url
from orchestra.models.compatible.dropped import dropped, was_closed
from orchestra.models.compatible.failures import refused
from orchestra.models.compatible.transport import Answer, Body, Place
from orchestra.models.settings import Endpoint, Network, Times

_LAST_BYTES_SECONDS = 0.25
_FAILURES = (openai.APIConnectionError, httpx2.HTTPError, aiohttp.ClientError, TimeoutError)


class Official:
    """One endpoint through the openai client.

    `client`: one with credentials of its own (an Azure token provider, a workload identity); its owner
    closes it. None: made here from the endpoint's settings, and closed here.
    """

    def __init__(self, endpoint: Endpoint, network: Network, *, client: Any = None) -> None:
        self._times = endpoint.times
        self._compress_over = endpoint.compress_over
        self._deployments = bool(endpoint.api_version)
        self._owned = client is None
        self._answered = False
        self._client = client or _client(endpoint, network)

    async def post(self, place: Place, path: str, body: Body) -> Answer:
        response = await self._send(place, path, body(), stream=False)
        return Answer(response.status_code, response.headers, response.content)

    async def open(self, place: Place, path: str, body: Body) -> _Stream:
        return _Stream(await self._send(place, path, body(), stream=True), place, self._times)

    async def get(self, place: Place, path: str) -> Answer:
        try:
            with anyio.fail_after(self._times.total_seconds):
                response = await self._client.get(path, cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            response = error.response
        except _FAILURES as error:
            raise failure(place, error, self._times) from error
        return Answer(response.status_code, response.headers, response.content)

    async def close(self) -> None:
        if self._owned:
            await self._client.close()

    async def _send(self, place: Place, path: str, body: bytes, *, stream: bool) -> httpx2.Response:
        headers = {"Content-Type": "application/json"}
        if self._compress_over is not None and len(body) >= self._compress_over:
            body = gzip.compress(body, compresslevel=1)
            headers["Content-Encoding"] = "gzip"
        if self._deployments and path.startswith("/"):
            path = f"/deployments/{place.model}{path}"
        response = await self._post(place, path, body, headers, stream=stream)
        if response.is_redirect:
            target = response.headers.get("location", "")
            raise refused(
                place,
                f"answered with a redirect to {target} (status {response.status_code}): "
                f"set the url of endpoint {place.endpoint} to the right address",
                response.status_code,
            )
        return response

    async def _post(
        self, place: Place, path: str, body: bytes, headers: Mapping[str, str], *, stream: bool
    ) -> httpx2.Response:
        again = self._answered  # a drop may then be a kept connection's end
        while True:
            try:
                with anyio.fail_after(self._times.total_seconds):
                    response: httpx2.Response = await self._client.post(
                        path,
                        content=body,
                        cast_to=httpx2.Response,
                        stream=stream,
                        options={"headers": headers, "max_retries": 0},
                    )
                    self._answered = True
                    return response
            except openai.APIStatusError as error:
                return error.response
            except _FAILURES as error:
                if not (again and was_closed(error)):
                    raise failure(place, error, self._times) from error
                again = False


class _Stream:
    """A reply that is still coming."""

    def __init__(self, response: httpx2.Response, place: Place, times: Times) -> None:
        self._response = response
        self._place = place
        self._times = times
        self._pieces = response.aiter_bytes()
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        if self._response.is_stream_consumed:  # an error's body, which the client has read already
            yield self._response.content
            return
        try:
            while True:
                with anyio.fail_after(self._times.silence_seconds):
                    chunk = await anext(self._pieces, None)
                if chunk is None:
                    return
                yield chunk
        except _FAILURES as error:
            raise failure(self._place, error, self._times, begun=True) from error

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    async def finish(self) -> None:
        with anyio.move_on_after(_LAST_BYTES_SECONDS):
            async for _ in self._pieces:
                pass

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._response.aclose()


def _client(endpoint: Endpoint, network: Network) -> openai.AsyncOpenAI:
    """A client over aiohttp that retries nothing and follows no redirect."""
    times = endpoint.times
    parts = httpx2.URL(base_url(endpoint.url))
    wires: Any = openai.DefaultAioHttpClient(
        follow_redirects=False,
        proxy=network.proxy_for(parts.scheme, parts.host),
        verify=network.ca_file or True,
        trust_env=False,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        timeout=httpx2.Timeout(
            connect=times.connect_seconds, read=times.first_byte_seconds, write=None, pool=None
        ),
    )
    common: dict[str, Any] = {
        "http_client": wires,
        "max_retries": 0,
        "default_headers": dict(endpoint.headers),
    }
    key = endpoint.key or "none"
    if endpoint.api_version:
        root = str(parts.copy_with(path="/openai"))
        return openai.AsyncAzureOpenAI(base_url=root, api_key=key, api_version=endpoint.api_version, **common)
    if endpoint.kind == "azure":
        common["default_headers"]["api-key"] = key
    return openai.AsyncOpenAI(base_url=base_url(endpoint.url), api_key=key, **common)


def failure(place: Place, error: BaseException, times: Times, *, begun: bool = False) -> ModelError:
    """The direct transport's sentences, by the aiohttp error below the client's own where there is one.

    (The client's transport calls some dropped connections a connect timeout, so its own names are no help.)
    """
    link: BaseException | None = error
    seen = []
    while link is not None and link not in seen:
        if isinstance(link, aiohttp.ClientError):
            return dropped(place, link, times, begun=begun)
        seen.append(link)
        link = link.__cause__ or link.__context__
    if begun and isinstance(error, TimeoutError):
        error = aiohttp.SocketTimeoutError()
    return dropped(place, error, times, begun=begun)
