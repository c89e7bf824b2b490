"""What is looked at before a session or a runtime opens."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestra.config.settings import PRESETS, Preset, Settings
from orchestra.context.policy import policy_for
from orchestra.context.tokens import counter_for
from orchestra.errors import ConfigError, InputError
from orchestra.journal.address import read_address
from orchestra.journal.journal import Journal
from orchestra.journal.records import Status
from orchestra.models.counts import Calibrations
from orchestra.models.meaning import Meaning
from orchestra.models.tiers import Tiers
from orchestra.session.kit import Kit
from orchestra.session.session import INTERRUPTED
from orchestra.spend.scope import Spend
from orchestra.tools.choosing import Chooser, Choosing
from orchestra.values.roles import Role


def check_question(question: str) -> None:
    """Raises InputError for a question that holds no word."""
    if not any(character.isalnum() for character in question):
        raise InputError("The question is empty; ask one in words.", key="QUESTION")


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


def nothing_to_read(folder: str, problems: tuple[str, ...]) -> str:
    """One sentence for a folder without a document."""
    first = (
        f" ({problems[0]}{f'; and {len(problems) - 1} more' if len(problems) > 1 else ''})"
        if problems
        else ""
    )
    return f"The folder {folder!r} holds no document that can be read{first}; put some there or name another."


def end_of(stopped: str) -> Status:
    """How a session that gave a result ended."""
    if not stopped:
        return "done"
    return "interrupted" if stopped == INTERRUPTED else "partial"


def index_file(settings: Settings) -> str:
    """Where the index of documents lies: beside the journal, or beside the reports when that is a server."""
    address = read_address(settings.store)
    if address.kind == "memory":
        return ":memory:"
    folder = address.path.parent if address.path is not None else Path(settings.reports).parent
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / "documents.db")


def overrides_of(settings: Settings, preset: Preset) -> dict[str, Any]:
    """What the configuration says of a context preset, without what it leaves as it is."""
    given = settings.context.get(preset)
    return dict(given.figures()) if given is not None else {}


def make_kit(
    settings: Settings,
    roles: Mapping[str, Role],
    tiers: Tiers,
    journal: Journal,
    meaning: Meaning | None = None,
) -> Kit:
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
        chooser=Chooser(_choosing(settings), journal.tools_used),
        groups=settings.tools.groups,
        meaning=meaning,
    )


def _choosing(settings: Settings) -> Choosing:
    """How tools are chosen, as the settings say."""
    said = settings.tools
    path = read_address(settings.store).path
    return Choosing(
        most=said.most,
        chosen=said.chosen,
        embedding=said.embedding,
        learn=said.learn,
        vectors=path.parent / "vectors.db" if path is not None else None,
    )
