"""How a context is shared out: presets, every figure of which can be set."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct, structs

from orchestra.errors import ConfigError


class Shares(Struct, frozen=True, forbid_unknown_fields=True):
    """Each cuttable zone's share of what the never-cut blocks leave; only their proportions count.

    A zone that needs less lends the rest to those that need more, in the same proportions.
    """

    tools: float = 0.15
    memory: float = 0.10
    knowledge: float = 0.30
    history: float = 0.45


class Levels(Struct, frozen=True, forbid_unknown_fields=True):
    """Occupancies, 0 to 1, at which room is made, and the low-water mark that each makes room down to."""

    light: float = 0.50
    medium: float = 0.75
    heavy: float = 0.90
    light_to: float = 0.40
    medium_to: float = 0.60
    heavy_to: float = 0.60


Mechanism = Literal["pins", "facts", "state", "recall", "summary", "levels", "results", "window"]
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)
"""What a policy can do without, to find out what it is good for.

pins: facts and constraints of the user that outlive their turn. facts: corrections are marked, results are
read, summaries and changes of the state are held against what was said. state: the task state. recall: by
itself and as a tool. summary: what leaves is summed up. levels: room is made before there is none. results:
one result is cut to its cap. window: what may never be cut; without it the newest turns that fit are all.
"""


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The figures of one context.

    `output_tokens`: kept free for the reply, at most a quarter of the window. `margin`: the share of the
    window kept free for counts that are wrong. `prompt_tokens`: a budget of the prompt's own below the
    window's, None for none. `result_tokens`: the cap of one tool result. `recent_turns`: turns that the
    heavy level leaves alone. `pins_share` and `summary_share`: the most of the budget that pinned facts and a
    summary may take, `summary_tokens` the most a summary ever has. `restate_after`: the current input is
    restated at the end when more tokens than this stand behind it; `restate_tokens`: with at most so many
    tokens. `recall_share`: of the room for what was said, the part for automatic recall once something is out
    of the prompt, 0 for none; `recall_tokens`: its cap; `values_share`: of that part, what
    lists the values said earlier as key=value. `without`: mechanisms that are off.
    """

    name: str = "chat"
    shares: Shares = Shares()
    levels: Levels = Levels()
    output_tokens: int = 4_000
    margin: float = 0.10
    prompt_tokens: int | None = None
    result_tokens: int = 2_000
    recent_turns: int = 2
    pins_share: float = 0.25
    summary_share: float = 0.15
    summary_tokens: int = 2_000
    restate_after: int = 2_000
    restate_tokens: int = 200
    recall_share: float = 0.0
    values_share: float = 0.0
    recall_tokens: int = 8_000
    without: tuple[str, ...] = ()


_PRESETS = (
    # What was said comes back verbatim, so the summary need only say what the talk is about.
    Policy(name="chat", shares=Shares(0.10, 0.15, 0.20, 0.55), recall_share=0.9, summary_share=0.06),
    # A researcher quotes its passages word for word, so results stay longer and are cut later.
    Policy(
        name="research",
        shares=Shares(0.10, 0.05, 0.20, 0.65),
        levels=Levels(light=0.50, medium=0.80, heavy=0.92, light_to=0.40, medium_to=0.65, heavy_to=0.65),
        result_tokens=4_000,
    ),
    Policy(name="tools", shares=Shares(0.30, 0.05, 0.15, 0.50), result_tokens=1_500),
    # For a window too small for the run: results are clipped, their values listed, the rest recalled.
    Policy(
        name="small",
        shares=Shares(0.30, 0.05, 0.15, 0.50),
        result_tokens=1_500,
        pins_share=0.05,
        summary_share=0.05,
        recall_share=0.7,
        values_share=0.9,
    ),
    Policy(name="knowledge", shares=Shares(0.05, 0.10, 0.60, 0.25)),
    Policy(
        name="code",
        shares=Shares(0.15, 0.05, 0.35, 0.45),
        output_tokens=8_000,
        result_tokens=4_000,
        recent_turns=3,
    ),
    Policy(name="writer", shares=Shares(0.05, 0.05, 0.70, 0.20), output_tokens=8_000),
)
PRESETS: tuple[str, ...] = tuple(preset.name for preset in _PRESETS)


