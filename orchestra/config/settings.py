"""The shape of every setting.

What is said about each field is the one source of its check, of its error's words and of its row in
`docs/configuration.md`. A field that is None is left to whoever uses it, or has no limit: its text says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from msgspec import Struct, structs

from orchestra.config.about import About
from orchestra.config.endpoints import Endpoint, Tier

Zone = Literal["tools", "memory", "knowledge", "history"]
Level = Literal["light", "medium", "heavy", "light_to", "medium_to", "heavy_to"]
Preset = Literal["chat", "research", "tools", "small", "knowledge", "code", "writer"]
PRESETS: tuple[Preset, ...] = get_args(Preset)


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


class RuntimeLimits(Struct, frozen=True, kw_only=True):
    """How many sessions one runtime hosts, what they may use together, and how it ends."""

    sessions: Annotated[int | None, About("Sessions at work at once.", above=0, unlimited=True)] = 1_000
    waiting: Annotated[
        int | None, About("Sessions that may wait for a place; more are refused.", above=0, unlimited=True)
    ] = 1_000
    drain_seconds: Annotated[
        float | None, About("Seconds for sessions to finish when it closes.", above=0, unlimited=True)
    ] = 30.0
    tool_threads: Annotated[int, About("Worker threads for plain functions as tools.", above=0)] = 32
    blocked_seconds: Annotated[
        float | None, About("A tool that blocks the event loop so long is named.", above=0, unlimited=True)
    ] = 0.5
    tokens: Annotated[
        int | None, About("Tokens of all sessions; left out: no limit.", above=0, unlimited=True)
    ] = None
    dollars: Annotated[
        float | None, About("US dollars of all sessions; left out: no limit.", above=0, unlimited=True)
    ] = None
    unpriced: Annotated[
        bool,
        About("Models whose price is unknown may be used under a limit of dollars; they count as nothing."),
    ] = False


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
    recent_turns: Annotated[int | None, About("Newest turns that compaction leaves alone.", above=0)] = None
    pins_share: Annotated[float | None, About("Most of the budget for pins.", above=0, most=0.5)] = None
    summary_share: Annotated[float | None, About("Most of it for a summary.", above=0, most=0.5)] = None
    summary_tokens: Annotated[int | None, About("Tokens a summary has at most.", above=0)] = None
    restate_after: Annotated[
        int | None,
        About("The input is restated at the end when more tokens than this stand behind it.", above=0),
    ] = None
    restate_tokens: Annotated[int | None, About("Tokens of the restated input at most.", above=0)] = None
    recall_share: Annotated[
        float | None,
        About("Of the room for turns, the part for automatic recall; 0 for none.", least=0, most=1),
    ] = None
    recall_tokens: Annotated[int | None, About("Tokens of automatic recall at most.", above=0)] = None
    values_share: Annotated[
        float | None,
        About("Of that part, what lists the values said earlier as key=value.", least=0, most=1),
    ] = None
    without: Annotated[
        tuple[str, ...],
        About("Off, to compare: pins, facts, state, recall, summary, levels, results, window."),
    ] = ()
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
        return {name: value for name, value in structs.asdict(self).items() if value not in (None, {}, ())}


class ToolChoice(Struct, frozen=True, kw_only=True):
    """Which of many tools a task gets."""

    most: Annotated[int, About("An agent with at most so many tools has all of them.", above=0)] = 24
    chosen: Annotated[int, About("Of more, so many are chosen by the task.", above=0)] = 12
    embedding: Annotated[
        Literal["auto", "none", "use", "minilm"],
        About("The embedding model that helps to choose; auto: what is installed."),
    ] = "auto"
    learn: Annotated[bool, About("What earlier requests of the store used counts.")] = True
    groups: Annotated[
        Mapping[str, tuple[str, ...]],
        About("Name to a list of tools; a role lists the group as group:NAME."),
    ] = {}


class Recall(Struct, frozen=True, kw_only=True):
    """How what was said earlier is found again by meaning, beside its words."""

    embedding: Annotated[
        str,
        About(
            "auto: what is installed; none, use, minilm; or ENDPOINT/MODEL: an endpoint's embedding model."
        ),
    ] = "auto"
    wait_seconds: Annotated[
        float, About("What a prompt waits for its input's vector; then words alone do the work.", least=0)
    ] = 0.3


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
    runtime: RuntimeLimits = RuntimeLimits()
    context: Mapping[Preset, ContextOverride] = {}
    tools: ToolChoice = ToolChoice()
    recall: Recall = Recall()
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

    `by_default`: nobody chose a model and no key was found, so the built-in one answers.
    `choice`: one sentence that names the models and the reason; every command that uses models prints it.
    `warnings`: sentences to print on standard error. `file`: the `orchestra.toml` that was read, or None.
    """

    settings: Settings
    choice: str
    by_default: bool = False
    warnings: tuple[str, ...] = ()
    file: str | None = None

    @property
    def reports(self) -> str:
        return self.settings.reports
