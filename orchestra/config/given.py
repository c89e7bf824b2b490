"""One value that somebody set, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from orchestra.errors import ConfigError

Path = tuple[str, ...]


class Place(Struct, frozen=True):
    """Where a value was set: a line of a file (from 1, None where unknown), or a variable's or flag's `name`."""

    file: str | None = None
    line: int | None = None
    name: str = ""

    def describe(self) -> str:
        """For a sentence: `orchestra.toml:3`, `ORCHESTRA_SMALL`, `--small`."""
        return self.name or ":".join(str(part) for part in (self.file, self.line) if part is not None)

    def error(self, key: str, sentence: str) -> ConfigError:
        """The error that says what is wrong with `key` here."""
        words = [part for part in (self.name if self.name != key else "", key, sentence) if part]
        return ConfigError(": ".join(words), file=self.file, line=self.line, key=key)


class Given(Struct, frozen=True):
    """A value as it was written: `text` says that it is a word from the shell and has yet to get its type.

    `lines`: where the value is a table, the line of each of its keys.
    """

    path: Path
    value: Any
    place: Place
    text: bool = False
    lines: Mapping[str, int] = {}

    @property
    def key(self) -> str:
        return ".".join(self.path)

    def error(self, sentence: str) -> ConfigError:
        return self.place.error(self.key, sentence)
