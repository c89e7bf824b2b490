"""Whether a request holds the values that a tool asks for: days and numbers.

Of a dozen tools about the weather, one that takes a date fits a request that names a day; one that has to be
told coordinates, or for how many days, does not fit a request without a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from orchestra.context.facts import figures_and_names
from orchestra.context.recall.dates import asked_keys

_NEAR_DAY = re.compile(
    r"\b(?:to(?:day|morrow|night)|yesterday|(?:this|next) (?:week|weekend|month))\b|[今明昨后]天",
    re.IGNORECASE,
)
_NUMBERS = frozenset(("number", "money", "percent", "id"))
_NUMERIC = ("integer", "number", "float")  # float is no type of JSON schema, and is met all the same
_DAY = re.compile(r"(?<![A-Za-z])[Dd]ates?(?![a-z])|(?<=[a-z0-9])Dates?(?![a-z])|(?<![A-Z])DATE")
_DAY_FORMATS = ("date", "date-time")
_PLACE = re.compile(r"coord|latitude|longitude|(?<![a-z])(?:lat|lon|lng)(?![a-z])", re.IGNORECASE)


class Fitting:
    """What the tools of an index ask for, by their numbers."""

    def __init__(self) -> None:
        self._count = 0
        self._taking_day: list[int] = []
        self._needing_day: list[int] = []
        self._needing_number: list[int] = []

    def add(self, schema: Any) -> None:
        """The parameters of the next tool."""
        tool, self._count = self._count, self._count + 1
        parameters = schema.get("properties") if isinstance(schema, Mapping) else None
        if not isinstance(parameters, Mapping):
            return
        required = schema.get("required")
        needed = set(map(str, required)) if isinstance(required, list | tuple) else set()
        kinds = {(_kind(str(name), part), str(name) in needed) for name, part in parameters.items()}
        if ("day", True) in kinds or ("day", False) in kinds:
            self._taking_day.append(tool)
        if ("day", True) in kinds:
            self._needing_day.append(tool)
        if ("number", True) in kinds:
            self._needing_number.append(tool)

    def judged(self, request: str) -> Iterator[tuple[int, int]]:
        """Tools that take what the request says, each with 1, and that need what it does not say, with -1."""
        keys, _ = asked_keys(request)
        day = any(not key.startswith("y") for key in keys) or _NEAR_DAY.search(request) is not None
        yield from ((tool, 1 if day else -1) for tool in (self._taking_day if day else self._needing_day))
        if not any(fact.kind in _NUMBERS for fact in figures_and_names(request)):
            yield from ((tool, -1) for tool in self._needing_number)


def _kind(name: str, part: Any) -> str:
    if not isinstance(part, Mapping):
        return ""
    if _DAY.search(name) or part.get("format") in _DAY_FORMATS:
        return "day"
    kind = part.get("type")
    kinds = kind if isinstance(kind, list | tuple) else (kind,)
    numeric = any(each in _NUMERIC for each in kinds) or _PLACE.search(name)
    return "number" if numeric else ""
