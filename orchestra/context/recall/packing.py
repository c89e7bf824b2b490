"""From ranked units to text: what fits the budget, in the order of time, under dated headings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from orchestra.context.fence import fence
from orchestra.context.recall.turns import Hit, Turn

LABEL = "Recalled from earlier, oldest first"
OTHER = "its neighbours, sitting or meaning"
MISSES = 24
"""Units in a row that did not fit, after which the rest is not tried."""
_TICKS = "```"


class Lines:
    """The line of each unit as it is shown, made and counted once when its turn is added.

    A unit is a turn or a piece of a long one, numbered from 0. `add_up`: see `Counter.lines_add_up`.
    `turns`: the turn of each unit; `where`: its sitting. `around`: tokens of the label and the fence.
    """

    __slots__ = (
        "_add_up", "_costs", "_count", "_frame", "_headings", "_lines", "_odd", "_parts", "_whole", "around",
        "turns", "where",
    )  # fmt: skip

    def __init__(self, count: Callable[[str], int], *, add_up: bool) -> None:
        self._count = count
        self._add_up = add_up
        self.around = count(fence(LABEL, ""))
        self._frame = count(f"{LABEL}\n{_TICKS}\n") + count(_TICKS)
        self._lines: list[str] = []
        self._costs: list[int] = []
        self._whole = 0  # the sum of them
        self._headings: list[tuple[str, int]] = []
        self._odd: set[int] = set()  # what does not add up with what stands before it
        self._parts: dict[int, tuple[int, int]] = {}  # of a turn that is several units
        self.turns: list[Turn] = []
        self.where: list[int] = []

    def __len__(self) -> int:
        return len(self._lines)

    def open(self, heading: str, tokens: int) -> None:
        """Begin a sitting; `tokens` of its heading's line."""
        self._headings.append((heading, tokens))
        self._add_up = self._add_up and (not heading or _adds_up(heading))

    def add(self, turn: Turn, start: int, end: int) -> None:
        """The newest turn or its next piece, as a unit of the last sitting."""
        whole = start == 0 and end == len(turn.text)
        line = line_of(turn, start, end)
        unit = len(self._lines)
        if not whole:
            self._parts[unit] = start, end
        if not _adds_up(line):
            self._odd.add(unit)
        self._lines.append(line)
        tokens = self._count(f"{line}\n")
        self._whole += tokens
        self._costs.append(tokens)
        self.turns.append(turn)
        self.where.append(len(self._headings) - 1)

    @property
    def mean(self) -> float:
        """The mean tokens of a line; at least one."""
        return max(self._whole / len(self._lines), 1.0) if self._lines else 1.0

    def span(self, unit: int) -> tuple[int, int]:
        """What of its turn's text a unit is."""
        return self._parts.get(unit) or (0, len(self.turns[unit].text))

    def pack(self, ranked: Iterable[int], tokens: int) -> list[int]:
        """The best units that fit together, counting each heading once; in the order of rank."""
        costs, where = self._costs, self.where
        headings = [cost for _, cost in self._headings]  # and 0 once it is paid
        chosen: list[int] = []
        misses = 0
        for unit in ranked:
            sitting = where[unit]
            cost = costs[unit] + headings[sitting]
            if cost > tokens:
                misses += 1
                if misses > MISSES or tokens < 8:
                    break
                continue
            misses = 0
            tokens -= cost
            headings[sitting] = 0
            chosen.append(unit)
        return chosen

    def render(self, chosen: Sequence[int]) -> tuple[str, int]:
        """These units, by rising number, as one fenced text, and its tokens; pieces of a turn are joined."""
        lines, parts, turns, where = self._lines, self._parts, self.turns, self.where
        body: list[str] = []
        tokens = self._frame
        sitting, last, start = -1, -2, 0
        exact = self._add_up and self._odd.isdisjoint(chosen)
        for unit in chosen:
            if where[unit] != sitting:
                sitting = where[unit]
                heading, cost = self._headings[sitting]
                tokens += cost
                body.append(heading)
            if unit in parts:
                if unit == last + 1 and turns[unit] is turns[last]:
                    body[-1] = line_of(turns[unit], start, parts[unit][1])
                    exact, last = False, unit
                    continue
                start = parts[unit][0]
            last = unit
            body.append(lines[unit])
        text = fence(LABEL, "\n".join(filter(None, body)))
        if not exact:
            return text, self._count(text)
        return text, tokens + sum(map(self._costs.__getitem__, chosen))

    def hits(
        self, chosen: Sequence[int], scores: Mapping[int, float], words: Mapping[int, list[str]]
    ) -> tuple[Hit, ...]:
        """The turns of these units, by rising number; `scores` and `words` that chose them by unit."""
        shown: dict[str, list[int]] = {}
        for unit in chosen:
            shown.setdefault(self.turns[unit].id, []).append(unit)
        return tuple(self._hit(units, scores, words) for units in shown.values())

    def _hit(self, units: list[int], scores: Mapping[int, float], words: Mapping[int, list[str]]) -> Hit:
        turn = self.turns[units[0]]
        spans: list[tuple[int, int]] = []
        for start, end in map(self.span, units):
            if spans and spans[-1][1] == start:
                start = spans.pop()[0]
            spans.append((start, end))
        why = ", ".join(dict.fromkeys(word for unit in units for word in words.get(unit, ()))) or OTHER
        whole = spans == [(0, len(turn.text))]
        return Hit(turn.id, tuple(spans), whole, max(scores[unit] for unit in units), why, turn.ref)


def _adds_up(line: str) -> bool:
    """Whether its tokens are its own whatever stands before it: no mark that would be joined with that."""
    return line[:1].isalnum() and _TICKS not in line


def line_of(turn: Turn, start: int, end: int) -> str:
    """A turn, or a piece of it with marks where something is left out, on its speaker's line."""
    before = "… " if start else ""
    after = " …" if end < len(turn.text) else ""
    who = f"{turn.speaker} {turn.ref}".strip()
    who = f"{who}: " if who else ""
    return f"{who}{before}{turn.text[start:end].strip() if before or after else turn.text}{after}"
