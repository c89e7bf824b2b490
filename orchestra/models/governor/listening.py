"""A transport that also hears what the endpoint says of its limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestra.models.compatible.transport import Answer, Body, ByteStream, Place, Transport
from orchestra.models.governor.said import Said, family_of, of_headers, of_words

_SILENT_REPLIES = 20
"""An endpoint that has said nothing of limits in so many replies is not looked at again until a 429."""


class Listening:
    """The same transport; `tell` is called with every word about limits."""

    def __init__(self, transport: Transport, tell: Callable[[Said], None]) -> None:
        self._transport = transport
        self._tell = tell
        self._family: int | None = None
        self._silent = 0

    async def post(self, place: Place, path: str, body: Body) -> Answer:
        answer = await self._transport.post(place, path, body)
        if answer.status == 429:
            said = of_words(answer.body.decode("utf-8", "replace"))
            if said is not None:
                self._tell(said)
        if self._silent < _SILENT_REPLIES:
            self._headers(answer.headers)
        return answer

    async def open(self, place: Place, path: str, body: Body) -> ByteStream:
        stream = await self._transport.open(place, path, body)
        if self._silent < _SILENT_REPLIES:
            self._headers(stream.headers)
        return stream

    async def get(self, place: Place, path: str) -> Answer:
        return await self._transport.get(place, path)

    async def close(self) -> None:
        await self._transport.close()

    def _headers(self, headers: Mapping[str, str]) -> None:
        if self._family is None:
            self._family = family_of(headers)
            if self._family is None:
                self._silent += 1
                return
        said = of_headers(headers, self._family)
        if said.requests is not None or said.tokens is not None:
            self._tell(said)
