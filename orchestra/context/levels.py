"""Making room before it runs out: what leaves the turns at which occupancy, and down to where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from orchestra.context.blocks import Block
from orchestra.context.budget import Budget
from orchestra.context.importance import Importance
from orchestra.context.policy import Policy
from orchestra.context.trimming import Unit, units_of

Level = Literal["light", "medium", "heavy", "full"]
"""full: the prompt would not have fitted."""

WORTH = 0.05
"""Room is made only if this share of the usable tokens comes free: it costs the provider's prefix cache."""

_STEPS = 4  # finer differences of importance do not count against age
_LINE_TOKENS = 40  # what an offloaded call leaves behind in the ledger, about


class Leaving(Struct, frozen=True):
    """One unit that leaves, and why."""

    blocks: tuple[Block, ...]
    why: str


class Held(Struct, frozen=True):
    """A prompt's tokens, and by how many what stands for the past is expected to grow."""

    tokens: int
    grows: int = 0


class Compaction(Struct, frozen=True):
    """What is to leave, and in `cut` what stays in a shorter form. `before` and `target` are prompts' tokens.

    A summary, if there is one, covers the blocks of `leaving`; without one they leave by rule.
    """

    level: Level
    before: int
    target: int
    leaving: tuple[Leaving, ...]
    cut: tuple[Block, ...] = ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(block for leaving in self.leaving for block in leaving.blocks)


def due(
    blocks: Sequence[Block],
    held: Held,
    budget: Budget,
    policy: Policy,
    turn: int,
    importance: Importance | None = None,
) -> Compaction | None:
    """What should leave the turns now; None when occupancy is low or too little could leave.

    `blocks` in the order of the prompt, `held`: the whole prompt, `turn` of the coming call. Only
    what may leave counts, so that what is protected can never by itself keep this firing. `importance`
    None: the step is critical, and nothing above the light level happens.
    """
    tokens = held.tokens
    level, mark = _level(tokens, budget, policy)
    if level is None:
        return None
    if importance is None:
        level, mark = "light", policy.levels.light_to
    if level == "light" and not any(block.used for block in blocks):
        return None
    target = int(mark * budget.usable)
    units = [unit for unit in units_of(blocks) if unit.zone == "history" and not unit.protected]
    old = [unit for unit in units if _born(unit) < turn - policy.recent_turns]
    leaving: list[Leaving] = []
    left = tokens
    enough = target - (held.grows if level != "light" else 0)
    scores = importance.of(blocks) if importance is not None and level != "light" else {}
    for unit, why in _candidates(old, units, level, scores):
        if left <= enough:
            break
        leaving.append(Leaving(unit.blocks, why))
        left -= unit.tokens - (_LINE_TOKENS if len(unit.blocks) > 1 else 0)
    if tokens - left < WORTH * budget.usable:
        return None
    return Compaction(level, tokens, target, tuple(leaving))


def _level(tokens: int, budget: Budget, policy: Policy) -> tuple[Level | None, float]:
    levels = policy.levels
    occupancy = tokens / budget.usable if budget.usable else 1.0
    if occupancy < levels.light:
        return None, 0.0
    if occupancy < levels.medium:
        return "light", levels.light_to
    if occupancy < levels.heavy:
        return "medium", levels.medium_to
    return "heavy", levels.heavy_to


def _candidates(
    old: list[Unit], units: list[Unit], level: Level, scores: Mapping[int, float]
) -> list[tuple[Unit, str]]:
    """What may leave, what is missed least first: used calls, repeats, then the least and the oldest."""
    first = [(unit, "used") for unit in old if all(block.used for block in unit.blocks[1:] or unit.blocks)]
    if level == "light":
        return first
    newest: dict[str, int] = {}
    for at, unit in enumerate(units):
        newest[_key(unit)] = at
    # Of the same call only the newest stays; what has no key is nobody's repeat.
    repeats = [
        (unit, "repeated later")
        for at, unit in enumerate(units)
        if unit in old and _key(unit) and newest[_key(unit)] != at
    ]
    rest = [(unit, "oldest") for unit in sorted(old, key=lambda unit: _rank(unit, scores))]
    ranked: dict[int, tuple[Unit, str]] = {}
    for unit, why in (*first, *repeats, *rest):
        ranked.setdefault(unit.blocks[0].number, (unit, why))
    return list(ranked.values())


def _rank(unit: Unit, scores: Mapping[int, float]) -> tuple[int, float, int, int]:
    """Smaller leaves first: by priority, then by importance, in coarse steps, then by age."""
    priority, place, number = unit.rank
    worth = max(scores.get(block.number, 0.0) for block in unit.blocks)
    return (priority, round(worth * _STEPS), place, number)


def _key(unit: Unit) -> str:
    """The same for two units that asked for the same things."""
    return "\n".join(sorted(block.key for block in unit.blocks[1:] if block.key))


def _born(unit: Unit) -> int:
    return max(block.born for block in unit.blocks)
