"""How many tokens a prompt may have, and how its zones share them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from orchestra.context.blocks import Zone
from orchestra.context.policy import Policy, Shares

CUTTABLE: tuple[Zone, ...] = ("tools", "memory", "knowledge", "history")


class Budget(Struct, frozen=True):
    """In tokens: usable = window - output - margin, or the policy's own `prompt_tokens` if that is less."""

    window: int
    output: int
    margin: int
    usable: int
    shares: Shares


def budget_of(window: int, policy: Policy) -> Budget:
    """The budget of one prompt for a model whose context window has `window` tokens."""
    return _budget(window, policy.output_tokens, policy.margin, policy.prompt_tokens, policy.shares)


@lru_cache(maxsize=256)  # of the windows and policies of a configuration
def _budget(window: int, reserve: int, share: float, most: int | None, shares: Shares) -> Budget:
    output = min(reserve, window // 4)
    margin = math.ceil(window * share)
    usable = max(window - output - margin, 0)
    if most is not None:
        usable = min(usable, most)
    return Budget(window, output, margin, usable, shares)


def share_out(room: int, needs: Mapping[Zone, int], shares: Shares) -> dict[Zone, int]:
    """Room for each cuttable zone: its need if that fits its share, else its share and what others leave.

    The sum is at most `room`, and at most a token for each zone below it when there is not enough.
    """
    given = dict.fromkeys(CUTTABLE, 0)
    open_zones = [zone for zone in CUTTABLE if needs.get(zone, 0) > 0]
    left = max(room, 0)
    while open_zones:
        weights = {zone: getattr(shares, zone) for zone in open_zones}
        total = sum(weights.values())
        if total <= 0:  # zones without a share live on what is left over, evenly
            weights, total = dict.fromkeys(open_zones, 1.0), float(len(open_zones))
        part = {zone: int(left * weights[zone] / total) for zone in open_zones}
        content = [zone for zone in open_zones if needs[zone] <= part[zone]]
        if not content:
            given.update(part)
            break
        for zone in content:
            given[zone] = needs[zone]
            left -= needs[zone]
        open_zones = [zone for zone in open_zones if zone not in content]
    return given
