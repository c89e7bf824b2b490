"""What a session's calls cost, by tier."""

from __future__ import annotations

import math
from collections import defaultdict

from msgspec import structs

from orchestra.values.usage import Usage


class Bill:
    """Keeps what each call took, and sums it when somebody looks.

    Costs are summed exactly, so that the order in which agents were answered is no matter.
    """

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: defaultdict[str, list[Usage]] = defaultdict(list)

    def charge(self, tier: str, usage: Usage) -> None:
        """Book what a call of this tier took."""
        self._calls[tier].append(usage)

    @property
    def usage(self) -> dict[str, Usage]:
        """By tier, sorted."""
        return {tier: _sum(calls) for tier, calls in sorted(self._calls.items())}


def _sum(calls: list[Usage]) -> Usage:
    *counts, costs = zip(*map(structs.astuple, calls), strict=True)
    number, given, made, cached, reasoning = map(sum, counts)
    return Usage(number, given, made, cached, reasoning, None if None in costs else math.fsum(costs))
