"""Turns that belong together in time, under one heading each, and finding them by date."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from orchestra.context.recall import dates
from orchestra.context.recall.postings import Postings
from orchestra.context.recall.scoring import by_best
from orchestra.context.recall.turns import Sitting, Turn
from orchestra.context.recall.words import plain_terms

SILENCE = timedelta(hours=1)
"""After so long a pause a new sitting begins."""
STRETCH = 20
"""Turns of a sitting where no times are known."""


class Sittings:
    """The sittings in order; `count` counts the tokens of their headings."""

    __slots__ = ("_before", "_count", "_days", "_last", "_turns", "all")

    def __init__(self, count: Callable[[str], int]) -> None:
        self.all: list[Sitting] = []
        self._count = count
        self._days = Postings()
        self._before: Turn | None = None
        self._last: datetime | None = None
        self._turns = 0

    def seat(self, turn: Turn) -> bool:
        """Put the newest turn into the last sitting, or begin one with it; True when one began."""
        when = dates.moment(turn.time)
        before, self._before = self._before, turn
        if before is not None and not self._begins(before, turn, when):
            self._turns += 1
            self._last = when or self._last
            return False
        self._turns = 1
        self._last = when
        if when is not None:
            same_day = bool(self.all) and self.all[-1].day == when.date()
            heading = dates.heading(when, with_clock=same_day)
        else:
            heading = " ".join(str(turn.time or turn.session or "").split())
        tokens = self._count(heading + "\n") if heading else 0
        self.all.append(Sitting(heading, tokens, when.date() if when else None))
        self._days.new()
        self._days.fill(dates.keys_of(when) if when else plain_terms(heading))
        return True

    def dated(self, question: str) -> dict[int, float]:
        """The sittings of the days that a question names, 0 … 1."""
        keys, named = dates.asked_keys(question)
        if not keys:
            return {}
        found = by_best(self._days.scores(dict.fromkeys(keys, 1.0)))
        for sitting, (_, _, day) in enumerate(self.all):
            near = dates.closeness(named, day) if day is not None else 0.0
            if near > found.get(sitting, 0.0):
                found[sitting] = near
        return found

    def _begins(self, before: Turn, turn: Turn, when: datetime | None) -> bool:
        if turn.session is not None or before.session is not None:
            return turn.session != before.session
        if when is not None and self._last is not None:
            return abs(when - self._last) > SILENCE
        if turn.time is not None or before.time is not None:
            return turn.time != before.time
        return self._turns >= STRETCH
