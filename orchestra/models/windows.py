"""How much a model holds, and how that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import anyio
from msgspec import Struct

from orchestra.errors import ModelError
from orchestra.models.compatible.known import is_local, kind_of, known_endpoints
from orchestra.models.compatible.quirks import Quirks
from orchestra.models.compatible.transport import Place, Transport
from orchestra.models.discovery import Offered, offered
from orchestra.models.prices import Listed, listed
from orchestra.models.settings import Endpoint, TierSetting

SAFE_WINDOW = 8_192
"""Tokens, where nobody knows better: the least that current models are served with."""

Source = Literal["set", "endpoint", "table", "assumed"]
_ASKING_SECONDS = 3.0


class Window(Struct, frozen=True):
    """`tokens`, and who said so; an assumed window may be far from the truth, and is said to be assumed."""

    tokens: int
    source: Source


def window_of(endpoint: Endpoint, setting: TierSetting, quirks: Quirks) -> Window:
    """By settings, by what the endpoint said, by the table, else a safe value for this kind of endpoint."""
    if setting.window is not None:
        return Window(setting.window, "set")
    if quirks.listed_window is not None:
        return Window(quirks.listed_window, "endpoint")
    table = table_row(endpoint, setting)
    if table.window is not None:
        return Window(table.window, "table")
    row = known_endpoints().get(endpoint.kind or kind_of(endpoint.url))
    return Window(row.window if row and row.window else SAFE_WINDOW, "assumed")


def table_row(endpoint: Endpoint, setting: TierSetting) -> Listed:
    """The model's row in the table of prices; empty for local servers, and where nothing is asked of it."""
    row = known_endpoints().get(endpoint.kind or kind_of(endpoint.url))
    wanted = setting.price is None or setting.window is None
    if row is None or not row.prices or is_local(endpoint.url) or not wanted:
        return Listed()
    return listed(row.prices, setting.model)


async def asked_windows(
    transports: Mapping[str, Transport], endpoints: Sequence[Endpoint]
) -> Mapping[tuple[str, str], int]:
    """(endpoint, model) → window, as the endpoints list them; asked all at once, and briefly.

    An endpoint that does not answer says nothing here: the first call will say what is wrong with it.
    """
    found: dict[tuple[str, str], int] = {}

    async def ask(endpoint: Endpoint) -> None:
        models: tuple[Offered, ...] = ()
        with anyio.move_on_after(_ASKING_SECONDS):
            try:
                models = await offered(transports[endpoint.name], Place(endpoint.name, "", endpoint.key))
            except ModelError:
                return
        found.update({(endpoint.name, model.name): model.window for model in models if model.window})

    async with anyio.create_task_group() as group:
        for endpoint in endpoints:
            group.start_soon(ask, endpoint)
    return found
