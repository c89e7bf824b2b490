"""What all sessions of a runtime share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from orchestra.config.settings import SessionLimits
from orchestra.context.policy import Policy
from orchestra.context.tokens import Counter
from orchestra.evidence.quotes import Shelf
from orchestra.journal.journal import Journal
from orchestra.models.counts import Calibrations
from orchestra.models.meaning import Meaning
from orchestra.models.tiers import Tiers
from orchestra.spend.scope import Spend
from orchestra.tools.choosing import Chooser
from orchestra.tools.groups import Groups
from orchestra.tools.within import Timekeeper
from orchestra.values.roles import Role


class Kit(Struct, frozen=True, kw_only=True):
    """What all sessions of a runtime share; nothing in it changes.

    `policies`: by preset. `clock` gives seconds since the epoch. `spend` is the runtime's own scope,
    `counts` what is known of how endpoints count. `chooser` chooses
    among many tools; `groups`: of tools, by name. `shelf`: documents as they are quoted from.
    `meaning`: makes vectors for recall, None without an embedding model. `times`: ends what takes too long.
    """

    limits: SessionLimits
    roles: Mapping[str, Role]
    policies: Mapping[str, Policy]
    tiers: Tiers
    counter: Counter
    journal: Journal
    spend: Spend
    counts: Calibrations
    chooser: Chooser
    groups: Groups = {}
    meaning: Meaning | None = None
    clock: Callable[[], float]
    shelf: Shelf = field(default_factory=Shelf)
    times: Timekeeper = field(default_factory=Timekeeper)
