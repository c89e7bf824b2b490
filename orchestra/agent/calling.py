"""An agent's model calls: paid for, recorded, made."""

from __future__ import annotations

from contextlib import aclosing

from msgspec import Struct

from orchestra.agent.desk import Desk
from orchestra.errors import ModelError, RunError
from orchestra.journal.prompts import Sent
from orchestra.models.port import Model
from orchestra.spend.purse import Purse
from orchestra.spend.scope import Reservation
from orchestra.values.messages import Delta, Listen, Reply, Request
from orchestra.values.usage import Usage


class Size(Struct, frozen=True):
    """Tokens of a call: its prompt, its reply at most, and the window that it was made for."""

    prompt: int
    reply: int
    window: int


class Caller:
    """Holds what a call may cost, makes it, settles."""

    __slots__ = ("_desk", "_place", "_purse", "_track")

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._track = desk.track
        self._place = desk.place
        self._purse = Purse(desk.spend, desk.counts)

    @property
    def ending(self) -> str:
        """The scope whose budget comes to its end, "" when none does."""
        return self._purse.ending

    async def call(
        self, tier: str, request: Request, size: Size, sent: Sent, hear: Listen | None = None
    ) -> Reply:
        """One call. What the record has was paid for before: nothing is held for it.

        `hear` gets the reply as it comes; without it a whole one is asked for, which costs less, unless the
        tier's endpoint is to stream.
        """
        desk, track = self._desk, self._track
        if hear is None and tier in desk.tiers.streamed:
            hear = _unheard
        model = desk.tiers[tier]
        recorded = track.recorded
        if recorded is not None and recorded.outcome is not None:
            held = self._purse.hold_nothing()
        else:
            with self._place.outside():
                await track.missing()
                held, request = await self._purse.hold(model, request, size.prompt, size.reply)
        try:
            track.aside |= {"tokens": size.prompt, "window": size.window}
            await track.prompt(sent, beside=request.purpose == "summary")
            del sent  # its manifest is not held while the reply is waited for
            try:
                with self._place.outside():
                    reply = await (model.reply(request) if hear is None else _heard(model, request, hear))
            except ModelError as error:
                # What was billed and then failed is still billed.
                if error.usage is not None:
                    await self._settle(held, tier, error.usage)
                raise
            self._purse.saw(model, size.prompt, reply.usage)
            await self._settle(held, tier, reply.usage)
            await track.keep(reply.seconds)
            return reply
        finally:
            held.release()

    async def _settle(self, held: Reservation, tier: str, usage: Usage) -> None:
        """Book a call, with a word to the journal when a budget comes close to its end."""
        self._desk.charge(tier, usage)
        for warned in self._purse.settle(held, usage):
            await self._track.put("note", {"what": "budget", "scope": warned.scope, "share": warned.share})


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
