"""The port that every model stands behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from operator import attrgetter
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

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """The same answer as it comes; the last item, and only that, is the Reply.

        After a Delta that says `anew` the answer begins again. Who stops before the end closes it (aclosing).
        """
        ...


inner_window = property(attrgetter("_model.window"))
"""The window of a wrapper round `_model`, read through any number of them without a call of Python."""


async def whole_as_stream(model: Model, request: Request) -> AsyncGenerator[Delta | Reply, None]:
    """The streaming twin for a model that has its answer all at once."""
    reply = await model.reply(request)
    for part in parts_of(reply):
        yield part
    yield reply


def parts_of(reply: Reply) -> Iterator[Delta]:
    """A reply that is there, as deltas of whole parts."""
    if reply.reasoning:
        yield Delta(reasoning=reply.reasoning)
    if reply.text:
        yield Delta(text=reply.text)
    for call in reply.calls:
        yield Delta(call=call)
