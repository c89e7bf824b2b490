"""One agent's money: what a call may take is held before it, in the endpoint's own tokens."""

from __future__ import annotations

from orchestra.errors import LimitReached
from orchestra.models.port import Model
from orchestra.spend.scope import Reservation, Scopes, Spend, Warned
from orchestra.values.usage import Usage

# A reply that is cut to fit what is left of a budget still gets so many tokens.
LEAST_OUTPUT_TOKENS = 500


class Purse(Scopes):
    """What an agent's calls are paid from: its own budget and those around it."""

    __slots__ = ("_least", "_least_cost", "_wanted", "_wanted_cost")

    def __init__(self, spend: Spend) -> None:
        super().__init__(spend)
        # What the call under way takes at least, and what another one like the last might take, in tokens
        # and in dollars; these are of no interest where no money is limited.
        self._least = self._wanted = 0
        self._least_cost = self._wanted_cost = 0.0

    @property
    def ending(self) -> str:
        """Whose budget comes to its end, so that it is time to finish; "" for none's.

        That is so too when another call like the last might leave too little for a last one.
        """
        for scope in self._all:
            if scope.ends(self._wanted, self._wanted_cost):
                return scope.name
        return ""

    def held(self, model: Model, given: int, output: int) -> Reservation | None:
        """Hold the worst case of a call: a prompt of `given` tokens, a reply of `output`.

        None where that is more than is free: `held_less` then.
        """
        tokens, cost = given + output, None
        self._least = given + LEAST_OUTPUT_TOKENS
        if self.priced:
            cost = model.cost(given, output)
            self._least_cost = model.cost(given, LEAST_OUTPUT_TOKENS) or 0.0
        for scope in self._all:
            if not scope.has_free(tokens, cost):
                return None
        return Reservation(self._all, tokens, cost)

    async def held_less(self, model: Model, given: int, output: int) -> tuple[Reservation, int]:
        """Hold a prompt and as long a reply as there is room for, now or when others have settled.

        Returns the reply's tokens too. Raises LimitReached.
        """
        while True:
            cost = model.cost(given, output)
            if output > LEAST_OUTPUT_TOKENS and not self.fits(given + output, cost):
                output = max(output // 2, LEAST_OUTPUT_TOKENS)
                continue
            try:
                return await self.hold(given + output, cost), output
            except LimitReached:  # what others held is spent by now
                if output <= LEAST_OUTPUT_TOKENS:
                    raise

    def settle(self, held: Reservation, usage: Usage) -> tuple[Warned, ...]:
        """Book what a call was billed; says which budgets have just come close to their end."""
        self._wanted = usage.tokens + self._least
        if self.priced:
            self._wanted_cost = (usage.cost or 0.0) + self._least_cost
        return held.settle(usage)


def affords(held: Reservation, model: Model, given: int, output: int, more: int) -> bool:
    """Hold more for a call that leads to another, whose prompt is longer by `more` tokens, or say no."""
    return held.more(given + more + output, model.cost(given + more, output))
