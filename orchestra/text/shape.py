"""A text's outline, to find out fast what cannot be in it.

A pattern with many branches takes long to find nothing; a look at the outline costs a hundredth of that.
"""

from __future__ import annotations

_LOWER, _UPPER, _DIGITS = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789"
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
    return text.encode("ascii", "replace").translate(_OUTLINE)


def has_any(shape: bytes, parts: tuple[bytes, ...]) -> bool:
    """Whether one of `parts` is in an outline."""
    return any(part in shape for part in parts)


def letter_runs(text: str) -> list[bytes]:
    """The runs of ASCII letters of `text`, in lower case."""
    return text.encode("ascii", "replace").translate(_TO_WORDS).split()
