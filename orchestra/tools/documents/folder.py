"""The files of a folder, in the same order each time, and one line for each that is refused."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePath

from msgspec import Struct

from orchestra.errors import InputError
from orchestra.tools.documents.reading import FILE_BYTES, check_size

# Folders that hold copies of other people's files or a program's leavings.
_SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__", "site-packages", "venv", "__MACOSX"))

# Files that are known to hold no text; counted in one line together.
_NO_TEXT_KINDS = """
    .png .jpg .jpeg .gif .bmp .tif .tiff .webp .ico .heic .svg .psd .ai
    .mp3 .wav .flac .ogg .m4a .mp4 .mov .avi .mkv .webm
    .zip .gz .bz2 .xz .zst .7z .rar .tar .tgz .jar .war .whl .iso .dmg
    .exe .dll .so .dylib .a .o .obj .class .pyc .pyo .wasm .ttf .otf .woff .woff2 .eot
    .db .sqlite .sqlite3 .db-wal .db-shm .parquet .npy .npz .pkl .bin .dat .pt .onnx .safetensors .gguf .map
"""
_NO_TEXT = frozenset(_NO_TEXT_KINDS.split())


class Found(Struct, frozen=True):
    """A file that may be read. `locator`: its path below the folder, with forward slashes.

    The times are in nanoseconds since the epoch.
    """

    locator: str
    path: str
    size: int
    modified_ns: int
    changed_ns: int


class Walk(Struct, frozen=True):
    """What a folder holds; `problems` has one line for each file left out that could have been meant."""

    found: tuple[Found, ...]
    problems: tuple[str, ...]


def resolve(folder: str | Path) -> Path:
    """The real path of a folder, or of a file that counts as a folder of one. Raises InputError."""
    try:
        path = Path(folder).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"there is no folder {str(folder)!r}; name one that holds documents") from error
    if not (path.is_dir() or path.is_file()):
        raise InputError(
            f"{str(folder)!r} is neither a folder nor a file; name a folder that holds documents"
        )
    return path


def walk(root: Path, limit_bytes: int = FILE_BYTES) -> Walk:
    """Everything below `root` that may be read, sorted by locator.

    Hidden files and folders are skipped in silence. Links are not followed: what one inside the folder leads
    to is met anyway, and one that leads out is refused.
    """
    found: list[Found] = []
    problems: list[str] = []
    no_text: Counter[str] = Counter()
    if root.is_file():
        _take(root.name, str(root), root.stat(), limit_bytes, (found, problems))
    else:
        for path in _entries(root, problems):
            locator = _locator(path, root)
            extension = PurePath(path).suffix.lower()
            try:
                status = os.lstat(path)
                if stat.S_ISLNK(status.st_mode):
                    _refuse_link(path, root, locator)
                elif extension in _NO_TEXT and stat.S_ISREG(status.st_mode):
                    no_text[extension] += 1
                else:
                    _take(locator, path, status, limit_bytes, (found, problems))
            except InputError as error:
                problems.append(str(error))
            except OSError as error:
                problems.append(f"{locator}: cannot be looked at ({error.strerror})")
    if no_text:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(no_text.items()))
        problems.append(f"files of kinds that hold no text were left out: {kinds}")
    return Walk(_distinct(found, problems), tuple(problems))


def _distinct(found: list[Found], problems: list[str]) -> tuple[Found, ...]:
    """One file for each locator; names that only differ in bytes that cannot be shown are the same."""
    by_locator: dict[str, Found] = {}
    for file in sorted(found, key=lambda file: (file.locator, os.fsencode(file.path))):
        if by_locator.setdefault(file.locator, file) is not file:
            problems.append(f"{file.locator}: another file has this name but for bytes that cannot be shown")
    return tuple(by_locator.values())


def _entries(root: Path, problems: list[str]) -> Iterator[str]:
    """Every path below that is not a folder, depth first, by name."""
    stack = [str(root)]
    while stack:
        here = stack.pop()
        try:
            with os.scandir(here) as entries:
                rows = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            if here == str(root):
                raise InputError(
                    f"the folder {here!r} cannot be listed ({error.strerror}); check its rights"
                ) from error
            problems.append(f"{_locator(here, root)}: the folder cannot be listed ({error.strerror})")
            continue
        below = []
        for entry in rows:
            if entry.name.startswith((".", "~$")):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED_FOLDERS:
                    below.append(entry.path)
            else:
                yield entry.path
        stack.extend(reversed(below))


def _locator(path: str, root: Path) -> str:
    """Bytes of a name that are not UTF-8 are shown as U+FFFD."""
    relative = PurePath(os.path.relpath(path, root)).as_posix()
    return os.fsencode(relative).decode("utf-8", "replace")


def _refuse_link(path: str, root: Path, locator: str) -> None:
    target = Path(os.path.realpath(path))
    if not target.exists():
        raise InputError("is a link to nothing", file=locator)
    if not target.is_relative_to(root):
        raise InputError("is a link that leaves the folder and was not followed", file=locator)


def _take(
    locator: str, path: str, status: os.stat_result, limit_bytes: int, into: tuple[list[Found], list[str]]
) -> None:
    found, problems = into
    try:
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"is {_kind(status.st_mode)} and was not opened", file=locator)
        check_size(status.st_size, locator, limit_bytes)
    except InputError as error:
        problems.append(str(error))
        return
    found.append(Found(locator, path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "a device"
    return "no regular file"
