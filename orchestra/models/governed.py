"""A model that waits for its turn at its endpoint."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec import structs

from orchestra.errors import ModelError, ModelThrottled, ModelUnreachable
from orchestra.models.governor.expected import Expected
from orchestra.models.governor.governor import LONGEST_WAIT_SECONDS, Governor
from orchestra.models.governor.permit import Permit
from orchestra.models.port import Model, inner_window
from orchestra.values.messages import Delta, Reply, Request
from orchestra.values.usage import NO_USAGE, Usage


class Governed:
    """The same model, with every call under the governor of its endpoint, which others share.

    What one call leads to (a repair turn, a check) goes under its permit and is settled with it.
    `longest_seconds`: a pause that is known to be longer is not waited for.
    """

    def __init__(
        self, model: Model, governor: Governor, *, longest_seconds: float = LONGEST_WAIT_SECONDS
    ) -> None:
        self._model = model
        self.name = model.name
        self.cost = model.cost
        self._governor = governor
        self._longest = longest_seconds
        self._expected = Expected()

    window = inner_window

    async def reply(self, request: Request) -> Reply:
        governor = self._governor
        tokens = self._expected.of(request)
        permit = governor.enter_now(tokens) or await governor.enter(request.session, tokens, self._longest)
        try:
            reply = await self._model.reply(request)
        except BaseException as error:
            self._ended(permit, error)
            raise
        self._settle(request, permit, reply.usage)
        return structs.replace(reply, waited_seconds=permit.waited) if permit.waited else reply

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        tokens = self._expected.of(request)
        governor = self._governor
        permit = governor.enter_now(tokens) or await governor.enter(request.session, tokens, self._longest)
        try:
            async with aclosing(self._model.stream(request)) as stream:
                async for item in stream:
                    if isinstance(item, Reply):
                        self._settle(request, permit, item.usage)
                        if permit.waited:
                            item = structs.replace(item, waited_seconds=permit.waited)
                    yield item
        except BaseException as error:
            self._ended(permit, error)
            raise
        governor.left(permit)  # for a stream without a Reply; else it has ended

    def _settle(self, request: Request, permit: Permit, usage: Usage) -> None:
        self._expected.saw(request.purpose, usage)
        tokens = usage.input_tokens + usage.output_tokens
        self._governor.answered(permit, calls=usage.calls or 1, tokens=tokens)

    def _ended(self, permit: Permit, error: BaseException) -> None:
        """What a failure says of the endpoint."""
        governor = self._governor
        usage = error.usage or NO_USAGE if isinstance(error, ModelError) else NO_USAGE
        if isinstance(error, ModelThrottled):
            governor.throttled(permit, error.retry_after, calls=usage.calls, tokens=usage.tokens)
        elif isinstance(error, ModelUnreachable):
            governor.failed(permit, error.retry_after)
        elif isinstance(error, ModelError):
            governor.answered(permit, calls=usage.calls or 1, tokens=usage.tokens)
        else:
            governor.left(permit)
