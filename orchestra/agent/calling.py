"""An agent's model calls: paid for, recorded, made."""

from __future__ import annotations

from contextlib import aclosing

from msgspec import structs

from orchestra.agent.desk import Desk
from orchestra.errors import ModelError, RunError
from orchestra.journal.prompts import Sent
from orchestra.journal.track import WORTH_SECONDS
from orchestra.models.counts import Calibration
from orchestra.models.port import Model
from orchestra.models.recorded import Recorded
from orchestra.spend.scope import Warned
from orchestra.values.messages import Delta, Listen, Reply, Request


class Caller:
    """Holds what a call may cost in its purse, makes it, settles."""

    __slots__ = ("_desk", "_models", "_track", "purse")

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._track = desk.track
        self._models: dict[str, tuple[Recorded, Calibration]] = {}  # by tier, once it is called
        self.purse = desk.purse

    async def call(self, tier: str, request: Request, sent: Sent, window: int, hear: Listen | None) -> Reply:
        """One call. What the record has was paid for before: nothing is held for it.

        `request` has our own count of its tokens; what is sent has the endpoint's, and as long a reply as can
        be paid. `window`: the one that it was made for. `hear` gets the reply as it comes; without it a whole
        one is asked for, which costs less.
        """
        desk, track, purse, counted = self._desk, self._track, self.purse, request.tokens
        model, count = self._models.get(tier) or self._model(tier)
        recorded = None if track.fresh else track.recorded
        if recorded is not None and recorded.outcome is not None:
            purse.hold_nothing()
        else:
            if not track.fresh:
                await desk.place.outside(track.missing())
            output = request.max_output_tokens or 0
            expected, given = count.expected(counted)
            if not purse.hold_now(model, given, output):
                output = await desk.place.outside(purse.hold_less())
            request = structs.replace(
                request,
                max_output_tokens=output,
                tokens=expected,
                afford=purse.affords,
            )
        aside = track.aside
        aside["tokens"], aside["window"] = counted, window
        try:
            await track.prompt(sent, beside=request.purpose == "summary")
            reply = await desk.place.outside(
                model.reply(request) if hear is None else _heard(model, request, hear)
            )
        except BaseException as error:
            await self._failed(tier, error)
            raise
        usage = reply.usage
        if usage.calls == 1:  # several calls in one say nothing of this prompt
            count.saw(counted, usage.input_tokens)
        desk.charge(tier, usage)
        if warned := purse.settle(usage):
            await self._warn(warned)
        if reply.seconds >= WORTH_SECONDS and (kept := track.keep()) is not None:
            await kept
        return reply

    def _model(self, tier: str) -> tuple[Recorded, Calibration]:
        """A tier's model, recorded, and what is known of how it counts."""
        model = Recorded(self._desk.tiers[tier], tier, self._track)
        found = self._models[tier] = model, self._desk.counts.of(model.name)
        return found

    async def _failed(self, tier: str, error: BaseException) -> None:
        """What was billed and then failed is still billed; nothing else stays held."""
        if isinstance(error, ModelError) and error.usage is not None:
            self._desk.charge(tier, error.usage)
            await self._warn(self.purse.settle(error.usage))
        self.purse.release()

    async def _warn(self, close: tuple[Warned, ...]) -> None:
        """A word to the journal about each budget that comes close to its end."""
        for each in close:
            await self._track.put("note", {"what": "budget", "scope": each.scope, "share": each.share})


def unheard(_delta: Delta | None) -> None:
    """A stream that nobody listens to."""


async def _heard(model: Model, request: Request, hear: Listen) -> Reply:
    """The reply of a stream; a failure, too, is heard as None."""
    reply: Reply | None = None
    try:
        async with aclosing(model.stream(request)) as stream:
            async for item in stream:
                if isinstance(item, Reply):
                    reply = item
                else:
                    hear(None if item.anew else item)
    except RunError:
        hear(None)
        raise
    assert reply is not None, f"the stream of {model.name} ended without a Reply"
    return reply
