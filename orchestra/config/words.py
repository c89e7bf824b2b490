"""Values as people write them in a shell: `200k`, `5m`, `yes`."""

from __future__ import annotations

import re
from typing import Any

_NUMBER = re.compile(r"\s*([+-]?[0-9][0-9_,]*(?:\.[0-9]+)?|[+-]?\.[0-9]+)\s*([a-zA-Z]*)\s*")
_MANY = {"": 1, "k": 1_000, "m": 1_000_000}
_TIMES = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3_600}


def number_from_text(name: str, value: Any) -> Any:
    """The number that a word means, or the word itself if it means none.

    `200k` is 200,000 and `2M` 2,000,000; where the setting's `name` ends in "seconds", `5m` is 300 and `2h`
    is 7,200.
    """
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    units = _TIMES if name.endswith("seconds") else _MANY
    if match is None or match[2].lower() not in units:
        return value
    digits = match[1].replace("_", "").replace(",", "")
    factor = units[match[2].lower()]
    if "." not in digits and len(digits) < 4_000:
        return int(digits) * factor
    number = float(digits) * factor
    return int(number) if number.is_integer() else number


def truth_from_text(value: Any) -> Any:
    """The truth value that a word means, or the word itself if it means none."""
    words = {
        "true": True,
        "yes": True,
        "1": True,
        "on": True,
        "false": False,
        "no": False,
        "0": False,
        "off": False,
    }
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value
