"""The port that every model stands behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from orchestra.values.messages import Delta, Reply, Request


class Model(Protocol):
    """One model at one endpoint, shared by all sessions and without state of any of them.

    `name` is what prompts, journal and reports call it; `window` is its context window in tokens.
    """

    @property
    def name(self) -> str: ...

    @property
    def window(self) -> int: ...

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """What a call of this size costs in US dollars, None where the price is unknown."""
        ...

    async def reply(self, request: Request) -> Reply:
        """The whole answer. Raises ModelError; cancellation closes the connection."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """The same answer as it comes; the last item, and only that, is the Reply."""
        ...


async def whole_as_stream(model: Model, request: Request) -> AsyncIterator[Delta | Reply]:
    """The streaming twin for a model that has its answer all at once."""
    reply = await model.reply(request)
    if reply.reasoning:
        yield Delta(reasoning=reply.reasoning)
    if reply.text:
        yield Delta(text=reply.text)
    for call in reply.calls:
        yield Delta(call=call)
    yield reply
