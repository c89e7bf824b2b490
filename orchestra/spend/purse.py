"""One agent's money: what a call may take is held before it, in the endpoint's own tokens."""

from __future__ import annotations

import sys

from orchestra.errors import LimitReached
from orchestra.models.port import Model
from orchestra.spend.scope import WARNING_SHARE, WRAP_UP_SHARE, Reservation, Scopes, Warned, tokens_reached
from orchestra.values.usage import Usage

# A reply that is cut to fit what is left of a budget still gets so many tokens.
LEAST_OUTPUT_TOKENS = 500


class Purse:
    """What an agent's calls are paid from: its own budget of tokens, and those scopes around it.

    An agent makes one call at a time, so nobody else holds anything of its own budget, and no call ever
    waits for that: what is spent of it is all there is to know. `tokens` None: it has no limit of its own.
    """

    __slots__ = (
        "_around", "_given", "_held", "_least_cost", "_limit", "_model", "_output", "_reserved", "_spent",
        "_wanted", "_wanted_cost", "_warned", "name",
    )  # fmt: skip

    def __init__(self, name: str, tokens: int | None, around: Scopes) -> None:
        self.name = name
        self._limit = sys.maxsize if tokens is None else tokens
        self._around = around if len(around) else None
        self._spent = 0
        self._warned = False
        # The call under way: its model, its prompt and its reply at most; what it holds, and what of that is
        # reserved in the scopes around.
        self._model: Model | None = None
        self._given = self._output = self._held = 0
        self._reserved: Reservation | None = None
        # What another call like the last and one that is the end might take, in tokens and in dollars; these
        # are of no interest where no money is limited.
        self._wanted = 0
        self._wanted_cost = self._least_cost = 0.0

    @property
    def ending(self) -> str:
        """Whose budget comes to its end, so that it is time to finish; "" for none's.

        That is so too when another call like the last might leave too little for a last one.
        """
        spent, limit = self._spent, self._limit
        if spent + self._wanted > limit or spent >= WRAP_UP_SHARE * limit:
            return self.name
        return "" if self._around is None else self._around.ending(self._wanted, self._wanted_cost)

    def hold_now(self, model: Model, given: int, output: int) -> bool:
        """Hold the worst case of a call: a prompt of `given` tokens, a reply of `output`.

        False, and nothing is held, where that is more than is free: `hold_less` then.
        """
        tokens, around = given + output, self._around
        self._model, self._given, self._output = model, given, output
        if around is not None and around.priced:
            self._least_cost = model.cost(given, LEAST_OUTPUT_TOKENS) or 0.0
        if self._spent + tokens > self._limit:
            return False
        if around is not None:
            self._reserved = around.taken(tokens, model.cost(given, output) if around.priced else None)
            if self._reserved is None:
                return False
        self._held = tokens
        return True

    async def hold_less(self) -> int:
        """The same call with as long a reply as there is room for, now or when others have settled.

        Returns the reply's tokens. Raises LimitReached.
        """
        model, given, output, around = self._model, self._given, self._output, self._around
        assert model is not None
        while True:
            tokens, cost = given + output, model.cost(given, output)
            fits = self._spent + tokens <= self._limit
            if output > LEAST_OUTPUT_TOKENS and not (fits and (around is None or around.fits(tokens, cost))):
                output = max(output // 2, LEAST_OUTPUT_TOKENS)
                continue
            if not fits:
                raise tokens_reached(self.name, tokens, self._limit - self._spent, self._limit)
            try:
                if around is not None:
                    self._reserved = await around.hold(tokens, cost)
            except LimitReached:  # what others held is spent by now
                if output <= LEAST_OUTPUT_TOKENS:
                    raise
                continue
            self._held, self._output = tokens, output
            return output

    def hold_nothing(self) -> None:
        """For a call that was made before and is in the record: it is booked, and never refused."""
        if self._around is not None:
            self._reserved = self._around.nothing()

    def affords(self, more: int) -> bool:
        """Hold more for a call that the one under way leads to, or say no.

        Its prompt is longer by `more` tokens.
        """
        model, given, reserved = self._model, self._given + more, self._reserved
        tokens = given + self._output
        if model is None or not self._held or self._spent + self._held + tokens > self._limit:
            return False
        if reserved is not None and not reserved.more(tokens, model.cost(given, self._output)):
            return False
        self._held += tokens
        return True

    def settle(self, usage: Usage) -> tuple[Warned, ...]:
        """Book what the call was billed; says which budgets have just come close to their end.

        What an endpoint does not report counts as the worst case: unknown is not nothing.
        """
        tokens, reserved = usage.tokens, self._reserved
        self._wanted = tokens + self._given + LEAST_OUTPUT_TOKENS
        self._spent = spent = self._spent + (tokens or (self._held if usage.calls else 0))
        self._held = 0
        warned: tuple[Warned, ...] = ()
        if spent >= WARNING_SHARE * self._limit and not self._warned:
            self._warned = True
            warned = (Warned(self.name, round(spent / self._limit, 3)),)
        if reserved is not None:
            self._wanted_cost = (usage.cost or 0.0) + self._least_cost
            self._reserved = None
            warned += reserved.settle(usage)
        return warned

    def release(self) -> None:
        """Nothing was spent, or it is booked: nothing stays held."""
        self._held = 0
        if self._reserved is not None:
            self._reserved.release()
            self._reserved = None
