"""What models cost and how much they hold, from the maintained table of `genai-prices`."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any

from msgspec import Struct

from orchestra.models.settings import Price


class Listed(Struct, frozen=True):
    """What the table says of a model; None where it says nothing. `window` in tokens."""

    price: Price | None = None
    window: int | None = None


@cache
def listed(provider: str, model: str) -> Listed:
    """The row of a model at a provider (its name in genai-prices), empty where there is none.

    The table is imported at the first call (0.26 s of CPU), so programs that never ask never pay.
    """
    from genai_prices import data_snapshot

    try:
        _, row = data_snapshot.get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return Listed()
    prices = row.get_prices(datetime.datetime.now(datetime.UTC))
    return Listed(_price(prices), row.context_window)


def _price(prices: Any) -> Price | None:
    """One price, or two with the length of prompt that divides them. More tiers than two are unknown here:
    the dearest is taken for the second, so that a budget errs on the safe side."""
    parts = [getattr(prices, name, None) for name in ("input_mtok", "output_mtok", "cache_read_mtok")]
    if parts[0] is None or parts[1] is None:
        return None
    base = [_base(part) for part in parts]
    price = Price(input=base[0] or 0.0, output=base[1] or 0.0, cached_input=base[2])
    starts = [tier.start for part in parts for tier in getattr(part, "tiers", ())]
    if not starts:
        return price
    top = [_top(part) for part in parts]
    above = Price(input=top[0] or 0.0, output=top[1] or 0.0, cached_input=top[2])
    return Price(
        input=price.input,
        output=price.output,
        cached_input=price.cached_input,
        above_tokens=min(starts),
        above=above,
    )


def _base(part: Any) -> float | None:
    return None if part is None else float(getattr(part, "base", part))


def _top(part: Any) -> float | None:
    tiers = getattr(part, "tiers", ())
    return max(float(tier.price) for tier in tiers) if tiers else _base(part)
