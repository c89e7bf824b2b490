"""A second endpoint for a tier whose first one fails."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec import structs

from orchestra.errors import ModelError, ModelThrottled, ModelUnreachable, Overloaded
from orchestra.log import get_logger
from orchestra.models.port import Model
from orchestra.values.messages import ANEW, Delta, Reply, Request
from orchestra.values.usage import Usage

_NEXT = (ModelUnreachable, ModelThrottled, Overloaded)


class Fallback:
    """Asks the first model; where that cannot be reached, wants a pause or is overfull, the next one.

    It stands outside of retries: a model that fails here has had its tries. The window is the smallest of
    all, so that a prompt fits whoever answers. What a failure was billed for is added to the usage.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise ValueError("a fallback needs at least one model")
        self._models = tuple(models)

    @property
    def name(self) -> str:
        return self._models[0].name

    @property
    def window(self) -> int:
        return min(model.window for model in self._models)

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """The dearest of all, so that a reservation covers whoever answers; unknown if one is."""
        costs = [model.cost(input_tokens, output_tokens) for model in self._models]
        known = [cost for cost in costs if cost is not None]
        return max(known) if len(known) == len(costs) else None

    async def reply(self, request: Request) -> Reply:
        spent: Usage | None = None
        for model in self._models[:-1]:
            try:
                return _billed(await model.reply(request), spent)
            except _NEXT as error:
                spent = _next(model, error, request, spent)
        try:
            return _billed(await self._models[-1].reply(request), spent)
        except ModelError as error:
            error.usage = _sum(spent, error.usage)
            raise

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        spent: Usage | None = None
        for model in self._models[:-1]:
            begun = False
            try:
                async with aclosing(model.stream(request)) as stream:
                    async for item in stream:
                        begun = True
                        yield _billed(item, spent) if isinstance(item, Reply) else item
                return
            except _NEXT as error:
                spent = _next(model, error, request, spent)
            if begun:
                yield ANEW
        try:
            async with aclosing(self._models[-1].stream(request)) as stream:
                async for item in stream:
                    yield _billed(item, spent) if isinstance(item, Reply) else item
        except ModelError as error:
            error.usage = _sum(spent, error.usage)
            raise


def _next(model: Model, error: Exception, request: Request, spent: Usage | None) -> Usage | None:
    """What was spent by now; raises the error where there is no money for another call."""
    usage = error.usage if isinstance(error, ModelError) else None
    if usage is not None and request.afford is not None and not request.afford(0):
        raise error
    get_logger().warning("model.fell_back", model=model.name, reason=str(error))
    return _sum(spent, usage)


def _sum(spent: Usage | None, more: Usage | None) -> Usage | None:
    return more if spent is None else spent if more is None else spent + more


def _billed(reply: Reply, spent: Usage | None) -> Reply:
    return reply if spent is None else structs.replace(reply, usage=reply.usage + spent)
