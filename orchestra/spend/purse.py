"""One agent's money: what a call may take is held before it, in the endpoint's own tokens."""

from __future__ import annotations

from functools import partial

from msgspec import structs

from orchestra.errors import LimitReached
from orchestra.models.counts import Calibration
from orchestra.models.port import Model
from orchestra.spend.scope import Reservation, Spend, Warned
from orchestra.values.messages import Request
from orchestra.values.usage import Usage

# A reply that is cut to fit what is left of a budget still gets so many tokens.
LEAST_OUTPUT_TOKENS = 500


class Purse:
    """What an agent's calls are paid from: its own budget and those around it."""

    __slots__ = ("_least", "_scopes", "_wanted")

    def __init__(self, spend: Spend) -> None:
        self._scopes = spend.scopes
        self._wanted = (0, 0.0)
        self._least = (0, 0.0)

    @property
    def ending(self) -> str:
        """Whose budget comes to its end, so that it is time to finish; "" for none's.

        That is so too when another call like the last might leave too little for a last one.
        """
        return self._scopes.ending(*self._wanted)

    async def hold(
        self, model: Model, count: Calibration, request: Request, counted: int, output: int
    ) -> tuple[Reservation, Request]:
        """Hold the worst case of a call whose prompt we count at `counted` tokens, its endpoint by `count`.

        Near the end of a budget it is that of a shorter reply. Returns the request with what was held for
        in it: the limit of the reply, the expected tokens, and the way to hold more for a repair or
        another try. Raises LimitReached.
        """
        scopes, given = self._scopes, count.bound(counted)
        cost = least = None  # what a call costs is of no interest where no money is limited
        if scopes.priced:
            cost, least = model.cost(given, output), model.cost(given, LEAST_OUTPUT_TOKENS)
        self._least = (given + LEAST_OUTPUT_TOKENS, least or 0.0)
        held = scopes.taken(given + output, cost)
        if held is None:
            held, output = await self._less(model, given, output)
        afford = partial(_afford, held, model, given, output)
        expected = count.corrected(counted)
        return held, structs.replace(request, max_output_tokens=output, tokens=expected, afford=afford)

    async def _less(self, model: Model, given: int, output: int) -> tuple[Reservation, int]:
        """Hold a prompt and as long a reply as there is room for, now or when others have settled."""
        scopes = self._scopes
        while True:
            cost = model.cost(given, output)
            if output > LEAST_OUTPUT_TOKENS and not scopes.fits(given + output, cost):
                output = max(output // 2, LEAST_OUTPUT_TOKENS)
                continue
            try:
                return await scopes.hold(given + output, cost), output
            except LimitReached:  # what others held is spent by now
                if output <= LEAST_OUTPUT_TOKENS:
                    raise

    def hold_nothing(self) -> Reservation:
        """For a call that was made before and is in the record: it is booked, and never refused."""
        return self._scopes.nothing()

    def settle(self, held: Reservation, usage: Usage) -> tuple[Warned, ...]:
        """Book what a call was billed; says which budgets have just come close to their end."""
        tokens, cost = self._least
        self._wanted = (usage.tokens + tokens, (usage.cost or 0.0) + cost)
        return held.settle(usage)


def _afford(held: Reservation, model: Model, given: int, output: int, more: int) -> bool:
    """Hold more for a call that leads to another, whose prompt is longer by `more` tokens, or say no."""
    return held.more(given + more + output, model.cost(given + more, output))
