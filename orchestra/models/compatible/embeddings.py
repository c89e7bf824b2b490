"""An endpoint's embedding model: POST /embeddings, a batch of texts a time, under the endpoint's governor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec import Struct

from orchestra.context.recall.dense import Vector
from orchestra.errors import ModelError, ModelThrottled, ModelUnreachable
from orchestra.models.compatible.failures import of_answer, refused
from orchestra.models.compatible.transport import Place, Transport
from orchestra.models.governor.governor import Governor
from orchestra.models.governor.listening import Ear
from orchestra.models.governor.permit import Permit

LONGEST_CHARACTERS = 6_000
"""Of one text; embedding models take 512 to 8,192 tokens, and more would only blur."""
_LONGEST_WAIT_SECONDS = 5.0
_CHARACTERS_A_TOKEN = 3
_WHO = "embedding"
"""Whose turn it is in the governor's queue: all sessions' vectors are asked for together."""


class _Row(Struct, frozen=True):
    embedding: list[float]
    index: int | None = None


class _Usage(Struct, frozen=True):
    total_tokens: int = 0


class _Made(Struct, frozen=True):
    data: list[_Row]
    usage: _Usage | None = None


class EndpointEmbeddings:
    """Vectors from an OpenAI-compatible endpoint. `name` is `endpoint/model`, as it is configured."""

    def __init__(self, place: Place, transport: Transport, governor: Governor) -> None:
        self.name = f"{place.endpoint}/{place.model}"
        self._place = place
        self._transport = transport
        self._governor = governor
        self._ear = Ear(governor.heard)

    async def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in order. Raises ModelError."""
        shown = [text[:LONGEST_CHARACTERS] or " " for text in texts]
        tokens = sum(map(len, shown)) // _CHARACTERS_A_TOKEN + 1
        governor = self._governor
        permit = governor.enter_now(tokens) or await governor.enter(_WHO, tokens, _LONGEST_WAIT_SECONDS)
        try:
            made = await self._ask(shown)
        except BaseException as error:
            self._ended(permit, error)
            raise
        governor.answered(permit, calls=1, tokens=made.usage.total_tokens if made.usage else 0)
        rows = sorted(
            enumerate(made.data), key=lambda pair: pair[0] if pair[1].index is None else pair[1].index
        )
        return [row.embedding for _, row in rows]

    async def _ask(self, texts: list[str]) -> _Made:
        place = self._place
        body = {"model": place.model, "input": texts, "encoding_format": "float"}
        answer = await self._transport.post(place, "/embeddings", partial(msgspec.json.encode, body))
        if self._ear.open:
            self._ear.headers(answer.headers)
        if answer.status != 200:
            self._ear.refusal(answer.status, answer.body)
            raise of_answer(place, answer)
        try:
            made = msgspec.json.decode(answer.body, type=_Made)
        except msgspec.DecodeError as error:
            raise refused(place, f"gave no embeddings that can be read: {error}") from error
        sizes = {len(row.embedding) for row in made.data}
        if len(made.data) != len(texts) or len(sizes) != 1 or not min(sizes):
            told = f"gave {len(made.data)} vectors of {sorted(sizes)} numbers for {len(texts)} texts"
            raise refused(place, told)
        return made

    def _ended(self, permit: Permit, error: BaseException) -> None:
        if isinstance(error, ModelThrottled):
            self._governor.throttled(permit, error.retry_after, calls=1, tokens=0)
        elif isinstance(error, ModelUnreachable):
            self._governor.failed(permit, error.retry_after)
        elif isinstance(error, ModelError):
            self._governor.answered(permit, calls=1, tokens=0)
        else:
            self._governor.left(permit)
