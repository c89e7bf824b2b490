"""What a session's calls cost, by tier."""

from __future__ import annotations

import math

from msgspec import structs

from orchestra.values.usage import Tally, Usage


class Bill:
    """Sums usage by tier; costs exactly, so that the order in which agents were answered is no matter."""

    __slots__ = ("_costs", "_tallies")

    def __init__(self) -> None:
        self._tallies: dict[str, Tally] = {}
        self._costs: dict[str, list[float]] = {}

    def charge(self, tier: str, usage: Usage) -> None:
        """Book what a call of this tier took."""
        tally = self._tallies.get(tier)
        if tally is None:
            tally = self._tallies[tier] = Tally()
            self._costs[tier] = []
        tally.add(usage)
        if usage.cost:
            self._costs[tier].append(usage.cost)

    @property
    def usage(self) -> dict[str, Usage]:
        """By tier, sorted."""
        summed = {tier: tally.usage for tier, tally in sorted(self._tallies.items())}
        return {
            tier: usage if usage.cost is None else structs.replace(usage, cost=math.fsum(self._costs[tier]))
            for tier, usage in summed.items()
        }
