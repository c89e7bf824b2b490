"""Finding and reading `orchestra.toml`."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from orchestra.config.positions import KeyPath, key_lines
from orchestra.errors import ConfigError

NAME = "orchestra.toml"
LARGEST_BYTES = 1_000_000

_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")


class ConfigFile(Struct, frozen=True):
    """A file as read: its table and the line of every key. `label` is its name in errors."""

    path: Path
    label: str
    table: Mapping[str, Any]
    lines: Mapping[KeyPath, int]


def find_file(folder: Path) -> Path | None:
    """The `orchestra.toml` of the folder or of the nearest folder above it."""
    for above in (folder, *folder.parents):
        candidate = above / NAME
        if candidate.is_file():
            return candidate
    return None


def label_of(path: Path, folder: Path) -> str:
    """A path as errors show it: relative where it lies in `folder`."""
    absolute = os.path.abspath(path)
    relative = os.path.relpath(absolute, folder)
    return absolute if relative.startswith(os.pardir) else relative


def read_file(path: Path, folder: Path) -> ConfigFile:
    """Raises ConfigError: not there, not text, not TOML (with the line)."""
    label = label_of(path, folder)
    text = _read_text(path, label)
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ConfigError("The file is nested too deeply to be read.", file=label) from None
    except ValueError as error:  # TOMLDecodeError, and int() on a number of too many digits
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1 if "end of document" in str(error) else None
        reason = _AT_LINE.sub("", str(error)).removesuffix(" (at end of document)")
        raise ConfigError(f"This is not valid TOML: {reason}.", file=label, line=line) from None
    return ConfigFile(path, label, table, key_lines(text))


def _read_text(path: Path, label: str) -> str:
    if path.is_dir():
        raise ConfigError(f"This is a folder; name the file, such as {label}/{NAME}.", file=label)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError("There is no such file.", file=label) from None
    except OSError as error:
        raise ConfigError(f"The file cannot be read: {error.strerror}.", file=label) from None
    if len(data) > LARGEST_BYTES:
        raise ConfigError(f"The file is larger than {LARGEST_BYTES:,} bytes.", file=label)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ConfigError("The file is UTF-16; save it as UTF-8.", file=label)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError("The file is not UTF-8; save it as UTF-8.", file=label, line=line) from None
