"""A second endpoint for a tier whose first one fails."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing

from msgspec import structs

from orchestra.errors import ModelError, ModelRefused, ModelThrottled, ModelUnreachable, Overloaded
from orchestra.log import get_logger
from orchestra.models.port import Model
from orchestra.values.messages import ANEW, Delta, Reply, Request
from orchestra.values.usage import Usage

_PASSING = (ModelUnreachable, ModelThrottled, Overloaded)
_ACCOUNT = frozenset((401, 402, 403, 429))
"""A refusal with one of these is of the key or the account, not of the request (a 429 that is refused: the
quota is used up)."""
LEFT_OUT_SECONDS = 300.0
"""A person needs minutes to mend a key or to pay; until then nobody waits for the same refusal."""


class Fallback:
    """Asks the first model; where that cannot be reached, wants a pause or is overfull, the next one.

    It stands outside of retries: a model that fails here has had its tries. The window is the smallest of
    all, so that a prompt fits whoever answers. What a failure was billed for is added to the usage.
    A model whose endpoint refuses the key or the account is left out for a while, and that is told once.
    """

    def __init__(self, models: Sequence[Model], clock: Callable[[], float] = time.monotonic) -> None:
        if not models:
            raise ValueError("a fallback needs at least one model")
        self._models = tuple(models)
        self._clock = clock
        self._left_out: dict[int, float] = {}  # until when, by place

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
        for place in self._in_turn():
            try:
                reply = await self._models[place].reply(request)
            except (*_PASSING, ModelRefused) as error:
                spent = self._next(place, error, request, spent)
            else:
                self._left_out.pop(place, None)
                return _billed(reply, spent)
        try:
            return _billed(await self._models[-1].reply(request), spent)
        except ModelError as error:
            error.usage = _sum(spent, error.usage)
            raise

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        spent: Usage | None = None
        for place in self._in_turn():
            begun = False
            try:
                async with aclosing(self._models[place].stream(request)) as stream:
                    async for item in stream:
                        begun = True
                        yield _billed(item, spent) if isinstance(item, Reply) else item
                self._left_out.pop(place, None)
                return
            except (*_PASSING, ModelRefused) as error:
                spent = self._next(place, error, request, spent)
            if begun:
                yield ANEW
        try:
            async with aclosing(self._models[-1].stream(request)) as stream:
                async for item in stream:
                    yield _billed(item, spent) if isinstance(item, Reply) else item
        except ModelError as error:
            error.usage = _sum(spent, error.usage)
            raise

    def _in_turn(self) -> Iterator[int]:
        """The models to ask before the last one."""
        now = self._clock() if self._left_out else 0.0
        return (place for place in range(len(self._models) - 1) if self._left_out.get(place, now) <= now)

    def _next(
        self, place: int, error: ModelError | Overloaded, request: Request, spent: Usage | None
    ) -> Usage | None:
        """What was spent by now; raises the error where there is no money for another call, or no sense."""
        refused = isinstance(error, ModelRefused)
        if isinstance(error, ModelRefused) and error.status not in _ACCOUNT:
            raise error
        usage = error.usage if isinstance(error, ModelError) else None
        if usage is not None and request.afford is not None and not request.afford(0):
            raise error
        told = refused and place in self._left_out
        if refused:
            self._left_out[place] = self._clock() + LEFT_OUT_SECONDS
        if not told:
            get_logger().warning("model.fell_back", model=self._models[place].name, reason=str(error))
        return _sum(spent, usage)


def _sum(spent: Usage | None, more: Usage | None) -> Usage | None:
    return more if spent is None else spent if more is None else spent + more


def _billed(reply: Reply, spent: Usage | None) -> Reply:
    return reply if spent is None else structs.replace(reply, usage=reply.usage + spent)
