"""A second endpoint for a tier whose first one fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from orchestra.errors import ModelThrottled, ModelUnreachable
from orchestra.log import get_logger
from orchestra.models.port import Model
from orchestra.values.messages import Delta, Reply, Request


class Fallback:
    """Asks the first model; where that cannot be reached or wants a pause, the next one.

    It stands outside of retries: a model that fails here has had its tries. The window is the smallest of
    all, so that a prompt fits whoever answers. A stream falls back only before its first piece.
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
        for model in self._models[:-1]:
            try:
                return await model.reply(request)
            except (ModelUnreachable, ModelThrottled) as error:
                _note(model, error)
        return await self._models[-1].reply(request)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        for model in self._models[:-1]:
            begun = False
            try:
                async for item in model.stream(request):
                    begun = True
                    yield item
                return
            except (ModelUnreachable, ModelThrottled) as error:
                if begun:
                    raise
                _note(model, error)
        async for item in self._models[-1].stream(request):
            yield item


def _note(model: Model, error: Exception) -> None:
    get_logger().warning("model.fell_back", model=model.name, reason=str(error))
