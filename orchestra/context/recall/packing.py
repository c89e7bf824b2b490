"""From ranked units to text: what fits the budget, in the order of time, under dated headings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestra.context.fence import fence
from orchestra.context.recall.turns import Sitting, Turn, Unit

LABEL = "Recalled from earlier, oldest first"
MISSES = 24
"""Units in a row that did not fit, after which the rest is not tried."""


def pack(ranked: Iterable[int], units: Sequence[Unit], sittings: Sequence[Sitting], tokens: int) -> list[int]:
    """The best units that fit together, counting each heading once; in the order of rank."""
    left = tokens
    chosen: list[int] = []
    open_sittings: set[int] = set()
    misses = 0
    for number in ranked:
        unit = units[number]
        cost = unit.tokens
        if unit.sitting not in open_sittings:
            cost += sittings[unit.sitting].tokens
        if cost > left:
            misses += 1
            if misses > MISSES or left < 8:
                break
            continue
        misses = 0
        left -= cost
        chosen.append(number)
        open_sittings.add(unit.sitting)
    return chosen


def line_of(turn: Turn, start: int, end: int) -> str:
    """A turn, or a piece of it with marks where something is left out, on its speaker's line."""
    before = "… " if start else ""
    after = " …" if end < len(turn.text) else ""
    who = f"{turn.speaker} {turn.ref}".strip()
    who = f"{who}: " if who else ""
    return f"{who}{before}{turn.text[start:end].strip() if before or after else turn.text}{after}"


def render(
    chosen: Iterable[int], units: Sequence[Unit], sittings: Sequence[Sitting], turns: Sequence[Turn]
) -> str:
    """The chosen units fenced, by time; neighbouring pieces of a turn are shown as one."""
    lines: list[str] = []
    sitting = -1
    spans = joined(chosen, units)
    for turn, start, end, where in spans:
        if where != sitting:
            sitting = where
            lines.append(sittings[where].heading)
        lines.append(line_of(turns[turn], start, end))
    return fence(LABEL, "\n".join(line for line in lines if line))


def joined(chosen: Iterable[int], units: Sequence[Unit]) -> list[tuple[int, int, int, int]]:
    """Turn, start, end and sitting of what is shown, in the order of time."""
    spans: list[tuple[int, int, int, int]] = []
    for number in sorted(chosen):
        unit = units[number]
        if spans and spans[-1][0] == unit.turn and spans[-1][2] == unit.start:
            spans[-1] = (unit.turn, spans[-1][1], unit.end, unit.sitting)
        else:
            spans.append((unit.turn, unit.start, unit.end, unit.sitting))
    return spans
