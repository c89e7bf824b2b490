"""Which model answers in which tier, and why.

The tiers of the file, or the defaults, are the start; then each source, in rising order, may choose again.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from orchestra.config.addresses import is_local, is_url, url_fault
from orchestra.config.defaults import EXTRACTIVE_TIER, OPENAI_TIERS, OPENAI_URL
from orchestra.config.given import Given, Place
from orchestra.config.nearest import hint
from orchestra.config.secret import Secret
from orchestra.config.settings import EXTRACTIVE, OPENAI, Endpoint, Tier

BOTH = ("small", "large")


class Selected(Struct, frozen=True, kw_only=True):
    """What one source says about the models; None where it says nothing."""

    models: Given | None = None
    small: Given | None = None
    large: Given | None = None
    endpoint: Given | None = None

    @property
    def names(self) -> bool:
        """Whether it names a model."""
        return self.small is not None or self.large is not None


class Choice(Struct, frozen=True, kw_only=True):
    """Endpoints, tiers and the reasons for them so far."""

    endpoints: Mapping[str, Endpoint]
    tiers: Mapping[str, Tier]
    reasons: tuple[str, ...]

    def sentence(self) -> str:
        """For people: the two tiers that always exist, where they are, and the reasons."""
        small, large = (self.tiers[name] for name in BOTH)
        at = {tier.endpoint: "" if tier.built_in else f" at {self._place(tier)}" for tier in (small, large)}
        if small.model == large.model and small.endpoint == large.endpoint:
            models = self._model(small) + at[small.endpoint]
        elif small.endpoint == large.endpoint:
            models = f"small {self._model(small)}, large {self._model(large)}{at[small.endpoint]}"
        else:
            models = ", ".join(
                f"{name} {self._model(tier)}{at[tier.endpoint]}"
                for name, tier in zip(BOTH, (small, large), strict=True)
            )
        return f"models: {models} - {'; '.join(self.reasons)}"

    def _model(self, tier: Tier) -> str:
        return "extractive (built in)" if tier.built_in else tier.model

    def _place(self, tier: Tier) -> str:
        endpoint = self.endpoints[tier.endpoint]
        return tier.endpoint if endpoint.url == OPENAI_URL else f"{tier.endpoint} ({endpoint.url})"


def apply(choice: Choice, selected: Selected, key: Secret | None) -> Choice:
    """The choice after one more source. `key`: for an endpoint given as a URL. Raises ConfigError."""
    at: str | None = None
    models, small, large = selected.models, selected.small, selected.large
    if selected.endpoint is not None:
        choice, at = _endpoint(choice, selected.endpoint, key)
        if models is not None and models.value not in (EXTRACTIVE, *choice.endpoints):
            small, large, models = small or models, large or models, None
    chosen = Selected(models=models, small=small, large=large, endpoint=selected.endpoint)
    if models is not None:
        choice = _whole(choice, models, chosen)
    elif selected.endpoint is not None and at is not None:
        choice = _all_at(choice, at, selected.endpoint, chosen)
    return _named(choice, chosen, at)


def _endpoint(choice: Choice, given: Given, key: Secret | None) -> tuple[Choice, str]:
    """The name of an endpoint given by name or URL; a new URL becomes an endpoint named by its host."""
    text: str = given.value
    if not is_url(text):
        if text not in choice.endpoints:
            raise given.error(f'there is no endpoint "{text}".{hint(text, choice.endpoints)}')
        return choice, text
    if fault := url_fault(text):
        raise given.error(fault)
    for name, endpoint in choice.endpoints.items():
        if endpoint.url.rstrip("/") == text.rstrip("/"):
            return choice, name
    name = urlsplit(text).netloc
    endpoints = {**choice.endpoints, name: Endpoint(url=text, key=key)}
    return Choice(endpoints=endpoints, tiers=choice.tiers, reasons=choice.reasons), name


def _whole(choice: Choice, models: Given, chosen: Selected) -> Choice:
    """All tiers moved to the built-in model or to one endpoint."""
    if models.value == EXTRACTIVE:
        tiers = dict.fromkeys((*choice.tiers, *BOTH), EXTRACTIVE_TIER)
        return Choice(endpoints=choice.endpoints, tiers=tiers, reasons=(_reason(models),))
    if models.value not in choice.endpoints:
        valid = (EXTRACTIVE, *choice.endpoints)
        raise models.error(
            f'there is no endpoint "{models.value}".{hint(models.value, valid)}'
            " A model's name goes with --small or --large."
        )
    return _all_at(choice, models.value, models, chosen)


def _all_at(choice: Choice, name: str, given: Given, chosen: Selected) -> Choice:
    """The tiers that are at an endpoint stay; OpenAI's have defaults; the others follow one of them."""
    tiers = {key: tier for key, tier in choice.tiers.items() if tier.endpoint == name}
    if name == OPENAI:
        tiers = {**OPENAI_TIERS, **tiers}
    elif not tiers and not chosen.names:
        raise given.error(f'no tier uses the endpoint "{name}"; name its models with --small and --large.')
    if tiers:
        follow = tiers.get("small") or tiers.get("large") or next(iter(tiers.values()))
        rest = {key: follow for key in (*choice.tiers, *BOTH) if key not in tiers}
        tiers = {**tiers, **rest}
    return Choice(endpoints=choice.endpoints, tiers=tiers, reasons=(_reason(given),))


