"""The shape of every setting.

What is said about each field is the one source of its check, of its error's words and of its row in
`docs/configuration.md`. A field that is None is left to whoever uses it, or has no limit: its text says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from msgspec import Struct, structs

from orchestra.config.about import About
from orchestra.config.secret import Secret

EXTRACTIVE = "extractive"  # the built-in model: an endpoint's name that needs no entry in `endpoints`
OPENAI = "openai"  # the endpoint that is always there

Zone = Literal["tools", "memory", "knowledge", "history"]
Level = Literal["light", "medium", "heavy", "light_to", "medium_to", "heavy_to"]
Preset = Literal["chat", "research", "tools", "knowledge", "code", "writer"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
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
        tuple[str, ...], About("Tiers to try, in order, when this one's endpoint cannot be reached.")
    ] = ()

    @property
    def built_in(self) -> bool:
        """Whether this is the extractive model, which has no endpoint."""
        return self.endpoint == EXTRACTIVE


class Documents(Struct, frozen=True, kw_only=True):
    """What is read from a folder of documents."""

    file_bytes: Annotated[
        int | None,
        About(
            "The largest file that is read, in bytes; larger ones are named and left out.",
            above=0,
            unlimited=True,
        ),
    ] = 50_000_000


class SessionLimits(Struct, frozen=True, kw_only=True):
    """What one session may use."""

    agents: Annotated[int, About("Agents at work at once in a session.", above=0)] = 4
    seconds: Annotated[
        float | None, About("Seconds a session may take; left out: no limit.", above=0, unlimited=True)
    ] = None
    tokens: Annotated[
        int | None,
        About("Tokens a session may use, prompts and replies; left out: no limit.", above=0, unlimited=True),
    ] = None
    dollars: Annotated[
        float | None, About("US dollars a session may cost; left out: no limit.", above=0, unlimited=True)
    ] = None


class ContextOverride(Struct, frozen=True, kw_only=True):
    """Figures of a context preset that replace the built-in ones."""

    output_tokens: Annotated[
        int | None, About("Tokens kept free for the reply, at most a quarter of the window.", above=0)
    ] = None
    margin: Annotated[
        float | None,
        About("Share of the window kept free for counts that are wrong.", least=0, most=0.5),
    ] = None
    prompt_tokens: Annotated[
        int | None, About("A budget of the prompt's own, below the window's.", above=0)
    ] = None
    result_tokens: Annotated[int | None, About("Tokens shown of one tool result.", above=0)] = None
    recent_turns: Annotated[
        int | None, About("Turns that the last level of compaction leaves alone.", above=0)
    ] = None
    restate_after: Annotated[
        int | None,
        About("The input is restated at the end when more tokens than this stand behind it.", above=0),
    ] = None
    restate_tokens: Annotated[int | None, About("Tokens of the restated input at most.", above=0)] = None
    shares: Annotated[
        Mapping[Zone, float],
        About("Zone to its share; only the proportions count; zones left out keep theirs.", least=0),
    ] = {}
    levels: Annotated[
        Mapping[Level, float],
        About("Occupancy at which each level compacts, and down to which.", above=0, most=1),
    ] = {}

    def figures(self) -> dict[str, Any]:
        """What is set, by name: the overrides that a context policy takes."""
        return {name: value for name, value in structs.asdict(self).items() if value not in (None, {})}


class Logging(Struct, frozen=True, kw_only=True):
    """The event log on standard error."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], About("The least serious event that is written.")
    ] = "warning"
    json: Annotated[bool, About("One JSON object an event instead of a line for people.")] = False


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that can be set. Paths in `store`, `agents` and `reports` are absolute."""

    endpoints: Mapping[str, Endpoint]
    tiers: Mapping[str, Tier]
    store: Annotated[
        str,
        About(
            "Where journal and indexes are kept: a database URL.",
            default="`.orchestra/store.db` beside `orchestra.toml`",
        ),
    ]
    agents: Annotated[
        str | None,
        About(
            "A folder of your own role files, read before those that ship.",
            default="`agents` beside `orchestra.toml`",
        ),
    ] = None
    reports: Annotated[
        str,
        About(
            "A folder for reports that are given no place of their own.",
            default="`.orchestra/reports` beside `orchestra.toml`",
        ),
    ]
    documents: Documents = Documents()
    limits: SessionLimits = SessionLimits()
    context: Mapping[Preset, ContextOverride] = {}
    logging: Logging = Logging()


class Selection(Struct, frozen=True, kw_only=True):
    """Which models answer, in a word or two. From the environment or flags; `models` in the file too."""

    models: Annotated[
        str | None,
        About(
            "`extractive`, `openai` or an endpoint's name; with `endpoint`, a model's name for both tiers."
        ),
    ] = None
    small: Annotated[
        str | None, About("The model of the small tier, and of the large one if that has none.")
    ] = None
    large: Annotated[
        str | None, About("The model of the large tier, and of the small one if that has none.")
    ] = None
    endpoint: Annotated[str | None, About("Where those models are: a URL or an endpoint's name.")] = None


class Resolved(Struct, frozen=True, kw_only=True):
    """The settings of a run and how they came about.

    `choice`: one sentence that names the models and the reason; every command that uses models prints it.
    `warnings`: sentences to print on standard error. `file`: the `orchestra.toml` that was read, or None.
    """

    settings: Settings
    choice: str
    warnings: tuple[str, ...] = ()
    file: str | None = None

    @property
    def reports(self) -> str:
        return self.settings.reports
