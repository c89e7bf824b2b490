"""Models from settings: opened here, closed here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec
from msgspec import Struct

from orchestra.errors import ConfigError
from orchestra.models.compatible.addresses import base_url
from orchestra.models.compatible.knowledge import Knowledge
from orchestra.models.compatible.known import is_local, kind_of, known_endpoints, known_quirks
from orchestra.models.compatible.memory import InMemory, QuirksStore
from orchestra.models.compatible.quirks import by_hand
from orchestra.models.compatible.transport import Place, Transport
from orchestra.models.fallback import Fallback
from orchestra.models.port import Model
from orchestra.models.prices import Listed, listed
from orchestra.models.settings import Endpoint, Network, TierSetting
from orchestra.models.tiers import Tiers

Wrap = Callable[[Model, Endpoint, TierSetting], Model]
"""Puts what belongs around every call (retries, governor, spend) around a model as it is opened."""

SAFE_WINDOW = 8_192
"""Tokens, where neither settings nor table know better: the least that current models are served with."""


class Outlook(Struct, frozen=True, kw_only=True):
    """What models need beside their settings. `store` None: what is learnt is forgotten at the end.

    `clients`: openai clients with credentials of their own, by endpoint (transport "official"); whoever
    made them closes them.
    """

    network: Network = Network()
    store: QuirksStore | None = None
    wrap: Wrap | None = None
    clients: Mapping[str, Any] = {}


@asynccontextmanager
async def open_models(
    endpoints: Sequence[Endpoint],
    tiers: Mapping[str, TierSetting | Sequence[TierSetting]],
    outlook: Outlook | None = None,
) -> AsyncIterator[Tiers]:
    """The tiers' models, with connections that close when the context does.

    A tier with several settings answers from the first and falls back on the next. Nothing is sent here.
    Raises ConfigError.
    """
    outlook = outlook or Outlook()
    outlook = msgspec.structs.replace(outlook, store=outlook.store or InMemory())
    by_name = {endpoint.name: endpoint for endpoint in endpoints}
    async with AsyncExitStack() as stack:
        transports: dict[str, Transport] = {}
        models: dict[str, Model] = {}
        for tier, settings in tiers.items():
            chain = [settings] if isinstance(settings, TierSetting) else list(settings)
            opened = []
            for setting in chain:
                endpoint = by_name.get(setting.endpoint)
                if endpoint is None:
                    raise ConfigError(
                        f"Tier {tier} names the endpoint {setting.endpoint!r}; "
                        f"there are {', '.join(by_name) or 'none'}",
                        key=f"tiers.{tier}.endpoint",
                    )
                if endpoint.name not in transports:
                    transport = transports[endpoint.name] = transport_of(endpoint, outlook)
                    stack.push_async_callback(transport.close)
                opened.append(model_of(endpoint, setting, transports[endpoint.name], outlook))
            models[tier] = opened[0] if len(opened) == 1 else Fallback(opened)
        yield Tiers(models)


def transport_of(endpoint: Endpoint, outlook: Outlook) -> Transport:
    """An endpoint's connections; whoever asks for them closes them."""
    if endpoint.transport == "official":
        from orchestra.models.compatible.official import Official

        return Official(endpoint, outlook.network, client=outlook.clients.get(endpoint.name))
    from orchestra.models.compatible.direct import Direct

    return Direct(endpoint, outlook.network)


def model_of(endpoint: Endpoint, setting: TierSetting, transport: Transport, outlook: Outlook) -> Model:
    """One model over an endpoint's connections, with what is known of it and its price."""
    from orchestra.models.compatible.adapter import CompatibleModel

    store = outlook.store or InMemory()
    kind = endpoint.kind or kind_of(endpoint.url)
    quirks = store.load(endpoint.name, setting.model) or known_quirks(kind, setting.model)
    quirks = by_hand(quirks, endpoint.quirks, endpoint.name)
    row = known_endpoints().get(kind)
    free = is_local(endpoint.url)
    table = Listed()
    if row and row.prices and not free and (setting.price is None or setting.window is None):
        table = listed(row.prices, setting.model)
    window = setting.window or table.window or (row.window if row else None) or SAFE_WINDOW
    knowledge = Knowledge(endpoint.name, setting.model, quirks, store, window, url=base_url(endpoint.url))
    place = Place(endpoint.name, setting.model, endpoint.key)
    price = setting.price or table.price
    model: Model = CompatibleModel(place, setting, transport, knowledge, price=price, free=free)
    return outlook.wrap(model, endpoint, setting) if outlook.wrap else model
