"""When a person has to agree: `always`, `never`, or `when` an argument is so.

always
never
when path                      the argument is given and not empty, zero or false
when amount > 100              also <, >=, <=; numbers
when path starts with /etc     also: is, is not, ends with, contains; without regard to case
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Condition = Callable[[Mapping[str, Any]], bool]

_WHEN = re.compile(
    r"when\s+(?P<name>\w+)"
    r"(?:\s+(?P<sign>is not|is|contains|starts with|ends with|>=|<=|>|<)\s+(?P<value>.+))?",
    re.DOTALL,
)
_TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "is": lambda found, wanted: found == wanted,
    "is not": lambda found, wanted: found != wanted,
    "contains": lambda found, wanted: wanted in found,
    "starts with": lambda found, wanted: found.startswith(wanted),
    "ends with": lambda found, wanted: found.endswith(wanted),
}
_NUMBERS: Mapping[str, Callable[[float, float], bool]] = {
    ">": lambda found, wanted: found > wanted,
    "<": lambda found, wanted: found < wanted,
    ">=": lambda found, wanted: found >= wanted,
    "<=": lambda found, wanted: found <= wanted,
}


def condition_of(rule: str) -> Condition:
    """What a rule's text means. Raises ValueError in words that end a sentence with the rule's place."""
    word = " ".join(rule.split()) if not rule.strip().startswith("when") else rule.strip()
    if word == "always":
        return lambda _: True
    if word == "never":
        return lambda _: False
    found = _WHEN.fullmatch(word)
    if found is None:
        raise ValueError(
            f'must be always, never or "when ARGUMENT is VALUE" (also: is not, contains, starts with, '
            f"ends with, >, <, >=, <=), not {rule!r}"
        )
    name, sign, value = found["name"], found["sign"], (found["value"] or "").strip().strip("\"'")
    if sign is None:
        return lambda arguments: bool(arguments.get(name))
    if sign in _NUMBERS:
        return _number_condition(name, sign, value, rule)
    return lambda arguments: _TEXTS[sign](_folded(arguments.get(name)), value.casefold())


def _folded(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value).strip().casefold()


def _number_condition(name: str, sign: str, value: str, rule: str) -> Condition:
    try:
        wanted = float(value.replace(",", ""))
    except ValueError:
        raise ValueError(f"must compare with a number in {rule!r}") from None

    def holds(arguments: Mapping[str, Any]) -> bool:
        try:
            return _NUMBERS[sign](float(arguments.get(name, "")), wanted)
        except (TypeError, ValueError):
            return True  # what cannot be compared is asked about

    return holds
