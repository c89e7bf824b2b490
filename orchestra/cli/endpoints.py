"""`orchestra endpoints`: what is configured and learnt; `test NAME` tries one out, `forget NAME` forgets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anyio
import click

from orchestra.errors import InputError

if TYPE_CHECKING:
    from orchestra.config.settings import Settings
    from orchestra.models.compatible.memory import QuirksStore
    from orchestra.models.discovery import LocalServer
    from orchestra.models.probe import Probed
    from orchestra.models.settings import Endpoint, TierSetting


@click.group(invoke_without_command=True)
@click.option("--config", help="The orchestra.toml to read.")
@click.option("--known", is_flag=True, help="List the endpoints that are known by kind instead.")
@click.pass_context
def endpoints(context: click.Context, config: str | None, known: bool) -> None:
    """Show endpoints: where they are, who uses them, what was learnt of them.

    Servers on the usual local ports are looked for; nothing else is asked.
    """
    context.obj = config
    if context.invoked_subcommand is not None:
        return
    lines = known_lines() if known else _configured_lines(config)
    click.echo("\n".join(lines))


@endpoints.command("test")
@click.argument("name")
@click.option(
    "--model", default="", help="The model to try; left out: a tier's, or the first that is listed."
)
@click.pass_obj
def test_endpoint(config: str | None, name: str, model: str) -> int:
    """Try the endpoint NAME (or a URL) with a few small calls, and remember what it refuses.

    Exit code 1 where it does not answer.
    """
    from orchestra.config.load import load_settings
    from orchestra.log import configure
    from orchestra.models.configured import quirks_store
    from orchestra.models.probe import probe

    settings = load_settings(config=config, for_models=False).settings
    configure(settings.logging.level, as_json=settings.logging.json)
    endpoint = _endpoint(settings, name)
    tiers = (tier.model for tier in settings.tiers.values() if tier.endpoint == name)
    found = anyio.run(lambda: probe(endpoint, model or next(tiers, ""), store=quirks_store(settings.store)))
    click.echo("\n".join(probed_lines(found)))
    return 0 if found.answers else 1


@endpoints.command("forget")
@click.argument("name")
@click.pass_obj
def forget_endpoint(config: str | None, name: str) -> int:
    """Forget what was learnt of the endpoint NAME (or a URL), which may hold no more: it is learnt anew.

    What is set in orchestra.toml stays.
    """
    from orchestra.config.load import load_settings
    from orchestra.models.compatible.memory import InFile
    from orchestra.models.configured import quirks_store

    settings = load_settings(config=config, for_models=False).settings
    store = quirks_store(settings.store)
    models = store.forget(name) if isinstance(store, InFile) else 0
    if not models:
        known = sorted(store.all()) if isinstance(store, InFile) else []
        there = f"of {', '.join(known)}" if known else "of no endpoint"
        raise InputError(f"Nothing is remembered of an endpoint {name!r}, only {there}.")
    click.echo(f"Forgot what was learnt of {name} ({models} model{'s' * (models > 1)}).")
    return 0


def _endpoint(settings: Settings, name: str) -> Endpoint:
    from orchestra.models.configured import endpoint
    from orchestra.models.settings import Endpoint

    if name in settings.endpoints:
        return endpoint(name, settings.endpoints[name], os.environ)
    if "://" in name:
        return Endpoint(name=name, url=name)
    known = ", ".join(settings.endpoints)
    raise InputError(f"There is no endpoint {name!r}; there are {known}. A URL will do as well.")


def _configured_lines(config: str | None) -> Iterator[str]:
    from orchestra.config.load import load_settings
    from orchestra.models.compatible.known import kind_of, known_endpoints
    from orchestra.models.configured import endpoint as adapted
    from orchestra.models.configured import quirks_store, tier_setting
    from orchestra.models.discovery import local_servers

    settings = load_settings(config=config, for_models=False).settings
    store = quirks_store(settings.store)
    for name, endpoint in settings.endpoints.items():
        kind = endpoint.kind or kind_of(endpoint.url)
        title = known_endpoints()[kind].title if kind in known_endpoints() else "unknown kind"
        key = "key set" if endpoint.key is not None else "no key"
        yield f"{name}: {endpoint.url} ({title}, {endpoint.transport}, {key})"
        for tier, setting in settings.tiers.items():
            if setting.endpoint == name:
                yield from _tier_lines(
                    tier, tier_setting(setting), adapted(name, endpoint, os.environ), store
                )
    servers: list[LocalServer] = anyio.run(local_servers)
    for server in servers:
        yield server.sentence


def _tier_lines(tier: str, setting: TierSetting, endpoint: Endpoint, store: QuirksStore) -> Iterator[str]:
    """A tier's model, what it holds and costs and who says so, and what was learnt of it."""
    from orchestra.models.compatible.known import is_local
    from orchestra.models.opening import quirks_of
    from orchestra.models.windows import table_row, window_of

    quirks = quirks_of(endpoint, setting.model, store)
    window = window_of(endpoint, setting, quirks)
    price = setting.price or table_row(endpoint, setting).price
    cost = "price unknown"
    if price is not None:
        cached = "" if price.cached_input is None else f", {price.cached_input:g} cached"
        cost = f"${price.input:g} in{cached}, {price.output:g} out a million tokens"
    elif is_local(endpoint.url):
        cost = "free"
    yield f"  {tier}: {setting.model}, window {window.tokens:,} ({window.source}), {cost}"
    for sentence in quirks.learnt:
        yield f"    {sentence}"


def known_lines() -> Iterator[str]:
    """The table of known endpoints."""
    from orchestra.models.compatible.known import known_endpoints

    for kind, row in known_endpoints().items():
        key = f"  {row.key_variable}" if row.key_variable else ""
        note = f"  ({row.note})" if row.note else ""
        yield f"{kind:11} {row.title:17} {row.url}{key}{note}"


def probed_lines(found: Probed) -> Iterator[str]:
    """What a probe found, a line each."""
    names = ", ".join(model.name for model in found.models[:8])
    more = f" and {len(found.models) - 8} more" if len(found.models) > 8 else ""
    rows: list[tuple[str, Any]] = [
        ("models", f"{names}{more}" if names else "none listed"),
        ("tried", found.model or "no model to try: name one with --model"),
    ]
    if found.answers:
        rows += [
            ("answers", f"yes, in {found.seconds:.2f} s"),
            ("window", f"{found.window:,} tokens" if found.window else "not said"),
            ("streams", ("yes" if found.streams else "no") + (", with usage" if found.stream_usage else "")),
            ("output by", found.output or "nothing that worked"),
            ("tools", {"emulated": "through structured output"}.get(found.tools, found.tools)),
            ("cost", f"{found.usage.calls} calls, {found.usage.tokens:,} tokens"),
        ]
    for label, value in rows:
        yield f"{label:10} {value}"
    for sentence in found.quirks.learnt:
        yield f"learnt     {sentence}"
    for problem in found.problems:
        yield f"problem    {problem}"
