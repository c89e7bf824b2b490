"""Whether anything that was said later takes up what a result brought."""

from __future__ import annotations

import re

from orchestra.context.doctor.reading import Part, Reading
from orchestra.text.terms import terms

_EXACT = re.compile(r"[A-Za-z]*\d[\w.,:%-]*\d|[A-Z]{2,}\w*|\d{2,}")
_LABELS = re.compile(r"\[(s\d+)\]")
_MANY = 60
_LONG = 5
_RUN = 3
"""Neighbouring terms that both have: a phrase that was taken over."""


class References:
    """Reads each part once; asked about results."""

    def __init__(self, reading: Reading) -> None:
        self._parts = reading.parts
        self._runs: dict[int, frozenset[tuple[str, ...]]] = {}
        self._exact: dict[int, frozenset[str]] = {}

    def since(self, result: Part) -> bool:
        """Whether anything after the answer that it was fetched for refers to it."""
        at = self._parts.index(result)
        answered = next(
            (place for place in range(at + 1, len(self._parts)) if self._answers(self._parts[place])), None
        )
        if answered is None:
            return True
        return any(
            self._refers(place, at) for place in range(answered + 1, len(self._parts)) if self._speaks(place)
        )

    def passed_over(self, result: Part) -> bool:
        """Whether there was an answer after it and nothing after it refers to it."""
        at = self._parts.index(result)
        later = range(at + 1, len(self._parts))
        answered = any(self._answers(self._parts[place]) for place in later)
        return answered and not any(self._refers(place, at) for place in later if self._speaks(place))

    def left_behind(self, result: Part) -> bool:
        """Whether the work went on after it and nothing refers to it."""
        at = self._parts.index(result)
        later = [place for place in range(at + 1, len(self._parts)) if self._speaks(place)]
        return any(self._parts[place].kind == "reply" for place in later) and not any(
            self._refers(place, at) for place in later
        )

    @staticmethod
    def _answers(part: Part) -> bool:
        return part.kind == "reply" and bool(part.text.strip()) and not part.calls

    def _speaks(self, place: int) -> bool:
        part = self._parts[place]
        return part.kind in ("reply", "said") or part.name in ("state", "reminder")

    def _refers(self, later: int, at: int) -> bool:
        """An exact token or a phrase of the result, and not of its query, is in the later part."""
        label = self._parts[at].text.split("\n", 1)[0]
        exact = (self._exact_of(later) & self._exact_of(at)) - frozenset(_EXACT.findall(label))
        if len(self._exact_of(at)) > _MANY:  # among so many numbers a short one is there by chance
            exact = frozenset(found for found in exact if len(found) >= _LONG and not found.isalpha())
        return bool(exact) or bool(self._runs_of(later) & self._runs_of(at))

    def _exact_of(self, at: int) -> frozenset[str]:
        if at not in self._exact:
            text = self._said(at)
            self._exact[at] = frozenset(_EXACT.findall(text)) | frozenset(_LABELS.findall(text))
        return self._exact[at]

    def _runs_of(self, at: int) -> frozenset[tuple[str, ...]]:
        if at not in self._runs:
            found = terms(self._said(at))
            run = _RUN if self._said(at).isascii() else _RUN + 1
            self._runs[at] = frozenset(
                tuple(found[place : place + run]) for place in range(len(found) - run + 1)
            )
        return self._runs[at]

    def _said(self, at: int) -> str:
        part = self._parts[at]
        body = part.text.split("\n", 1)[-1] if part.kind == "result" else part.text
        return "\n".join((body, *(call.arguments for call in part.calls)))
