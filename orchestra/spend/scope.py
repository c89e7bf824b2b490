"""Nested budgets of tokens and money: held before a call, settled after it.

Scopes nest: runtime, session, agent. Everything but `hold` is a plain function without an await, so under
one event loop each is atomic and concurrent calls can never spend the same token twice.
"""

from __future__ import annotations

from collections import deque

import anyio
from msgspec import Struct

from orchestra.errors import LimitReached
from orchestra.values.usage import Tally, Usage

# Above these shares of a limit a person is warned, and an agent is told to finish (design §8).
WARNING_SHARE = 0.8
WRAP_UP_SHARE = 0.9


class Warned(Struct, frozen=True):
    """A scope that has just come close to its limit."""

    scope: str
    share: float


class Spend:
    """One scope. `tokens` and `cost` (US dollars) are limits; None means none of its own.

    A call whose price is unknown is held to the token limits only; whether a model without a price may be
    used under a limit of money is decided where models and limits meet.
    """

    __slots__ = (
        "_around",
        "_held_cost",
        "_held_tokens",
        "_parent",
        "_spent_cost",
        "_spent_tokens",
        "_tally",
        "_waiting",
        "_warned",
        "cost",
        "name",
        "tokens",
    )

    def __init__(
        self,
        name: str,
        *,
        tokens: int | None = None,
        cost: float | None = None,
        parent: Spend | None = None,
    ) -> None:
        self.name = name
        self.tokens = tokens
        self.cost = cost
        self._parent = parent
        # Those further out that have a limit: most have none, and are not asked.
        self._around: tuple[Spend, ...] = parent._limited if parent is not None else ()
        self._tally = Tally()
        self._spent_tokens = self._held_tokens = 0
        self._spent_cost = self._held_cost = 0.0
        self._waiting: deque[anyio.Event] | None = None  # there once somebody had to wait
        self._warned = False

    @property
    def used(self) -> Usage:
        """What settled calls have taken, as the endpoints reported it."""
        return self._tally.usage

    @property
    def _limited(self) -> tuple[Spend, ...]:
        """From here outwards; not kept, or a scope would hold itself and wait for the collector."""
        return self._around if self.tokens is None and self.cost is None else (self, *self._around)

    @property
    def held(self) -> tuple[int, float]:
        """Tokens and dollars that calls under way may still take."""
        return self._held_tokens, self._held_cost

    @property
    def share(self) -> float:
        """The largest spent share of any limit from here outwards; 0.0 without limits."""
        own = self._share()
        return own if self._parent is None else max(own, self._parent.share)

    def ending(self, tokens: int, cost: float) -> str:
        """Whose budget, here or further out, comes to its end; "" for none.

        Most of it is spent, or so much is not left any more.
        """
        for scope in self._limited:
            if scope._share() >= WRAP_UP_SHARE or scope._lacks(tokens, cost, held=False):
                return scope.name
        return ""

    def fits(self, tokens: int, cost: float | None) -> bool:
        """Whether a call's worst case fits beside what is spent, once calls under way have taken nothing."""
        return not any(scope._lacks(tokens, cost, held=False) for scope in self._limited)

    def reserve(self, tokens: int, cost: float | None) -> Reservation:
        """Hold a call's worst case in this scope and all around it; raises LimitReached, holding nothing."""
        short = self._short(tokens, cost)
        if short is not None:
            raise short._reached(tokens, cost, held=True)
        self._hold(tokens, cost or 0.0)
        return Reservation(self, tokens, cost)

    async def hold(self, tokens: int, cost: float | None) -> Reservation:
        """As `reserve`, but wait where it is only other calls under way that hold what is missing.

        Nothing is held while waiting, so that no two calls wait for each other.
        """
        first: Spend | None = None  # in whose line this call has waited, and has the turn
        try:
            while (short := self._short(tokens, cost)) is not None:
                if short._lacks(tokens, cost, held=False):
                    raise short._reached(tokens, cost, held=False)
                if first is not None and first is not short:
                    first._wake()
                    first = None
                event = anyio.Event()
                if short._waiting is None:
                    short._waiting = deque()
                line = short._waiting
                if first is None:
                    line.append(event)
                else:
                    line.appendleft(event)
                first = short
                try:
                    await event.wait()
                except BaseException:
                    if not event.is_set():
                        line.remove(event)
                        first = None
                    raise
            self._hold(tokens, cost or 0.0)
            return Reservation(self, tokens, cost)
        finally:
            if first is not None:
                first._wake()

    def _short(self, tokens: int, cost: float | None) -> Spend | None:
        """The innermost scope with too little, what is held counted as spent."""
        for scope in self._limited:
            if scope._lacks(tokens, cost, held=True):
                return scope
        return None

    def _lacks(self, tokens: int, cost: float | None, *, held: bool) -> str:
        """Which limit of this scope a call of this size would break, "" for none."""
        if self.tokens is not None:
            taken = self._spent_tokens + (self._held_tokens if held else 0)
            if taken + tokens > self.tokens:
                return "tokens"
        if self.cost is not None and cost is not None:
            paid = self._spent_cost + (self._held_cost if held else 0.0)
            if paid + cost > self.cost:
                return "money"
        return ""

    def _reached(self, tokens: int, cost: float | None, *, held: bool) -> LimitReached:
        limit = self._lacks(tokens, cost, held=held)
        if limit == "tokens":
            assert self.tokens is not None
            left = self.tokens - self._spent_tokens - (self._held_tokens if held else 0)
            return LimitReached(
                f"{self.name}: the next call may take {tokens:,} tokens and {max(left, 0):,} of "
                f"{self.tokens:,} are left; raise the token limit or ask for less.",
                limit=limit,
                scope=self.name,
            )
        assert self.cost is not None
        free = self.cost - self._spent_cost - (self._held_cost if held else 0.0)
        return LimitReached(
            f"{self.name}: the next call may cost ${cost or 0.0:.4f} and ${max(free, 0.0):.4f} of "
            f"${self.cost:.4f} are left; raise the budget or ask for less.",
            limit=limit,
            scope=self.name,
        )

    def _share(self) -> float:
        tokens = self._spent_tokens / self.tokens if self.tokens else 0.0
        return max(tokens, self._spent_cost / self.cost) if self.cost else tokens

    def _hold(self, tokens: int, cost: float) -> None:
        scope: Spend | None = self
        while scope is not None:
            scope._held_tokens += tokens
            scope._held_cost += cost
            scope = scope._parent

    def _free(self, tokens: int, cost: float) -> None:
        scope: Spend | None = self
        while scope is not None:
            scope._held_tokens -= tokens
            # Sums of floats leave dust; where nothing is held there is none.
            scope._held_cost = scope._held_cost - cost if scope._held_tokens else 0.0
            if scope._waiting:
                scope._wake()
            scope = scope._parent

    def _wake(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()

    def _book(self, usage: Usage, tokens: int, cost: float) -> tuple[Warned, ...]:
        """`usage` as reported; `tokens` and `cost` are what counts against the limits."""
        scope: Spend | None = self
        while scope is not None:
            scope._tally.add(usage)
            scope._spent_tokens += tokens
            scope._spent_cost += cost
            scope = scope._parent
        warned: tuple[Warned, ...] = ()
        for limited in self._limited:
            if not limited._warned and (share := limited._share()) >= WARNING_SHARE:
                limited._warned = True
                warned += (Warned(limited.name, round(share, 3)),)
        return warned


class Reservation:
    """A held worst case; settle it with what the call really took, or release it. Either works once."""

    __slots__ = ("_cost", "_open", "_scope", "_tokens")

    def __init__(self, scope: Spend, tokens: int, cost: float | None) -> None:
        self._scope = scope
        self._tokens = tokens
        self._cost = cost or 0.0
        self._open = True

    def more(self, tokens: int, cost: float | None) -> bool:
        """Hold so much on top, for another call that the first leads to; False where it does not fit."""
        if not self._open or self._scope._short(tokens, cost) is not None:
            return False
        self._scope._hold(tokens, cost or 0.0)
        self._tokens += tokens
        self._cost += cost or 0.0
        return True

    def settle(self, usage: Usage) -> tuple[Warned, ...]:
        """Return the held amount and book `usage`; says which scopes have just come close to a limit.

        What an endpoint does not report counts as the worst case: unknown is not nothing.
        """
        if not self._open:
            return ()
        tokens, cost = usage.tokens, usage.cost
        if usage.calls and not tokens:
            tokens = self._tokens
        warned = self._scope._book(usage, tokens, self._cost if cost is None else cost)
        self.release()
        return warned

    def release(self) -> None:
        """Return the held amount: nothing was spent."""
        if self._open:
            self._open = False
            self._scope._free(self._tokens, self._cost)
