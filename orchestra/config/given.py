"""One value that somebody set, and where."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from orchestra.errors import ConfigError

Path = tuple[str, ...]


class Place(Struct, frozen=True):
    """Where a value was set: a file's line (from 1, None: unknown), or the `name` of a variable or flag."""

    file: str | None = None
    line: int | None = None
    name: str = ""

    def describe(self) -> str:
        """For a sentence: `orchestra.toml:3`, `ORCHESTRA_SMALL`, `--small`."""
        return self.name or ":".join(str(part) for part in (self.file, self.line) if part is not None)

    def error(self, key: str, sentence: str) -> ConfigError:
        """The error that says what is wrong with `key` here."""
        return ConfigError(f"{self.name or key}: {sentence}", file=self.file, line=self.line, key=key)


class Given(Struct, frozen=True):
    """A value in its type."""

    path: Path
    value: Any
    place: Place

    @property
    def key(self) -> str:
        return ".".join(self.path)

    def error(self, sentence: str) -> ConfigError:
        return self.place.error(self.key, sentence)
