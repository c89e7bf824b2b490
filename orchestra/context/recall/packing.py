"""From ranked units to text: what fits the budget, in the order of time, under dated headings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from orchestra.context.fence import fence
from orchestra.context.recall.turns import Hit, Sitting, Turn, Unit

LABEL = "Recalled from earlier, oldest first"
OTHER = "its neighbours, sitting or meaning"
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


def render(spans: Sequence[Unit], sittings: Sequence[Sitting], turns: Sequence[Turn]) -> str:
    """What is shown, fenced, by time; neighbouring pieces of a turn are one line."""
    lines: list[str] = []
    sitting = -1
    for span in spans:
        if span.sitting != sitting:
            sitting = span.sitting
            lines.append(sittings[sitting].heading)
        lines.append(span.line or line_of(turns[span.turn], span.start, span.end))
    return fence(LABEL, "\n".join(filter(None, lines)))


def hits_of(
    spans: Sequence[Unit], turns: Sequence[Turn], scores: Mapping[int, float], words: Mapping[int, list[str]]
) -> tuple[Hit, ...]:
    """The turns shown, in the order of time; `scores` and `words` by turn."""
    parts: dict[int, tuple[tuple[int, int], ...]] = {}
    for number, start, end, *_ in spans:
        parts[number] = (*parts[number], (start, end)) if number in parts else ((start, end),)
    hits = []
    for number, shown in parts.items():
        turn = turns[number]
        is_whole = shown == ((0, len(turn.text)),)
        why = ", ".join(words[number]) if number in words else OTHER
        hits.append(Hit(turn.id, shown, is_whole, scores[number], why, turn.ref))
    return tuple(hits)


def joined(chosen: Iterable[int], units: Sequence[Unit]) -> list[Unit]:
    """What is shown, in the order of time, neighbouring pieces of a turn as one."""
    spans: list[Unit] = []
    for number in sorted(chosen):
        unit = units[number]
        if spans and spans[-1].turn == unit.turn and spans[-1].end == unit.start:
            unit = unit._replace(start=spans.pop().start, line="")
        spans.append(unit)
    return spans
