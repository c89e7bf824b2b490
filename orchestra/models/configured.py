"""From the settings that a person wrote to models that answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from orchestra.config.embedding import endpoint_of
from orchestra.config.endpoints import Endpoint as EndpointSetting
from orchestra.config.endpoints import Tier
from orchestra.config.settings import Settings
from orchestra.context.recall.embedding import installed
from orchestra.journal.address import read_address
from orchestra.models.compatible.embeddings import EndpointEmbeddings
from orchestra.models.compatible.memory import InFile, InMemory, QuirksStore
from orchestra.models.compatible.transport import Place
from orchestra.models.extractive.model import Extractive
from orchestra.models.guarding import Guard, chained
from orchestra.models.meaning import Installed, Meaning, Source, at_work
from orchestra.models.opening import Outlook, open_models, transport_of
from orchestra.models.port import Model
from orchestra.models.settings import Endpoint, Network, Price, Rates, TierSetting, Times
from orchestra.models.tiers import Tiers

QUIRKS_FILE = "endpoints.json"


@asynccontextmanager
async def configured_models(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    count: Callable[[str], int],
    guard: Guard | None = None,
) -> AsyncIterator[Tiers]:
    """The tiers' models, open until the block ends. Raises ConfigError.

    `environ`: where the variables named by `key_env` and the proxies are looked up. Nothing is sent here
    but the question how much a model holds, to endpoints where nobody knows and only once. `guard`: the
    governors of who asks, made here where None is given.
    """
    models: dict[str, Model] = {}
    remote: dict[str, list[TierSetting]] = {}
    for name, tier in settings.tiers.items():
        if tier.built_in:
            models[name] = Extractive(count)
        else:
            chain = [tier, *(settings.tiers[other] for other in tier.fallback)]
            remote[name] = chained([tier_setting(link) for link in chain if not link.built_in])
    if not remote:
        yield Tiers(models)
        return
    endpoints = [endpoint(name, each, environ) for name, each in settings.endpoints.items()]
    guard = guard or Guard()
    outlook = Outlook(
        network=Network.from_environment(environ),
        store=quirks_store(settings.store),
        wrap=guard.wrap,
        listen=guard.listen,
        ask_windows=True,
    )
    async with open_models(endpoints, remote, outlook) as tiers:
        yield Tiers({**models, **tiers}, streamed=tiers.streamed)


@asynccontextmanager
async def configured_meaning(
    settings: Settings, environ: Mapping[str, str], *, guard: Guard | None = None
) -> AsyncIterator[Meaning | None]:
    """What makes vectors for recall, at work until the block ends; None where there is no embedding model.

    Nothing is sent or loaded before the first text is wanted. `guard` as for `configured_models`.
    """
    said = settings.recall
    at = endpoint_of(said.embedding)
    async with AsyncExitStack() as stack:
        source: Source | None = None
        if at is not None:
            name, model = at
            place = endpoint(name, settings.endpoints[name], environ)
            guard = guard or Guard()
            transport = transport_of(place, Outlook(network=Network.from_environment(environ)))
            stack.push_async_callback(transport.close)
            source = EndpointEmbeddings(Place(name, model, place.key), transport, guard.of(place))
        elif said.embedding != "none" and (said.embedding != "auto" or installed()):
            source = Installed(said.embedding)
        meaning = Meaning(source, said.wait_seconds) if source is not None else None
        yield await stack.enter_async_context(at_work(meaning))


def quirks_store(store: str) -> QuirksStore:
    """What was learnt of endpoints lies beside the store's file; beside no file it is learnt anew."""
    address = read_address(store)
    return InFile(address.path.with_name(QUIRKS_FILE)) if address.path is not None else InMemory()


def keys_of(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every value that must never be written anywhere."""
    found = [key_of(each, environ) for each in settings.endpoints.values()]
    found += [secret.reveal() for each in settings.endpoints.values() for secret in each.headers.values()]
    return tuple(value for value in found if value)


def key_of(endpoint: EndpointSetting, environ: Mapping[str, str]) -> str:
    """The endpoint's key, "" where it has none."""
    if endpoint.key is not None:
        return endpoint.key.reveal()
    return environ.get(endpoint.key_env, "") if endpoint.key_env else ""


def endpoint(name: str, setting: EndpointSetting, environ: Mapping[str, str]) -> Endpoint:
    """A setting in the adapter's own words."""
    return Endpoint(
        name=name,
        url=setting.url,
        key=key_of(setting, environ),
        kind=setting.kind or "",
        api_version=setting.api_version or "",
        quirks=setting.quirks,
        compress_over=setting.compress_over,
        stream=setting.stream,
        transport=setting.transport,
        headers={header: value.reveal() for header, value in setting.headers.items()},
        times=Times(
            connect_seconds=setting.connect_seconds,
            first_byte_seconds=setting.first_byte_seconds,
            silence_seconds=setting.silence_seconds,
            total_seconds=setting.total_seconds,
        ),
        rates=Rates(
            concurrent_calls=setting.concurrent_calls,
            requests_per_minute=setting.requests_per_minute,
            tokens_per_minute=setting.tokens_per_minute,
            queued_calls=setting.queued_calls,
            tries=setting.tries,
        ),
    )


def tier_setting(tier: Tier) -> TierSetting:
    """A tier in the adapter's own words; a price needs both of its sides."""
    price = None
    if tier.price_in is not None and tier.price_out is not None:
        price = Price(input=tier.price_in, output=tier.price_out, cached_input=tier.price_cached)
    temperature = {} if tier.temperature is None else {"temperature": tier.temperature}
    return TierSetting(
        endpoint=tier.endpoint,
        model=tier.model,
        window=tier.window,
        max_output=tier.output_tokens,
        price=price,
        reasoning_effort=tier.reasoning_effort or "",
        thinking_tokens=tier.thinking_tokens,
        parallel_calls=tier.parallel_calls,
        extra={**tier.extra, **temperature},
    )
