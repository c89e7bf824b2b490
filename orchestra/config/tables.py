"""The named tables of the file: endpoints, tiers and context presets, made whole and checked together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from orchestra.config.addresses import url_fault
from orchestra.config.choice import BOTH, Choice, key_fault
from orchestra.config.defaults import (
    EXTRACTIVE_TIER,
    EXTRACTIVE_TIERS,
    OPENAI_ENDPOINT,
    OPENAI_KEY,
    OPENAI_TIERS,
)
from orchestra.config.given import Given, Place
from orchestra.config.nearest import hint
from orchestra.config.secret import Secret
from orchestra.config.settings import EXTRACTIVE, OPENAI, ContextOverride, Endpoint, Tier
from orchestra.config.sources import Source
from orchestra.errors import ConfigError


class Tables:
    """Reads one file's tables once; `problems` grows while they are read."""

    def __init__(self, source: Source, environ: Mapping[str, str], label: str | None) -> None:
        self.problems: list[ConfigError] = []
        self._givens = {given.path: given for given in source.givens}
        self._places = source.tables
        self._environ = environ
        self._label = label
        self.endpoints = self._read_endpoints()
        self.tiers = self._read_tiers()
        self._check_fallbacks()

    def start(self) -> Choice:
        """The tiers before anybody chose others, and why they are these."""
        if self.tiers:
            reason = f"tiers in {self._label}"
            return Choice(endpoints=self.endpoints, tiers=self.tiers, reasons=(reason,))
        tiers, reason = self._without_tiers()
        return Choice(endpoints=self.endpoints, tiers=tiers, reasons=(reason,))

    def _without_tiers(self) -> tuple[Mapping[str, Tier], str]:
        endpoint = self.endpoints[OPENAI]
        if endpoint.key is not None:
            where = f"{OPENAI_KEY} is set" if endpoint.key_env == OPENAI_KEY else f"a key for {OPENAI} is set"
            return OPENAI_TIERS, where
        word = "an empty" if OPENAI_KEY in self._environ else "no"
        more = "OPENAI_BASE_URL names a server but no model is named, " if self._base_url() else ""
        file = f"no tiers in {self._label}" if self._label else "no orchestra.toml"
        return EXTRACTIVE_TIERS, f"{more}{word} {OPENAI_KEY} and {file}"

    def contexts(self) -> dict[Any, ContextOverride]:
        """Overrides by preset."""
        return {name: ContextOverride(**self._values("context", name)) for name in self._names("context")}

    def unusable(self, choice: Choice) -> list[ConfigError]:
        """A problem for each endpoint that a tier uses and that lacks its key."""
        problems = []
        for name in dict.fromkeys(tier.endpoint for tier in choice.tiers.values() if not tier.built_in):
            given, endpoint = self._given("endpoints", name, "key_env"), choice.endpoints[name]
            empty = endpoint.key_env is not None and endpoint.key_env in self._environ
            if fault := key_fault(name, endpoint, given, empty=empty):
                place = given.place if given is not None else Place()
                problems.append(place.error(f"endpoints.{name}.key_env", fault))
        return problems

    def _names(self, table: str) -> list[str]:
        return [path[1] for path in self._places if path[0] == table]

    def _values(self, table: str, name: str) -> dict[str, Any]:
        return {path[2]: each.value for path, each in self._givens.items() if path[:2] == (table, name)}

    def _given(self, *path: str) -> Given | None:
        return self._givens.get(path)

    def _base_url(self) -> str:
        return self._environ.get("OPENAI_BASE_URL", "").strip()

    def _read_endpoints(self) -> dict[str, Endpoint]:
        endpoints = {}
        for name in dict.fromkeys((*self._names("endpoints"), OPENAI)):
            values = self._values("endpoints", name)
            if name == OPENAI:
                values = {"url": OPENAI_ENDPOINT.url, "key_env": OPENAI_KEY} | values
                values["url"] = self._base_url() or values["url"]
            endpoints[name] = self._endpoint(name, values)
        return endpoints

    def _endpoint(self, name: str, values: dict[str, Any]) -> Endpoint:
        url = values.get("url")
        given = self._given("endpoints", name, "url")
        place = given.place if given is not None else self._places.get(("endpoints", name), Place())
        if name == OPENAI and self._base_url():
            place = Place(name="OPENAI_BASE_URL")
        if url is None:
            self.problems.append(place.error(f"endpoints.{name}", "has no url."))
            return Endpoint(url="http://localhost", **values)
        if fault := url_fault(url):
            self.problems.append(place.error(f"endpoints.{name}.url", fault))
        variable = values.get("key_env")
        word = self._environ.get(variable, "") if variable else ""
        if word.strip():
            values["key"] = Secret(word.strip())
        return Endpoint(**values)

    def _read_tiers(self) -> dict[str, Tier]:
        tiers = {name: self._tier(name, self._values("tiers", name)) for name in self._names("tiers")}
        if not tiers:
            return {}
        either = tiers.get("small") or tiers.get("large")
        if either is None:
            return {**self._without_tiers()[0], **tiers}
        # A file that only adjusts one of OpenAI's defaults keeps the other.
        of_openai = any(self._is(either, known) for known in OPENAI_TIERS.values())
        return {**(OPENAI_TIERS if of_openai else dict.fromkeys(BOTH, either)), **tiers}

    @staticmethod
    def _is(tier: Tier, known: Tier) -> bool:
        return (tier.endpoint, tier.model) == (known.endpoint, known.model)

    def _tier(self, name: str, values: dict[str, Any]) -> Tier:
        own = [each for each in self._names("endpoints") if each != OPENAI]
        endpoint = values.pop("endpoint", own[0] if len(own) == 1 else OPENAI)
        place = self._places["tiers", name]
        if endpoint == EXTRACTIVE:
            values.pop("model", None)
            return structs.replace(EXTRACTIVE_TIER, **values)
        if endpoint not in self.endpoints:
            given = self._given("tiers", name, "endpoint")
            where = given.place if given is not None else place
            sentence = f'there is no endpoint "{endpoint}".{hint(endpoint, (*self.endpoints, EXTRACTIVE))}'
            self.problems.append(where.error(f"tiers.{name}.endpoint", sentence))
        default = OPENAI_TIERS.get(name) if endpoint == OPENAI else None
        if default is not None and values.get("model", default.model) == default.model:
            return structs.replace(default, **values)
        if "model" not in values:
            self.problems.append(
                place.error(f"tiers.{name}", f'has no model (at the endpoint "{endpoint}").')
            )
            values["model"] = ""
        return Tier(endpoint=endpoint, **values)

    def _check_fallbacks(self) -> None:
        for name, tier in self.tiers.items():
            given = self._given("tiers", name, "fallback")
            for other in tier.fallback if given is not None else ():
                assert given is not None
                if other == name:
                    self.problems.append(given.error("names the tier itself."))
                elif other not in self.tiers:
                    self.problems.append(given.error(f'there is no tier "{other}".{hint(other, self.tiers)}'))
