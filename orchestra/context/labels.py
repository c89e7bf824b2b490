"""What stands above data in a prompt: where it comes from, what asked for it, when."""

from __future__ import annotations

import time
from functools import lru_cache

from orchestra.context.fence import fence, field, fold_label

_QUERY_CHARACTERS = 200


def label_of(source: str, query: str, at: float) -> str:
    """`source | query | 2026-11-30 07:29 UTC`, without what is not known; `at` in seconds since the epoch."""
    if len(query) > _QUERY_CHARACTERS:
        query = field(query)
        query = query if len(query) <= _QUERY_CHARACTERS else query[: _QUERY_CHARACTERS - 1] + "…"
    label = source.replace("|", "/")
    if query:
        label = f"{label} | {query.replace('|', '/')}"
    label = fold_label(label)
    return f"{label} | {_minute(int(at) // 60)}" if at else label


@lru_cache(maxsize=64)  # of the minutes in which something comes
def _minute(minutes: int) -> str:
    """The time in words; `minutes` since the epoch."""
    year, month, day, hour, minute, *_ = time.gmtime(60 * minutes)
    return f"{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC"


def data(label: str, text: str) -> str:
    """Data under its label, fenced."""
    return fence(label, text)
