"""A step that the small model cannot do goes to the large one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import msgspec
from msgspec import Struct

from orchestra.errors import OutputInvalid
from orchestra.models.port import Model
from orchestra.values.messages import Delta, Reply, Request, ToolSpec

OWN_WORD = ToolSpec(
    "ask_larger_model",
    "Hand this step to a larger model. Only when you cannot do it yourself.",
    {
        "type": "object",
        "properties": {"reason": {"type": "string"}},
        "required": ["reason"],
        "additionalProperties": False,
    },
)


class Escalated(Struct, frozen=True):
    """One step that went up: from which model to which, and why."""

    small: str
    large: str
    reason: str


class Escalating:
    """Asks `small`; a reply that fails its schema twice, or that calls for a larger model, goes to `large`.

    One for each agent, made where its limit is known: after `limit` escalations the small model's failures
    are raised as they are, and its own word is not asked for any more. None means no limit. The two
    failures are the reply and its repair turn, which the adapter has made. `own_word`: offer the tool.
    `record` is told of each. The window is the smaller of the two.
    """

    def __init__(
        self,
        small: Model,
        large: Model,
        *,
        limit: int | None = 3,
        own_word: bool = False,
        record: Callable[[Escalated], None] | None = None,
    ) -> None:
        if limit is not None and limit <= 0:
            raise ValueError("an escalation limit is at least 1, or None for no limit")
        self._small = small
        self._large = large
        self._left = limit
        self._own_word = own_word
        self._record = record

    @property
    def name(self) -> str:
        return self._small.name

    @property
    def window(self) -> int:
        return min(self._small.window, self._large.window)

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """The small model's: an escalated step is settled at what it did cost."""
        return self._small.cost(input_tokens, output_tokens)

    async def reply(self, request: Request) -> Reply:
        if self._left == 0:
            return await self._small.reply(request)
        asked = self._with_own_word(request)
        try:
            reply = await self._small.reply(asked)
        except OutputInvalid as failure:
            self._went_up(failure.problem or str(failure))
            large = await self._large.reply(request)
            usage = large.usage + failure.usage if failure.usage is not None else large.usage
            return msgspec.structs.replace(large, usage=usage)
        word = next((call for call in reply.calls if call.name == OWN_WORD.name), None)
        if word is None:
            return reply
        self._went_up(f"its own word: {word.arguments}")
        large = await self._large.reply(request)
        return msgspec.structs.replace(large, usage=large.usage + reply.usage)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """The small model's pieces; if the step goes up, the large one's follow and its Reply is the last."""
        if self._left == 0:
            async for item in self._small.stream(request):
                yield item
            return
        spent = None
        reason = ""
        try:
            async for item in self._small.stream(self._with_own_word(request)):
                if isinstance(item, Reply):
                    word = next((call for call in item.calls if call.name == OWN_WORD.name), None)
                    if word is not None:
                        reason, spent = f"its own word: {word.arguments}", item.usage
                        break
                if not (isinstance(item, Delta) and item.call and item.call.name == OWN_WORD.name):
                    yield item
        except OutputInvalid as failure:
            reason, spent = failure.problem or str(failure), failure.usage
        if not reason:
            return
        self._went_up(reason)
        async for item in self._large.stream(request):
            if isinstance(item, Reply) and spent is not None:
                item = msgspec.structs.replace(item, usage=item.usage + spent)
            yield item

    def _with_own_word(self, request: Request) -> Request:
        if not self._own_word or request.tool_choice == "none" or not request.tools:
            return request
        return msgspec.structs.replace(request, tools=(*request.tools, OWN_WORD))

    def _went_up(self, reason: str) -> None:
        if self._left is not None:
            self._left -= 1
        if self._record is not None:
            self._record(Escalated(self._small.name, self._large.name, reason))
