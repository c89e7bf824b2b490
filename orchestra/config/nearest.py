"""The valid word that a wrong one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def hint(word: str, valid: Iterable[str]) -> str:
    """A sentence to append: the nearest valid word, or all of them when none is near and they are few."""
    words = sorted(set(valid))
    lower = {candidate.lower(): candidate for candidate in words}
    near = get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
    if near:
        return f' Did you mean "{lower[near[0]]}"?'
    return f" Valid: {', '.join(words)}." if 0 < len(words) <= 16 else ""


def shown(value: object, *, limit: int = 60) -> str:
    """A value as an error shows it: on one line, at most `limit` characters."""
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."
