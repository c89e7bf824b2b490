"""What a session's calls cost, by tier."""

from __future__ import annotations

import math

from msgspec import structs

from orchestra.values.usage import NO_USAGE, Usage


class Bill:
    """Sums usage by tier; costs exactly, so that the order in which agents were answered is no matter."""

    def __init__(self) -> None:
        self._usage: dict[str, Usage] = {}
        self._costs: dict[str, list[float]] = {}

    def charge(self, tier: str, usage: Usage) -> None:
        """Book what a call of this tier took."""
        self._usage[tier] = self._usage.get(tier, NO_USAGE) + usage
        self._costs.setdefault(tier, []).append(usage.cost or 0.0)

    @property
    def usage(self) -> dict[str, Usage]:
        """By tier, sorted."""
        return {
            tier: usage if usage.cost is None else structs.replace(usage, cost=math.fsum(self._costs[tier]))
            for tier, usage in sorted(self._usage.items())
        }
