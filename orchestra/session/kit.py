"""What all sessions of a runtime share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from orchestra.config.settings import PRESETS, Preset, SessionLimits, Settings
from orchestra.context.policy import Policy, policy_for
from orchestra.context.tokens import Counter, counter_for
from orchestra.errors import ConfigError
from orchestra.journal.journal import Journal
from orchestra.models.counts import Calibrations
from orchestra.models.tiers import Tiers
from orchestra.spend.scope import Spend
from orchestra.values.roles import Role


class Kit(Struct, frozen=True, kw_only=True):
    """What all sessions of a runtime share; nothing in it changes.

    `policies`: by preset. `clock` gives seconds since the epoch. `spend` is the runtime's own scope,
    `counts` what is known of how endpoints count.
    """

    limits: SessionLimits
    roles: Mapping[str, Role]
    policies: Mapping[str, Policy]
    tiers: Tiers
    counter: Counter
    journal: Journal
    spend: Spend
    counts: Calibrations
    clock: Callable[[], float]


def make_kit(settings: Settings, roles: Mapping[str, Role], tiers: Tiers, journal: Journal) -> Kit:
    """A runtime's kit from its settings and what was opened for it."""
    return Kit(
        limits=settings.limits,
        roles=roles,
        policies={name: policy_for(name, overrides_of(settings, name)) for name in PRESETS},
        tiers=tiers,
        counter=counter_for(tiers.model_for("large").name),
        journal=journal,
        spend=Spend("runtime", tokens=settings.runtime.tokens, cost=settings.runtime.dollars),
        counts=Calibrations(),
        clock=time.time,
    )


def overrides_of(settings: Settings, preset: Preset) -> dict[str, Any]:
    """What the configuration says of a context preset, without what it leaves as it is."""
    given = settings.context.get(preset)
    return dict(given.figures()) if given is not None else {}


def check_prices(tiers: Tiers, settings: Settings) -> None:
    """A limit of money means nothing for a model whose price is unknown. Raises ConfigError."""
    if settings.runtime.unpriced or (settings.limits.dollars is None and settings.runtime.dollars is None):
        return
    for tier, model in tiers.items():
        if model.cost(1_000, 1_000) is None:
            raise ConfigError(
                f"Money is limited and the price of {model.name} (tier {tier}) is unknown: set price_in and "
                f"price_out of tiers.{tier}, limit tokens instead, or set runtime.unpriced = true.",
                key=f"tiers.{tier}.price_in",
            )
