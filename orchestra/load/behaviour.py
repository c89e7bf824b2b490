"""What a simulated endpoint is told to be like. Frozen values; None means without, zero is refused."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

Provider = Literal["openai", "anthropic", "gemini", "mistral", "fastapi", "html"]
"""In whose shape errors are written."""


class Call(Struct, frozen=True):
    """A tool call to make; `arguments` as JSON text."""

    name: str
    arguments: str


class Say(Struct, frozen=True):
    """What the endpoint answers: a text (JSON, where an output was asked for), or calls."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""


Script = Callable[[Mapping[str, Any]], Say | None]
"""From a request's decoded body to the answer; None leaves it to the next script, at last to plain words."""


class Latency(Struct, frozen=True, kw_only=True):
    """How long an answer takes: `first_seconds` to the first token, then `token_seconds` for each.

    `spread`: sigma of a log-normal factor on both, 0 for fixed times. (A sigma of 0.5 puts the 99th
    percentile at 3.2 times the median, which is about what hosted endpoints show.)
    """

    first_seconds: float = 0.0
    token_seconds: float = 0.0
    spread: float = 0.0

    def factor(self, dice: random.Random) -> float:
        """One answer's luck; the median is 1."""
        return math.exp(dice.gauss(0.0, self.spread)) if self.spread else 1.0


class Faults(Struct, frozen=True, kw_only=True):
    """Shares of requests, each from 0 to 1, that go wrong in a way; their sum is at most 1.

    `drop`: the connection closes before a reply. `cut`: inside it. `hang`: nothing ever comes.
    `error_500`, `error_503`, `error_429`: that status. `not_json`: a reply that is not JSON.
    """

    drop: float = 0.0
    cut: float = 0.0
    hang: float = 0.0
    error_500: float = 0.0
    error_503: float = 0.0
    error_429: float = 0.0
    not_json: float = 0.0

    def __post_init__(self) -> None:
        shares = [getattr(self, name) for name in self.__struct_fields__]
        if any(share < 0 for share in shares) or sum(shares) > 1:
            raise ValueError("fault shares lie between 0 and 1, and so does their sum")

    def strike(self, dice: random.Random) -> str:
        """The fault that this request meets, "" for none."""
        at = dice.random()
        for name in self.__struct_fields__:
            share = getattr(self, name)
            if at < share:
                return str(name)
            at -= share
        return ""

    @property
    def any(self) -> bool:
        return any(getattr(self, name) for name in self.__struct_fields__)


class Behaviour(Struct, frozen=True, kw_only=True):
    """Everything about a simulated endpoint.

    `models`: the names it lists; any name is answered. `reply_tokens`: length of plain words.
    `window`: longer prompts get the 400 of their length. `requests_per_minute`, `tokens_per_minute`,
    `concurrent`: beyond these comes 429. `key`: requests without it get 401. `scripts`: asked in order.
    `minute_seconds`: the minute of those rates, shorter for tests. `says_limits`: in headers, as OpenAI.
    `exact_usage`: count tokens as OpenAI would; otherwise bytes are divided by 4, which costs nothing.
    `usage_in_streams` False: as endpoints that leave it out. `seed`: the same luck each time.
    """

    models: tuple[str, ...] = ("small", "large")
    latency: Latency = Latency()
    faults: Faults = Faults()
    provider: Provider = "openai"
    reply_tokens: int = 60
    window: int = 128_000
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrent: int | None = None
    minute_seconds: float = 60.0
    says_limits: bool = False
    key: str | None = None
    scripts: tuple[Script, ...] = ()
    exact_usage: bool = False
    usage_in_streams: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        counts = ("reply_tokens", "window", "requests_per_minute", "tokens_per_minute", "concurrent")
        for name in (*counts, "minute_seconds"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be more than 0, or left out for no limit")


class Served(Struct):
    """What was really served, counted exactly; the one value here that changes.

    `replies` were sent whole; `abandoned`: the client went away before the end. `statuses`: error status
    to count; `faults`: fault to count. `busiest`: the most requests in flight at once.
    `embedded`: requests for embeddings, which are not among `requests`.
    """

    requests: int = 0
    replies: int = 0
    streams: int = 0
    abandoned: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    in_flight: int = 0
    busiest: int = 0
    connections: int = 0
    connections_open: int = 0
    statuses: dict[int, int] = {}
    faults: dict[str, int] = {}
    models: dict[str, int] = {}
    calls: int = 0
    embedded: int = 0

    def count(self, table: dict[Any, int], key: Any) -> None:
        table[key] = table.get(key, 0) + 1
