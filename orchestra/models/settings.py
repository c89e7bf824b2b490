"""What a person may set about endpoints and tiers. Frozen values; the config room fills them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

TransportName = Literal["direct", "official"]


class Times(Struct, frozen=True, kw_only=True):
    """How long an endpoint may take, in seconds; None means no limit of its own.

    `first_byte`: from the request's last byte to the reply's first. An endpoint that does not stream is
    silent while the model thinks, so this one is long. `silence`: between two pieces of a reply.
    `total`: the whole call, for the server that drips. (10 s and 10 min are the openai client's own
    figures; a stream that is quiet for two minutes has never been seen to come back.)
    """

    connect_seconds: float | None = 10.0
    first_byte_seconds: float | None = 600.0
    silence_seconds: float | None = 120.0
    total_seconds: float | None = 1_200.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            seconds = getattr(self, name)
            if seconds is not None and seconds <= 0:
                raise ValueError(f"{name} must be more than 0 seconds, or left out for no limit")


class Rates(Struct, frozen=True, kw_only=True):
    """What may be asked of one endpoint by all sessions together; None means no limit of ours.

    `queued_calls`: more may not wait. `tries`: how often a call is tried in all, 1 for once.
    `minute_seconds`: the length of the endpoint's minute; another only where one is simulated.
    """

    concurrent_calls: int | None = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    queued_calls: int | None = 4_000
    tries: int = 5
    minute_seconds: float = 60.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be more than 0, or None for no limit")


class Network(Struct, frozen=True, kw_only=True):
    """The way out: `proxies` maps a scheme ("http", "https", "all") to a proxy's URL.

    `no_proxy`: hosts that are reached without it, as NO_PROXY spells them. `ca_file`: certificates to
    trust in place of the system's, None for the system's.
    """

    proxies: Mapping[str, str] = {}
    no_proxy: tuple[str, ...] = ()
    ca_file: str | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Network:
        """HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY (lower case wins) and SSL_CERT_FILE."""
        found = {}
        for scheme in ("http", "https", "all"):
            value = environment.get(f"{scheme}_proxy") or environment.get(f"{scheme.upper()}_PROXY")
            if value:
                found[scheme] = value
        exempt = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
        return cls(
            proxies=found,
            no_proxy=tuple(host.strip().lstrip(".") for host in exempt.split(",") if host.strip()),
            ca_file=environment.get("SSL_CERT_FILE") or environment.get("REQUESTS_CA_BUNDLE") or None,
        )

    def proxy_for(self, scheme: str, host: str) -> str | None:
        """The proxy for an address, None for none. This machine itself is never behind one."""
        if host in {"localhost", "127.0.0.1", "::1"}:
            return None
        for exempt in self.no_proxy:
            if exempt == "*" or host == exempt or host.endswith("." + exempt):
                return None
        return self.proxies.get(scheme) or self.proxies.get("all")


class Price(Struct, frozen=True, kw_only=True):
    """US dollars per million tokens. `cached_input` None: cached tokens cost what others cost.

    `above_tokens`: prompts longer than this pay `above` for all their tokens; None for one price.
    """

    input: float
    output: float
    cached_input: float | None = None
    above_tokens: int | None = None
    above: Price | None = None

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        if self.above is not None and self.above_tokens is not None and input_tokens > self.above_tokens:
            return self.above.cost(input_tokens, output_tokens, cached_tokens)
        cached_price = self.input if self.cached_input is None else self.cached_input
        fresh = input_tokens - cached_tokens
        return (fresh * self.input + cached_tokens * cached_price + output_tokens * self.output) / 1e6


class Endpoint(Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """An OpenAI-compatible server.

    `kind`: a row of the table of known endpoints ("openai", "ollama", …); "" is found from the URL.
    `headers`: sent with every request, beside the key. `compress_over`: bodies of at least so many bytes
    go out gzipped; None never (few servers take it). `stream`: agents ask for streams.
    `quirks`: set by hand, over what is known or learnt; the fields of `Quirks`. `api_version`: Azure only.
    """

    name: str
    url: str
    key: str = ""
    kind: str = ""
    transport: TransportName = "direct"
    headers: Mapping[str, str] = {}
    times: Times = Times()
    compress_over: int | None = None
    stream: bool = False
    rates: Rates = Rates()
    quirks: Mapping[str, Any] = {}
    api_version: str = ""

    def __repr__(self) -> str:
        return f"Endpoint(name={self.name!r}, url={self.url!r}, transport={self.transport!r})"


class TierSetting(Struct, frozen=True, kw_only=True):
    """A model on an endpoint.

    `window` and `max_output` in tokens; None: what the endpoint or the table says, else a safe value.
    `price` None: looked up; unknown prices make unknown costs. `reasoning_effort`: "" leaves it to the
    endpoint. `thinking_tokens`: a budget where the endpoint has one, None for its own. `parallel_calls`:
    None leaves it to the endpoint. `extra`: further fields of the request's body, by hand.
    `stand_in`: another model answers where this one's endpoint is down, so nobody waits for it.
    """

    endpoint: str
    model: str
    window: int | None = None
    max_output: int | None = None
    price: Price | None = None
    reasoning_effort: str = ""
    thinking_tokens: int | None = None
    parallel_calls: bool | None = None
    extra: Mapping[str, Any] = {}
    stand_in: bool = False
