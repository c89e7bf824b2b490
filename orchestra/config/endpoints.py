"""The shape of what is set about endpoints and the models at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Struct

from orchestra.config.about import About
from orchestra.config.secret import Secret

EXTRACTIVE = "extractive"  # the built-in model: an endpoint's name that needs no entry in `endpoints`
OPENAI = "openai"  # the endpoint that is always there

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class Endpoint(Struct, frozen=True, kw_only=True):
    """A server that speaks OpenAI's chat completions."""

    url: Annotated[str, About("Base URL, with or without `/v1`.")]
    key_env: Annotated[
        str | None, About("The environment variable that holds the key; left out: no key is sent.")
    ] = None
    key: Annotated[
        Secret | None, About("The key itself. Better: `key_env`, which keeps it out of the file.")
    ] = None
    kind: Annotated[
        str | None, About("Which known server this is (`ollama`, `azure`); left out: found from the URL.")
    ] = None
    api_version: Annotated[str | None, About("The `api-version` that Azure asks for.")] = None
    quirks: Annotated[
        Mapping[str, Any], About("What this server does otherwise, set by hand over what is known or learnt.")
    ] = {}
    transport: Annotated[
        Literal["direct", "official"],
        About("`direct` for any compatible server, `official` for what needs OpenAI's client (Azure)."),
    ] = "direct"
    headers: Annotated[
        Mapping[str, Secret], About("More HTTP headers, name to value; values are kept secret.")
    ] = {}
    compress_over: Annotated[
        int | None,
        About("Request bodies of at least so many bytes go out gzipped; left out: never.", above=0),
    ] = None
    stream: Annotated[bool, About("Ask for replies as streams: tools begin sooner, for more CPU a call.")] = (
        False
    )
    connect_seconds: Annotated[
        float | None, About("Seconds to open a connection.", above=0, unlimited=True)
    ] = 10.0
    first_byte_seconds: Annotated[
        float | None, About("Seconds from a request to the first byte of its reply.", above=0, unlimited=True)
    ] = 600.0
    silence_seconds: Annotated[
        float | None, About("Seconds between two pieces of a reply.", above=0, unlimited=True)
    ] = 120.0
    total_seconds: Annotated[
        float | None, About("Seconds for a whole call, retries not counted.", above=0, unlimited=True)
    ] = 1_200.0
    concurrent_calls: Annotated[int | None, About("Calls in flight at once.", above=0, unlimited=True)] = 16
    requests_per_minute: Annotated[
        int | None,
        About("Requests a minute; left out: what the endpoint says of itself.", above=0, unlimited=True),
    ] = None
    tokens_per_minute: Annotated[
        int | None,
        About("Tokens a minute; left out: what the endpoint says of itself.", above=0, unlimited=True),
    ] = None
    queued_calls: Annotated[
        int | None, About("Calls that may wait for their turn; more are refused.", above=0, unlimited=True)
    ] = 4_000
    tries: Annotated[
        int, About("How often a call is tried where another try may succeed; 1: once.", above=0)
    ] = 5


class Tier(Struct, frozen=True, kw_only=True):
    """A model at an endpoint. Roles name tiers; `small` and `large` always exist."""

    endpoint: Annotated[
        str,
        About("A name in `endpoints`, `openai`, or `extractive`; left out: the only endpoint, or `openai`."),
    ]
    model: Annotated[str, About("The model's name as the endpoint knows it.")]
    window: Annotated[
        int | None, About("Context window in tokens to use; left out: what is known of the model.", above=0)
    ] = None
    output_tokens: Annotated[
        int | None, About("Tokens kept free for a reply; left out: the model's own default.", above=0)
    ] = None
    temperature: Annotated[
        float | None, About("Sampling temperature; left out: not sent.", least=0, most=2)
    ] = None
    reasoning_effort: Annotated[
        Effort | None, About("How long a reasoning model thinks; left out: not sent.")
    ] = None
    thinking_tokens: Annotated[
        int | None, About("Tokens to think with, where the endpoint has such a budget.", above=0)
    ] = None
    parallel_calls: Annotated[
        bool | None, About("Several tool calls in one reply; left out: the endpoint's own way.")
    ] = None
    extra: Annotated[Mapping[str, Any], About("More fields for the request's body.")] = {}
    price_in: Annotated[
        float | None, About("US dollars for a million input tokens; left out: the price table.", least=0)
    ] = None
    price_cached: Annotated[
        float | None, About("US dollars for a million cached input tokens; left out: `price_in`.", least=0)
    ] = None
    price_out: Annotated[
        float | None, About("US dollars for a million output tokens; left out: the price table.", least=0)
    ] = None
    fallback: Annotated[
        tuple[str, ...],
        About("Tiers to try, in order, when this one's endpoint cannot be reached or refuses the key."),
    ] = ()

    @property
    def built_in(self) -> bool:
        """Whether this is the extractive model, which has no endpoint."""
        return self.endpoint == EXTRACTIVE
