"""Nested budgets of tokens and money: reserved before a call, settled after it.

Scopes nest: runtime, session, agent. All methods are plain functions without an await, so under one
event loop each is atomic and concurrent calls can never spend the same token twice.
"""

from __future__ import annotations

from orchestra.errors import LimitReached
from orchestra.values.usage import NO_USAGE, Usage

# Above this share of a limit an agent is told to finish with what it has (design §8).
WRAP_UP_SHARE = 0.9


class Spend:
    """One scope. `tokens` and `cost` (US dollars) are limits; None means none of its own.

    A call whose price is unknown is held to the token limits only.
    """

    __slots__ = ("_held_cost", "_held_tokens", "_parent", "_used", "cost", "name", "tokens")

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
        self._used = NO_USAGE
        self._held_tokens = 0
        self._held_cost = 0.0

    @property
    def used(self) -> Usage:
        """What settled calls have cost."""
        return self._used

    @property
    def share(self) -> float:
        """The largest used or held share of any limit from here outwards; 0.0 without limits."""
        shares = [0.0]
        if self.tokens:
            shares.append((self._used.tokens + self._held_tokens) / self.tokens)
        if self.cost:
            shares.append(((self._used.cost or 0.0) + self._held_cost) / self.cost)
        if self._parent is not None:
            shares.append(self._parent.share)
        return max(shares)

    def reserve(self, tokens: int, cost: float | None) -> Reservation:
        """Hold a call's worst case in this scope and all around it; raises LimitReached, holding nothing."""
        scope: Spend | None = self
        while scope is not None:
            scope._check(tokens, cost)
            scope = scope._parent
        self._hold(tokens, cost or 0.0)
        return Reservation(self, tokens, cost or 0.0)

    def reserve_nothing(self) -> Reservation:
        """For a call that was made before and is in the record: it is booked, and never refused."""
        return Reservation(self, 0, 0.0)

    def _check(self, tokens: int, cost: float | None) -> None:
        if self.tokens is not None:
            left = self.tokens - self._used.tokens - self._held_tokens
            if tokens > left:
                raise LimitReached(
                    f"{self.name}: the next call may take {tokens:,} tokens and {max(left, 0):,} of "
                    f"{self.tokens:,} are left; raise the token limit or ask for less.",
                    limit="tokens",
                )
        if self.cost is not None and cost is not None:
            free = self.cost - (self._used.cost or 0.0) - self._held_cost
            if cost > free:
                raise LimitReached(
                    f"{self.name}: the next call may cost ${cost:.4f} and ${max(free, 0.0):.4f} of "
                    f"${self.cost:.4f} are left; raise the budget or ask for less.",
                    limit="money",
                )

    def _hold(self, tokens: int, cost: float) -> None:
        scope: Spend | None = self
        while scope is not None:
            scope._held_tokens += tokens
            scope._held_cost += cost
            scope = scope._parent

    def _settle(self, usage: Usage) -> None:
        scope: Spend | None = self
        while scope is not None:
            scope._used = scope._used + usage
            scope = scope._parent


class Reservation:
    """A held worst case; settle it with what the call really took, or release it. Either works once."""

    __slots__ = ("_cost", "_open", "_scope", "_tokens")

    def __init__(self, scope: Spend, tokens: int, cost: float) -> None:
        self._scope = scope
        self._tokens = tokens
        self._cost = cost
        self._open = True

    def settle(self, usage: Usage) -> None:
        """Return the held amount and book `usage`."""
        if self._open:
            self.release()
            self._scope._settle(usage)

    def release(self) -> None:
        """Return the held amount: nothing was spent."""
        if self._open:
            self._open = False
            self._scope._hold(-self._tokens, -self._cost)
