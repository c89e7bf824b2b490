"""What endpoints say of their own limits: in headers with every reply, in words with a 429.

Headers: OpenAI, Azure, Groq `x-ratelimit-limit-requests` and so on; Mistral and Cerebras the same with
`-minute`; Anthropic `anthropic-ratelimit-requests-limit`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct


class Window(Struct, frozen=True):
    """One limit: so many a minute, and how many of them are left (None: not said)."""

    per_minute: int
    remaining: int | None = None


class Said(Struct, frozen=True):
    """Limits of requests and of tokens, None where nothing was said."""

    requests: Window | None = None
    tokens: Window | None = None


_KINDS = ("requests", "tokens")
_FAMILIES: tuple[dict[str, tuple[str, str, str]], ...] = (
    *(
        {
            kind: (form.format(kind, "limit"), form.format(kind, "remaining"), form.format(kind, "reset"))
            for kind in _KINDS
        }
        for form in ("x-ratelimit-{1}-{0}", "x-ratelimit-{1}-{0}-minute", "anthropic-ratelimit-{0}-{1}")
    ),
    {
        "requests": ("x-ratelimit-limit-req-minute", "x-ratelimit-remaining-req-minute", ""),
        "tokens": ("x-ratelimit-limit-tokens-minute", "x-ratelimit-remaining-tokens-minute", ""),
    },
)


def family_of(headers: Mapping[str, str]) -> int | None:
    """Which way of writing limits these headers have, None for none."""
    for family in range(len(_FAMILIES)):
        if any(_FAMILIES[family][kind][0] in headers for kind in _KINDS):
            return family
    return None


def of_headers(headers: Mapping[str, str], family: int) -> Said:
    """The limits in headers of this family."""
    return Said(*(_window(headers, _FAMILIES[family][kind]) for kind in _KINDS))


def _window(headers: Mapping[str, str], names: tuple[str, str, str]) -> Window | None:
    limit, remaining = _whole(headers.get(names[0], "")), _whole(headers.get(names[1], ""))
    if not limit:
        return None
    minutes = _minutes(limit, remaining, seconds_in(headers.get(names[2], "")))
    return Window(max(1, round(limit / minutes)), None if remaining is None or minutes > 1 else remaining)


# Some limits are of a day (Groq's and OpenAI's free requests), and only the time until the bucket is full
# again tells. It is believed where it comes out close to a real unit; a window that ends at once for all is
# none of them and taken for a minute.
_UNITS = (1.0, 60.0, 1_440.0)
_CLOSE = 0.1


def _minutes(limit: int, remaining: int | None, reset_seconds: float | None) -> float:
    if remaining is None or not reset_seconds or remaining >= limit:
        return 1.0
    minutes = limit / (limit - remaining) * reset_seconds / 60
    return next((unit for unit in _UNITS if abs(minutes / unit - 1) <= _CLOSE), 1.0)


_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


def seconds_in(text: str) -> float | None:
    """`6m0s`, `12ms`, `1.5` in seconds; None for anything else."""
    parts = _SPAN.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    try:
        return float(text)
    except ValueError:
        return None


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


_NUMBER = r"(\d+(?:[,_]\d{3})*)"
_LIMIT_AFTER = re.compile(
    rf"(tokens|requests) per min(?:ute)?\b.{{0,40}}?limit:? ?{_NUMBER}"
    rf"(?:[,./ a-z]{{0,12}}(?:used|current):? ?{_NUMBER})?",
    re.IGNORECASE,
)
_LIMIT_BEFORE = re.compile(rf"{_NUMBER} (?:input |prompt |total )?(tokens|requests) per min", re.IGNORECASE)


def of_words(text: str) -> Said | None:
    """The limit that a 429 names in its body, None where it names none."""
    found = _LIMIT_AFTER.search(text)
    if found is not None:
        kind, limit, used = found[1], _plain(found[2]), _plain(found[3]) if found[3] else None
    else:
        found = _LIMIT_BEFORE.search(text)
        if found is None:
            return None
        kind, limit, used = found[2], _plain(found[1]), None
    if not limit:
        return None
    window = Window(limit, 0 if used is None else max(0, limit - used))
    return Said(tokens=window) if kind.lower() == "tokens" else Said(requests=window)


def _plain(text: str) -> int:
    return int(re.sub(r"\D", "", text))
