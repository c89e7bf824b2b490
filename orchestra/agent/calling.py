"""An agent's model calls: paid for, recorded, made."""

from __future__ import annotations

from contextlib import aclosing

from msgspec import Struct

from orchestra.agent.desk import Desk
from orchestra.errors import ModelError, RunError
from orchestra.journal.prompts import Sent
from orchestra.journal.track import WORTH_SECONDS
from orchestra.models.port import Model
from orchestra.spend.purse import Purse
from orchestra.spend.scope import Reservation, Warned
from orchestra.values.messages import Delta, Listen, Reply, Request
from orchestra.values.usage import Usage


class Size(Struct, frozen=True):
    """Tokens of a call: its prompt, its reply at most, and the window that it was made for."""

    prompt: int
    reply: int
    window: int


class Caller:
    """Holds what a call may cost in its purse, makes it, settles."""

    __slots__ = ("_desk", "_track", "purse")

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._track = desk.track
        self.purse = Purse(desk.spend)

    async def call(
        self, tier: str, request: Request, size: Size, sent: Sent, hear: Listen | None = None
    ) -> Reply:
        """One call. What the record has was paid for before: nothing is held for it.

        `hear` gets the reply as it comes; without it a whole one is asked for, which costs less, unless the
        tier's endpoint is to stream.
        """
        desk, track, purse = self._desk, self._track, self.purse
        if hear is None and tier in desk.tiers.streamed:
            hear = _unheard
        model = desk.tiers[tier]
        count = desk.counts.of(model.name)
        recorded = track.recorded if track.recording.past is not None else None
        if recorded is not None and recorded.outcome is not None:
            held = purse.hold_nothing()
        else:
            if track.recording.past is not None:
                await desk.place.outside(track.missing())
            held, request = await desk.place.outside(
                purse.hold(model, count, request, size.prompt, size.reply)
            )
        try:
            aside = track.aside
            aside["tokens"], aside["window"] = size.prompt, size.window
            await track.prompt(sent, beside=request.purpose == "summary")
            try:
                reply = await desk.place.outside(
                    model.reply(request) if hear is None else _heard(model, request, hear)
                )
            except ModelError as error:
                # What was billed and then failed is still billed.
                if error.usage is not None and (warned := self._settled(held, tier, error.usage)):
                    await self._warn(warned)
                raise
            if reply.usage.calls == 1:  # several calls in one say nothing of this prompt
                count.saw(size.prompt, reply.usage.input_tokens)
            if warned := self._settled(held, tier, reply.usage):
                await self._warn(warned)
            if reply.seconds >= WORTH_SECONDS and (kept := track.keep()) is not None:
                await kept
            return reply
        finally:
            held.release()

    def _settled(self, held: Reservation, tier: str, usage: Usage) -> tuple[Warned, ...]:
        """Book a call; the budgets that have just come close to their end."""
        self._desk.charge(tier, usage)
        return self.purse.settle(held, usage)

    async def _warn(self, close: tuple[Warned, ...]) -> None:
        """A word to the journal about each budget that comes close to its end."""
        for each in close:
            await self._track.put("note", {"what": "budget", "scope": each.scope, "share": each.share})


def _unheard(_delta: Delta | None) -> None:
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
