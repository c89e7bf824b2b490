"""Nested budgets of tokens and money: held before a call, settled after it.

Scopes nest: runtime, session, and in them an agent's own purse. Everything but `hold` is a plain function
without an await, so under one event loop each is atomic and concurrent calls can never spend the same token
twice.
"""

from __future__ import annotations

from collections import deque

import anyio
from msgspec import Struct

from orchestra.errors import LimitReached
from orchestra.values.usage import Usage

# Above these shares of a limit a person is warned, and an agent is told to finish (design §8).
WARNING_SHARE = 0.8
WRAP_UP_SHARE = 0.9


class Warned(Struct, frozen=True):
    """A scope that has just come close to its limit."""

    scope: str
    share: float


def tokens_reached(scope: str, tokens: int, left: int, limit: int) -> LimitReached:
    """For a call that may take more tokens than are left of a scope's limit."""
    return LimitReached(
        f"{scope}: the next call may take {tokens:,} tokens and {max(left, 0):,} of "
        f"{limit:,} are left; raise the token limit or ask for less.",
        limit="tokens",
        scope=scope,
    )


class Spend:
    """One scope. `tokens` and `cost` (US dollars) are limits; None means none of its own.

    A scope without a limit counts nothing: what its calls took is the session's bill.

    A call whose price is unknown is held to the token limits only; whether a model without a price may be
    used under a limit of money is decided where models and limits meet.
    """

    __slots__ = (
        "_around",
        "_held_cost",
        "_held_tokens",
        "_spent_cost",
        "_spent_tokens",
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
        self._around: tuple[Spend, ...] = parent._limited if parent is not None else ()
        self._spent_tokens = self._held_tokens = 0
        self._spent_cost = self._held_cost = 0.0
        self._waiting: deque[anyio.Event] | None = None  # there once somebody had to wait
        self._warned = False

    @property
    def scopes(self) -> Scopes:
        """This one and those around it, as a call is held in them."""
        return Scopes(self._limited)

    @property
    def _limited(self) -> tuple[Spend, ...]:
        """From here outwards; not kept, or a scope would hold itself and wait for the collector."""
        return self._around if self.tokens is None and self.cost is None else (self, *self._around)

    @property
    def spent(self) -> tuple[int, float]:
        """Tokens and dollars of settled calls, as they count against the limits."""
        return self._spent_tokens, self._spent_cost

    @property
    def held(self) -> tuple[int, float]:
        """Tokens and dollars that calls under way may still take."""
        return self._held_tokens, self._held_cost

    @property
    def share(self) -> float:
        """The largest spent share of its own limits; 0.0 without any."""
        tokens = self._spent_tokens / self.tokens if self.tokens else 0.0
        return max(tokens, self._spent_cost / self.cost) if self.cost else tokens

    def _ends(self, tokens: int, cost: float) -> bool:
        """Whether most of a limit is spent, or so much is not left of it."""
        limit, spent = self.tokens, self._spent_tokens
        if limit is not None and (spent + tokens > limit or spent >= WRAP_UP_SHARE * limit):
            return True
        dollars, paid = self.cost, self._spent_cost
        return dollars is not None and (paid + cost > dollars or paid >= WRAP_UP_SHARE * dollars)

    def _lacks(self, tokens: int, cost: float | None, *, held: bool) -> str:
        """Which limit of this scope a call of this size would break, "" for none.

        `held`: what calls under way hold counts as spent.
        """
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
            return tokens_reached(self.name, tokens, left, self.tokens)
        assert self.cost is not None
        free = self.cost - self._spent_cost - (self._held_cost if held else 0.0)
        return LimitReached(
            f"{self.name}: the next call may cost ${cost or 0.0:.4f} and ${max(free, 0.0):.4f} of "
            f"${self.cost:.4f} are left; raise the budget or ask for less.",
            limit=limit,
            scope=self.name,
        )

    def _free(self, tokens: int, cost: float) -> None:
        self._held_tokens -= tokens
        # Sums of floats leave dust; where nothing is held there is none.
        self._held_cost = self._held_cost - cost if self._held_tokens else 0.0
        if self._waiting:
            self._wake()

    def _wake(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()

    def _book(self, tokens: int, cost: float) -> Warned | None:
        self._spent_tokens += tokens
        self._spent_cost += cost
        if self._warned or (share := self.share) < WARNING_SHARE:
            return None
        self._warned = True
        return Warned(self.name, round(share, 3))


class Scopes:
    """Those scopes that have a limit, from the innermost outwards: a call is held in all or in none.

    `priced`: whether one of them limits money.
    """

    __slots__ = ("_all", "priced")

    def __init__(self, limited: tuple[Spend, ...]) -> None:
        self._all = limited
        self.priced = any(scope.cost is not None for scope in limited)

    def __len__(self) -> int:
        return len(self._all)

    def ending(self, tokens: int, cost: float) -> str:
        """Whose budget comes to its end: most of it is spent, or so much is not left; "" for none's."""
        for scope in self._all:
            if scope._ends(tokens, cost):
                return scope.name
        return ""

    def fits(self, tokens: int, cost: float | None) -> bool:
        """Whether a call's worst case fits beside what is spent, once calls under way have taken nothing."""
        return not any(scope._lacks(tokens, cost, held=False) for scope in self._all)

    def taken(self, tokens: int, cost: float | None) -> Reservation | None:
        """A call's worst case, held; None, and nothing is, where what is left and not held is too little."""
        for scope in self._all:
            if scope._lacks(tokens, cost, held=True):
                return None
        return Reservation(self._all, tokens, cost)

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
        self._hold(tokens, cost or 0.0)

    def more(self, tokens: int, cost: float | None) -> bool:
        """Hold so much on top, for another call that the first leads to; False where it does not fit."""
        if not self._open or any(scope._lacks(tokens, cost, held=True) for scope in self._scopes):
            return False
        self._hold(tokens, cost or 0.0)
        return True

    def _hold(self, tokens: int, cost: float) -> None:
        self._tokens += tokens
        self._cost += cost
        for scope in self._scopes:
            scope._held_tokens += tokens
            scope._held_cost += cost

    def settle(self, usage: Usage) -> tuple[Warned, ...]:
        """Return the held amount and book `usage`; says which scopes have just come close to a limit.

        What an endpoint does not report counts as the worst case: unknown is not nothing.
        """
        if not self._open:
            return ()
        self._open = False
        tokens = usage.tokens
        if usage.calls and not tokens:
            tokens = self._tokens
        cost = self._cost if usage.cost is None else usage.cost
        warned: tuple[Warned, ...] = ()
        for scope in self._scopes:
            scope._free(self._tokens, self._cost)
            if (close := scope._book(tokens, cost)) is not None:
                warned += (close,)
        return warned

    def release(self) -> None:
        """Return the held amount: nothing was spent."""
        if self._open:
            self._open = False
            for scope in self._scopes:
                scope._free(self._tokens, self._cost)
