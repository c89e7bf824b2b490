"""A model that is asked again where another try may succeed."""

from __future__ import annotations

import math
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import anyio
from msgspec import Struct, structs

from orchestra.errors import ModelError, ModelThrottled, ModelUnreachable
from orchestra.log import get_logger
from orchestra.models.port import Model, inner_window
from orchestra.values.messages import ANEW, Delta, Reply, Request
from orchestra.values.usage import Usage


class Patience(Struct, frozen=True, kw_only=True):
    """`tries` in all. Pauses are drawn from 0 to `first_seconds`, twice that, and so on up to `most_seconds`.

    A pause that the endpoint asks for is kept to; one above `longest_seconds` is not waited for.
    `wait_for_endpoint` False: an endpoint that is left alone is not waited for either.
    """

    tries: int = 5
    first_seconds: float = 0.5
    most_seconds: float = 30.0
    longest_seconds: float = 300.0
    wait_for_endpoint: bool = True


class Retrying:
    """The same model, tried again after ModelUnreachable and ModelThrottled; other failures are final.

    Full jitter (Brooker, "Exponential backoff and jitter", AWS 2015): callers that failed together do not
    come back together. A try that cannot end within the enclosing deadline is not begun. What failed tries
    were billed for is in the usage of the reply, or of the error.
    """

    def __init__(
        self,
        model: Model,
        patience: Patience | None = None,
        *,
        dice: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._model = model
        self.name = model.name
        self.cost = model.cost
        self._patience = patience or Patience()
        self._dice = dice or random.Random()  # noqa: S311 - luck, not secrets
        self._sleep = sleep
        self._quickest = math.inf  # the quickest reply yet, in seconds

    window = inner_window

    async def reply(self, request: Request) -> Reply:
        try:
            reply = await self._model.reply(request)
        except ModelError as error:
            return await self._again(request, error)
        if reply.seconds < self._quickest:
            self._quickest = reply.seconds
        return reply

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """What was shown of a try that failed is taken back by a Delta that says so."""
        spent: Usage | None = None
        tried = 0
        while True:
            begun = False
            try:
                async with aclosing(self._model.stream(request)) as stream:
                    async for item in stream:
                        begun = True
                        if isinstance(item, Reply):
                            self._quickest = min(self._quickest, item.seconds)
                            item = _with(item, spent)
                        yield item
                return
            except ModelError as error:
                spent = error.usage = _sum(spent, error.usage)
                tried += 1
                if not await self._paused(request, error, tried):
                    raise
            if begun:
                yield ANEW

    async def _again(self, request: Request, error: ModelError) -> Reply:
        """After a first failure: the slow path."""
        spent: Usage | None = error.usage
        tried = 1
        while await self._paused(request, error, tried):
            try:
                reply = await self._model.reply(request)
            except ModelError as another:
                error = another
                spent = error.usage = _sum(spent, error.usage)
                tried += 1
                continue
            self._quickest = min(self._quickest, reply.seconds)
            return _with(reply, spent)
        raise error

    async def _paused(self, request: Request, error: ModelError, tried: int) -> bool:
        """Wait before the next try; False, at once, where there is to be none."""
        if not isinstance(error, ModelUnreachable | ModelThrottled) or tried >= self._patience.tries:
            return False
        pause = self._pause(error, tried)
        left = anyio.current_effective_deadline() - anyio.current_time()
        # A try that has less time than the quickest reply took is not worth its money.
        needed = pause if math.isinf(self._quickest) else pause + self._quickest
        if pause > self._patience.longest_seconds or needed >= left:
            return False
        if error.usage is not None and request.afford is not None and not request.afford(0):
            return False
        get_logger().info("model.retried", model=self.name, tried=tried, pause=pause, reason=str(error))
        await self._sleep(pause)
        return True

    def _pause(self, error: ModelUnreachable | ModelThrottled, tried: int) -> float:
        patience = self._patience
        longest = min(patience.most_seconds, patience.first_seconds * 2 ** (tried - 1))
        asked = error.retry_after or 0.0
        if isinstance(error, ModelUnreachable) and error.left_alone and not patience.wait_for_endpoint:
            return math.inf
        return asked + self._dice.uniform(0.0, longest)


def _sum(spent: Usage | None, more: Usage | None) -> Usage | None:
    return more if spent is None else spent if more is None else spent + more


def _with(reply: Reply, spent: Usage | None) -> Reply:
    return reply if spent is None else structs.replace(reply, usage=reply.usage + spent)
