"""A text's outline, to find out fast what cannot be in it.

A pattern with many branches takes long to find nothing; a look at the outline costs a hundredth of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

_LOWER, _UPPER, _DIGITS = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789"
_SHORT = 2_000  # characters of a text whose outline is remembered for the next who asks
_KEPT = b"_.-/:#$"
_OUTLINE = bytes(
    97 if byte in _LOWER
    else 65 if byte in _UPPER
    else 48 if byte in _DIGITS
    else byte if byte in _KEPT
    else 32
    for byte in range(256)
)  # fmt: skip
_TO_WORDS = bytes(byte if byte in _LOWER else byte + 32 if byte in _UPPER else 32 for byte in range(256))


def outline(text: str) -> bytes:
    """One byte a character: `a`, `A`, `0` for letters and digits of ASCII, `_.-/:#$`, a blank for others."""
    return _outline(text) if len(text) <= _SHORT else text.encode("ascii", "replace").translate(_OUTLINE)


def has_any(shape: bytes, parts: tuple[bytes, ...]) -> bool:
    """Whether one of `parts` is in an outline."""
    for part in parts:  # noqa: SIM110 - it is called for every sentence, and any() takes twice as long
        if part in shape:
            return True
    return False


def letter_runs(text: str) -> Sequence[bytes]:
    """The runs of ASCII letters of `text`, in lower case."""
    if len(text) <= _SHORT:
        return _letter_runs(text)
    return text.encode("ascii", "replace").translate(_TO_WORDS).split()


@lru_cache(maxsize=8)  # several readers look at a text one after the other
def _outline(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(_OUTLINE)


@lru_cache(maxsize=8)
def _letter_runs(text: str) -> tuple[bytes, ...]:
    return tuple(text.encode("ascii", "replace").translate(_TO_WORDS).split())
