"""A value that never shows itself."""

from __future__ import annotations

from typing import NoReturn


class Secret:
    """A key or a header's value: only `reveal` gives it away, not repr, str, format or pickle."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself; for the one line that puts it on the wire."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __repr__(self) -> str:
        return "Secret(...)"

    def __str__(self) -> str:
        return "..."

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self) -> NoReturn:
        raise TypeError("A Secret cannot be pickled or copied to another process.")
