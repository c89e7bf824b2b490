"""Models from settings: opened here, closed here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from orchestra.errors import ConfigError
from orchestra.log import get_logger
from orchestra.models.compatible.addresses import base_url
from orchestra.models.compatible.knowledge import Knowledge, Subject
from orchestra.models.compatible.known import is_local, kind_of, known_quirks
from orchestra.models.compatible.memory import InMemory, QuirksStore
from orchestra.models.compatible.quirks import Quirks, by_hand
from orchestra.models.compatible.transport import Place, Transport
from orchestra.models.fallback import Fallback
from orchestra.models.governor.listening import Ear
from orchestra.models.port import Model
from orchestra.models.settings import Endpoint, Network, TierSetting
from orchestra.models.tiers import Tiers
from orchestra.models.windows import asked_windows, table_row, window_of

Wrap = Callable[[Model, Endpoint, TierSetting], Model]
"""Puts what belongs around every call (retries, governor, spend) around a model as it is opened."""

Listen = Callable[[Endpoint], Ear]
"""What hears the replies that a model of this endpoint gets."""


class Outlook(Struct, frozen=True, kw_only=True):
    """What models need beside their settings. `store` None: what is learnt is forgotten at the end.

    `clients`: openai clients with credentials of their own, by endpoint (transport "official"); whoever
    made them closes them. `ask_windows`: ask endpoints how much their models hold where nobody knows.
    """

    network: Network = Network()
    store: QuirksStore | None = None
    wrap: Wrap | None = None
    listen: Listen | None = None
    clients: Mapping[str, Any] = {}
    ask_windows: bool = False


@asynccontextmanager
async def open_models(
    endpoints: Sequence[Endpoint],
    tiers: Mapping[str, TierSetting | Sequence[TierSetting]],
    outlook: Outlook | None = None,
) -> AsyncIterator[Tiers]:
    """The tiers' models, with connections that close when the context does.

    A tier with several settings answers from the first and falls back on the next. Nothing is sent here
    but, with `ask_windows`, one GET to each endpoint whose models' windows nobody knows. Raises ConfigError.
    """
    outlook = outlook or Outlook()
    outlook = msgspec.structs.replace(outlook, store=outlook.store or InMemory())
    chains = {tier: [one] if isinstance(one, TierSetting) else list(one) for tier, one in tiers.items()}
    by_name = {endpoint.name: endpoint for endpoint in endpoints}
    used = {name: by_name[name] for name in _used(chains, by_name)}
    async with AsyncExitStack() as stack:
        transports: dict[str, Transport] = {}
        for name, endpoint in used.items():
            transport = transport_of(endpoint, outlook)
            stack.push_async_callback(transport.close)
            transports[name] = transport
        if outlook.ask_windows:
            await _learn_windows(chains, used, transports, outlook)
        models = {
            tier: _chain(
                [model_of(used[one.endpoint], one, transports[one.endpoint], outlook) for one in chain]
            )
            for tier, chain in chains.items()
        }
        streamed = [tier for tier, chain in chains.items() if used[chain[0].endpoint].stream]
        yield Tiers(models, streamed=streamed)


def _used(chains: Mapping[str, Sequence[TierSetting]], known: Mapping[str, Endpoint]) -> list[str]:
    """The endpoints that tiers name, each once. Raises ConfigError for one that there is not."""
    for tier, chain in chains.items():
        for setting in chain:
            if setting.endpoint not in known:
                told = f"Tier {tier} names the endpoint {setting.endpoint!r}"
                key = f"tiers.{tier}.endpoint"
                raise ConfigError(f"{told}; there are {', '.join(known) or 'none'}", key=key)
    return list(dict.fromkeys(setting.endpoint for chain in chains.values() for setting in chain))


def _chain(models: Sequence[Model]) -> Model:
    return models[0] if len(models) == 1 else Fallback(models)


async def _learn_windows(
    chains: Mapping[str, Sequence[TierSetting]],
    endpoints: Mapping[str, Endpoint],
    transports: Mapping[str, Transport],
    outlook: Outlook,
) -> None:
    """Ask the endpoints for the windows that would have to be assumed, and keep what they say."""
    assert outlook.store is not None
    unknown: dict[tuple[str, str], Quirks] = {}
    for setting in (setting for chain in chains.values() for setting in chain):
        endpoint = endpoints[setting.endpoint]
        quirks = quirks_of(endpoint, setting.model, outlook.store)
        if window_of(endpoint, setting, quirks).source == "assumed":
            unknown[setting.endpoint, setting.model] = quirks
    found = await asked_windows(
        transports, [endpoints[name] for name in dict.fromkeys(name for name, _ in unknown)]
    )
    for (name, model), quirks in unknown.items():
        window = found.get((name, model))
        if window is not None:
            outlook.store.save(name, model, msgspec.structs.replace(quirks, listed_window=window))
        else:
            get_logger().warning("model.window_assumed", endpoint=name, model=model)


def quirks_of(endpoint: Endpoint, model: str, store: QuirksStore) -> Quirks:
    """What is known of a model before it is asked: remembered or from the table."""
    kind = endpoint.kind or kind_of(endpoint.url)
    return store.load(endpoint.name, model) or known_quirks(kind, model)


def transport_of(endpoint: Endpoint, outlook: Outlook) -> Transport:
    """An endpoint's connections; whoever asks for them closes them."""
    if endpoint.transport == "official":
        from orchestra.models.compatible.official import Official

        return Official(endpoint, outlook.network, client=outlook.clients.get(endpoint.name))
    parts = urlsplit(base_url(endpoint.url))
    if outlook.network.proxy_for(parts.scheme, parts.hostname or ""):
        from orchestra.models.compatible.proxied import Proxied

        return Proxied(endpoint, outlook.network)
    from orchestra.models.compatible.direct import Direct

    return Direct(endpoint, outlook.network)


def model_of(endpoint: Endpoint, setting: TierSetting, transport: Transport, outlook: Outlook) -> Model:
    """One model over an endpoint's connections, with what is known of it and its price."""
    from orchestra.models.compatible.adapter import CompatibleModel
    from orchestra.models.compatible.parse import Account

    store = outlook.store or InMemory()
    remembered = quirks_of(endpoint, setting.model, store)
    quirks = by_hand(remembered, endpoint.quirks, endpoint.name)
    window = window_of(endpoint, setting, quirks).tokens
    free = is_local(endpoint.url)
    subject = Subject(
        endpoint=endpoint.name,
        model=setting.model,
        window=window,
        url=base_url(endpoint.url),
        hand=endpoint.quirks,
    )
    knowledge = Knowledge(subject, remembered, store)
    place = Place(endpoint.name, setting.model, endpoint.key)
    price = setting.price or table_row(endpoint, setting).price
    account = Account(setting.model, price, free)
    ear = outlook.listen(endpoint) if outlook.listen else None
    model: Model = CompatibleModel(place, setting, transport, knowledge, account=account, ear=ear)
    return outlook.wrap(model, endpoint, setting) if outlook.wrap else model
