"""Nested budgets of tokens and money: held before a call, settled after it.

Scopes nest: runtime, session, agent. Everything but `hold` is a plain function without an await, so under
one event loop each is atomic and concurrent calls can never spend the same token twice.
"""

from __future__ import annotations

import math
import sys
from collections import deque

import anyio
from msgspec import Struct

from orchestra.errors import LimitReached
from orchestra.values.usage import NO_USAGE, Usage

# Above these shares of a limit a person is warned, and an agent is told to finish (design §8).
WARNING_SHARE = 0.8
WRAP_UP_SHARE = 0.9
_NO_LIMIT = sys.maxsize  # tokens of a scope that limits none


class Warned(Struct, frozen=True):
    """A scope that has just come close to its limit."""

    scope: str
    share: float


class Spend:
    """One scope. `tokens` and `cost` (US dollars) are limits; None means none of its own.

    A scope without a limit counts nothing: what its calls took is the session's bill.

    A call whose price is unknown is held to the token limits only; whether a model without a price may be
    used under a limit of money is decided where models and limits meet.
    """

    __slots__ = (
        "_around",
        "_close_cost",
        "_close_tokens",
        "_ending_tokens",
        "_free_tokens",
        "_held_cost",
        "_left_tokens",
        "_spent_cost",
        "_waiting",
        "cost",
        "name",
        "priced",
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
        self._around: tuple[Spend, ...] = parent.limited if parent is not None else ()
        self.priced: bool = cost is not None or (parent is not None and parent.priced)
        # Of the limit: what is not spent, and of that what is not held.
        self._left_tokens = self._free_tokens = most = _NO_LIMIT if tokens is None else tokens
        self._held_cost = self._spent_cost = 0.0  # counted where money is limited
        # Where a limit comes close, which is said once: tokens that are left, dollars that are spent.
        self._close_tokens = most - WARNING_SHARE * most
        self._close_cost = math.inf if cost is None else WARNING_SHARE * cost
        self._ending_tokens = most - WRAP_UP_SHARE * most
        self._waiting: deque[anyio.Event] | None = None  # there once somebody had to wait

    @property
    def scopes(self) -> Scopes:
        """This one and those around it, as a call is held in them."""
        return Scopes(self)

    @property
    def limited(self) -> tuple[Spend, ...]:
        """Those with a limit, from here outwards; not kept, or a scope would hold itself."""
        return self._around if self.tokens is None and self.cost is None else (self, *self._around)

    @property
    def spent(self) -> tuple[int, float]:
        """Tokens and dollars of settled calls, as they count against the limits."""
        return (_NO_LIMIT if self.tokens is None else self.tokens) - self._left_tokens, self._spent_cost

    @property
    def held(self) -> tuple[int, float]:
        """Tokens and dollars that calls under way may still take."""
        return self._left_tokens - self._free_tokens, self._held_cost

    @property
    def share(self) -> float:
        """The largest spent share of its own limits; 0.0 without any."""
        tokens = self.spent[0] / self.tokens if self.tokens else 0.0
        return max(tokens, self._spent_cost / self.cost) if self.cost else tokens

    def ends(self, tokens: int, cost: float) -> bool:
        """Whether most of a limit is spent, or so much is not left of it."""
        left, dollars, paid = self._left_tokens, self.cost, self._spent_cost
        if left < tokens or left <= self._ending_tokens:
            return True
        return dollars is not None and (paid + cost > dollars or paid >= WRAP_UP_SHARE * dollars)

    def has_free(self, tokens: int, cost: float | None) -> bool:
        """Whether a call of this size fits beside what is spent and what is held."""
        return tokens <= self._free_tokens and (cost is None or not self._lacks(tokens, cost, held=True))

    def _lacks(self, tokens: int, cost: float | None, *, held: bool) -> str:
        """Which limit of this scope a call of this size would break, "" for none.

        `held`: what calls under way hold counts as spent.
        """
        if tokens > (self._free_tokens if held else self._left_tokens):
            return "tokens"
        if self.cost is not None and cost is not None:
            paid = self._spent_cost + (self._held_cost if held else 0.0)
            if paid + cost > self.cost:
                return "money"
        return ""

    def _reached(self, tokens: int, cost: float | None, *, held: bool) -> LimitReached:
        limit = self._lacks(tokens, cost, held=held)
        if limit == "tokens":
            left = self._free_tokens if held else self._left_tokens
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

    def _pay(self, held: float, cost: float) -> None:
        """Have dollars that were held back, and so many spent."""
        self._spent_cost += cost
        # Sums of floats leave dust; where nothing is held there is none.
        self._held_cost = self._held_cost - held if self._free_tokens < self._left_tokens else 0.0

    def _warned(self) -> Warned:
        """The word of a limit that comes close, once."""
        self._close_tokens, self._close_cost = -math.inf, math.inf
        return Warned(self.name, round(self.share, 3))

    def _wake(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()


class Scopes:
    """Those scopes that have a limit, from the innermost outwards: a call is held in all or in none.

    `priced`: whether one of them limits money.
    """

    __slots__ = ("_all", "priced")

    def __init__(self, innermost: Spend) -> None:
        self._all = innermost.limited
        self.priced = innermost.priced

    def fits(self, tokens: int, cost: float | None) -> bool:
        """Whether a call's worst case fits beside what is spent, once calls under way have taken nothing."""
        return not any(scope._lacks(tokens, cost, held=False) for scope in self._all)

    def reserve(self, tokens: int, cost: float | None) -> Reservation:
        """Hold a call's worst case; raises LimitReached, holding nothing."""
        short = self._short(tokens, cost)
        if short is not None:
            raise short._reached(tokens, cost, held=True)
        return Reservation(self._all, tokens, cost)

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
            return Reservation(self._all, tokens, cost)
        finally:
            if first is not None:
                first._wake()

    def nothing(self) -> Reservation:
        """Nothing held, for a call that is booked and never refused."""
        return Reservation(self._all, 0, None)

    def _short(self, tokens: int, cost: float | None) -> Spend | None:
        """The innermost scope with too little, what is held counted as spent."""
        for scope in self._all:
            if scope._lacks(tokens, cost, held=True):
                return scope
        return None


class Reservation:
    """A held worst case; settle it with what the call really took, or release it. Either works once."""

    __slots__ = ("_cost", "_open", "_scopes", "_tokens")

    def __init__(self, scopes: tuple[Spend, ...], tokens: int, cost: float | None) -> None:
        self._scopes = scopes
        self._tokens, self._cost = 0, 0.0
        self._open = True
        self._hold(tokens, cost)

    def more(self, tokens: int, cost: float | None) -> bool:
        """Hold so much on top, for another call that the first leads to; False where it does not fit."""
        if not self._open or any(scope._lacks(tokens, cost, held=True) for scope in self._scopes):
            return False
        self._hold(tokens, cost)
        return True

    def _hold(self, tokens: int, cost: float | None) -> None:
        self._tokens += tokens
        for scope in self._scopes:
            scope._free_tokens -= tokens
        if cost:
            self._cost += cost
            for scope in self._scopes:
                if scope.cost is not None:
                    scope._held_cost += cost

    def settle(self, usage: Usage) -> tuple[Warned, ...]:
        """Return the held amount and book `usage`; says which scopes have just come close to a limit.

        What an endpoint does not report counts as the worst case: unknown is not nothing.
        """
        if not self._open:
            return ()
        self._open = False
        held, tokens = self._tokens, usage.tokens
        if usage.calls and not tokens:
            tokens = held
        warned: tuple[Warned, ...] = ()
        for scope in self._scopes:
            scope._free_tokens += held - tokens
            scope._left_tokens -= tokens
            if scope.cost is not None:
                scope._pay(self._cost, self._cost if usage.cost is None else usage.cost)
            if scope._waiting:
                scope._wake()
            if scope._left_tokens <= scope._close_tokens or scope._spent_cost >= scope._close_cost:
                warned += (scope._warned(),)
        return warned

    def release(self) -> None:
        """Return the held amount: nothing was spent."""
        self.settle(NO_USAGE)
