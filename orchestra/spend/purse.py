"""One agent's money: what a call may take is held before it, in the endpoint's own tokens."""

from __future__ import annotations

from msgspec import structs

from orchestra.errors import LimitReached
from orchestra.models.counts import Calibrations
from orchestra.models.port import Model
from orchestra.spend.scope import Reservation, Spend, Warned
from orchestra.values.messages import Request
from orchestra.values.usage import Usage

# A reply that is cut to fit what is left of a budget still gets so many tokens.
LEAST_OUTPUT_TOKENS = 500


class Afford:
    """Holds more for a call that leads to another, whose prompt is longer by `more` tokens, or says no."""

    __slots__ = ("_given", "_held", "_model", "_output")

    def __init__(self, held: Reservation, model: Model, given: int, output: int) -> None:
        self._held = held
        self._model = model
        self._given = given
        self._output = output

    def __call__(self, more: int) -> bool:
        given, output = self._given + more, self._output
        return self._held.more(given + output, self._model.cost(given, output))


class Purse:
    """`counts`: how endpoints count our tokens; it learns from every call that is settled here."""

    __slots__ = ("_counts", "_least", "_spend", "_wanted")

    def __init__(self, spend: Spend, counts: Calibrations) -> None:
        self._spend = spend
        self._counts = counts
        self._wanted = (0, 0.0)
        self._least = (0, 0.0)

    @property
    def ending(self) -> str:
        """Whose budget comes to its end, so that it is time to finish; "" for none's.

        That is so too when another call like the last might leave too little for a last one.
        """
        return self._spend.ending(*self._wanted)

    async def hold(
        self, model: Model, request: Request, counted: int, output: int
    ) -> tuple[Reservation, Request]:
        """Hold the worst case of a call whose prompt we count at `counted` tokens.

        Near the end of a budget it is that of a shorter reply. Returns the request with what was held for
        in it: the limit of the reply, the expected tokens, and the way to hold more for a repair or
        another try. Raises LimitReached.
        """
        count = self._counts.of(model.name)
        given = count.bound(counted)
        self._least = (given + LEAST_OUTPUT_TOKENS, model.cost(given, LEAST_OUTPUT_TOKENS) or 0.0)
        held, output = await self._reserve(model, given, output)
        afford = Afford(held, model, given, output)
        expected = count.corrected(counted)
        return held, structs.replace(request, max_output_tokens=output, tokens=expected, afford=afford)

    async def _reserve(self, model: Model, given: int, output: int) -> tuple[Reservation, int]:
        """Hold a prompt and as long a reply as there is room for, now or when others have settled."""
        spend = self._spend
        while True:
            cost = model.cost(given, output)
            if output > LEAST_OUTPUT_TOKENS and not spend.fits(given + output, cost):
                output = max(output // 2, LEAST_OUTPUT_TOKENS)
                continue
            try:
                return await spend.hold(given + output, cost), output
            except LimitReached:  # what others held is spent by now
                if output <= LEAST_OUTPUT_TOKENS:
                    raise

    def hold_nothing(self) -> Reservation:
        """For a call that was made before and is in the record: it is booked, and never refused."""
        return Reservation(self._spend, 0, None)

    def settle(self, held: Reservation, usage: Usage) -> tuple[Warned, ...]:
        """Book what a call was billed; says which budgets have just come close to their end."""
        tokens, cost = self._least
        self._wanted = (usage.tokens + tokens, (usage.cost or 0.0) + cost)
        return held.settle(usage)

    def saw(self, model: Model, counted: int, usage: Usage) -> None:
        """A call's own count of its prompt, beside ours; several calls in one say nothing."""
        if usage.calls == 1:
            self._counts.of(model.name).saw(counted, usage.input_tokens)