def policy_for(name: str, overrides: Mapping[str, Any] | None = None) -> Policy:
    """The preset `name` with other figures: `{"result_tokens": 500, "shares": {"history": 0.7}}`.

    Raises ConfigError that names the key, for an unknown preset or figure and for a figure out of its range.
    """
    for preset in _PRESETS:
        if preset.name == name:
            break
    else:
        raise ConfigError(f"There is no context policy {name!r}{_nearest(name, PRESETS)}", key="context")
    if not overrides:
        return preset
    values = structs.asdict(preset)
    for key, value in overrides.items():
        if key not in values or key == "name":
            known = [figure for figure in values if figure != "name"]
            raise ConfigError(f"A context policy has no {key!r}{_nearest(key, known)}", key=key)
        old = values[key]
        values[key] = _part(key, old, value) if isinstance(old, Shares | Levels) else value
    try:
        policy = msgspec.convert({key: msgspec.to_builtins(value) for key, value in values.items()}, Policy)
    except msgspec.ValidationError as error:
        raise ConfigError(f"The context policy does not fit: {error}.", key="context") from error
    check(policy)
    return _weakened(policy)


def _weakened(policy: Policy) -> Policy:
    """The policy with the figures of what it does without; the rest is up to whoever does the work."""
    without = policy.without
    if "recall" in without:
        policy = structs.replace(policy, recall_share=0.0, values_share=0.0)
    if "results" in without:
        policy = structs.replace(policy, result_tokens=_NO_CAP)
    if "levels" in without or "window" in without:
        never = structs.replace(policy.levels, light=math.inf, medium=math.inf, heavy=math.inf)
        policy = structs.replace(policy, levels=never)
    return policy


_NO_CAP = 1 << 40
_COUNTS = (
    "output_tokens",
    "prompt_tokens",
    "result_tokens",
    "recent_turns",
    "summary_tokens",
    "restate_after",
    "restate_tokens",
    "recall_tokens",
)


def check(policy: Policy) -> None:
    """Raise ConfigError for a figure out of its range."""
    for key in _COUNTS:
        value = getattr(policy, key)
        if value is not None and value <= 0:
            raise ConfigError(f"{key} is {value}; it must be more than 0.", key=key)
    if not 0 <= policy.margin <= 0.5:
        raise ConfigError(f"margin is {policy.margin}; it must lie between 0 and 0.5.", key="margin")
    for key in ("recall_share", "values_share"):
        if not 0 <= getattr(policy, key) <= 1:
            raise ConfigError(f"{key} is {getattr(policy, key)}; it must lie between 0 and 1.", key=key)
    for key in ("pins_share", "summary_share"):
        if not 0 < getattr(policy, key) <= 0.5:
            raise ConfigError(f"{key} is {getattr(policy, key)}; it must lie between 0 and 0.5.", key=key)
    for word in policy.without:
        if word not in MECHANISMS:
            raise ConfigError(f"without has no {word!r}{_nearest(word, MECHANISMS)}", key="without")
    shares = structs.asdict(policy.shares)
    if any(not share >= 0 for share in shares.values()) or not sum(shares.values()) > 0:
        raise ConfigError(
            "The shares of a context policy must not be negative, and not all zero.", key="shares"
        )
    levels = policy.levels
    pairs = (
        (levels.light_to, levels.light),
        (levels.medium_to, levels.medium),
        (levels.heavy_to, levels.heavy),
    )
    rising = 0 < levels.light <= levels.medium <= levels.heavy <= 1
    if not rising or any(not 0 < low < high for low, high in pairs):
        raise ConfigError(
            "The levels of a context policy must rise within 0 and 1, each above its low-water mark.",
            key="levels",
        )


def _part(key: str, old: Shares | Levels, value: Any) -> Shares | Levels:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{key} takes a table of figures, not {value!r}.", key=key)
    known = structs.asdict(old)
    for figure in value:
        if figure not in known:
            raise ConfigError(f"{key} has no {figure!r}{_nearest(figure, known)}", key=f"{key}.{figure}")
    try:
        return msgspec.convert({**known, **value}, type(old))
    except msgspec.ValidationError as error:
        raise ConfigError(f"{key} does not fit: {error}.", key=key) from error


def _nearest(word: str, known: Mapping[str, Any] | list[str] | tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}."