def _named(choice: Choice, chosen: Selected, at: str | None) -> Choice:
    """The models named one by one; a tier that has none of its own follows the other."""
    tiers = dict(choice.tiers)
    given = {
        name: each for name, each in (("small", chosen.small), ("large", chosen.large)) if each is not None
    }
    if not given:
        return choice
    for name, each in given.items():
        tiers[name] = _tier(each.value, at, tiers.get(name))
    for name in BOTH:
        if name not in given and (name not in tiers or tiers[name].built_in):
            tiers[name] = tiers["small" if name == "large" else "large"]
    names = tuple(dict.fromkeys(_reason(each) for each in given.values()))
    kept = (
        ()
        if set(given) == set(BOTH) and chosen.models is None and chosen.endpoint is None
        else choice.reasons
    )
    return Choice(endpoints=choice.endpoints, tiers=tiers, reasons=(*kept, *names))


def _tier(model: str, at: str | None, before: Tier | None) -> Tier:
    """A tier for a model by name: what was set for that very model at that endpoint stays."""
    if model == EXTRACTIVE:
        return EXTRACTIVE_TIER
    endpoint = at or (before.endpoint if before is not None and not before.built_in else OPENAI)
    if before is not None and (before.model, before.endpoint) == (model, endpoint):
        return before
    known = (tier for tier in OPENAI_TIERS.values() if (tier.model, tier.endpoint) == (model, endpoint))
    return next(known, Tier(endpoint=endpoint, model=model))


def _reason(given: Given) -> str:
    place: Place = given.place
    if place.file is not None:
        return f'models = "{given.value}" in {place.describe()}'
    return f"{place.name} {given.value}" if place.name.startswith("-") else f"{place.name}={given.value}"


def key_fault(name: str, endpoint: Endpoint, given_key_env: Given | None, *, empty: bool) -> str:
    """Why an endpoint that is used cannot be asked for want of a key, as a sentence, or ""."""
    needs = given_key_env is not None or endpoint.url == OPENAI_URL
    if endpoint.key is not None or endpoint.key_env is None or not needs:
        return ""
    state = "is set but empty" if empty else "is not set"
    return (
        f'the endpoint "{name}" reads its key from {endpoint.key_env}, which {state};'
        " set it, name another server with --endpoint, or use --models extractive, which needs none."
    )


def exposed_key(name: str, endpoint: Endpoint) -> str:
    """A warning where a key would travel unencrypted to another machine, or ""."""
    if endpoint.key is None or endpoint.url.startswith("https://") or is_local(endpoint.url):
        return ""
    return f'the endpoint "{name}" is sent its key unencrypted ({endpoint.url}); use https://.'
