"""A Markdown file with YAML front matter, taken apart with the line of every key."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from msgspec import Struct

from orchestra.errors import RoleError, UserError

LARGEST_BYTES = 1_000_000

# `description: Use when: ...` is no YAML, but other programs write and read it.
_LOOSE = re.compile(r"^([A-Za-z][\w-]*):[ \t]+(?![|>\[{\"'&*!])(.+)$", re.MULTILINE)
_FENCE = re.compile(r"---[ \t]*")


class Front(Struct, frozen=True):
    """A file taken apart. `entries`: key, its line from 1, its YAML node. `body_line`: of the first text."""

    entries: tuple[tuple[str, int, Any], ...]
    body: str
    body_line: int


def read_text(path: Path, label: str, *, what: str = "role file", error: type[UserError] = RoleError) -> str:
    """The file's text with plain line ends and no byte order mark. Raises `error`; `what` it should be."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise error("There is no such file.", file=label) from None
    except IsADirectoryError:
        raise error(f"This is a folder, not a {what}.", file=label) from None
    except OSError as fault:
        raise error(f"The file cannot be read: {fault.strerror}.", file=label) from None
    if len(data) > LARGEST_BYTES:
        raise error(f"The file is larger than {LARGEST_BYTES:,} bytes.", file=label)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in data[:200]:
        raise error("The file is UTF-16 or not text; save it as UTF-8.", file=label, line=1)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise error("The file is not UTF-8; save it as UTF-8.", file=label, line=line) from None


def split_front(text: str, label: str) -> Front:
    """Front matter and body. Raises RoleError with the line."""
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if not _FENCE.fullmatch(lines[first]):
        raise RoleError(
            "There is no front matter: begin with a line ---, then name: and description:, then a line ---.",
            file=label,
            line=first + 1,
        )
    end = next((at for at in range(first + 1, len(lines)) if _FENCE.fullmatch(lines[at])), None)
    if end is None:
        raise RoleError("The front matter has no end: a line --- is missing.", file=label, line=first + 1)
    entries = _entries("\n".join(lines[first + 1 : end]), label, first + 2)
    body = lines[end + 1 :]
    blank = next((at for at, line in enumerate(body) if line.strip()), 0)
    return Front(entries, "\n".join(body).strip(), end + 2 + blank)


def _entries(front: str, label: str, first_line: int) -> tuple[tuple[str, int, Any], ...]:
    import yaml

    node, fault = _compose(front)
    if fault is not None:
        loose = _LOOSE.sub(_quoted, front)
        node, again = _compose(loose)
        if again is not None:
            mark = getattr(fault, "problem_mark", None)
            line = first_line + (mark.line if mark is not None else 0)
            reason = getattr(fault, "problem", None) or getattr(fault, "reason", None) or "nested too deeply"
            raise RoleError(f"The front matter is not valid YAML: {reason}.", file=label, line=line)
    if node is None:
        return ()
    if not isinstance(node, yaml.MappingNode):
        raise RoleError("The front matter must be lines of key: value.", file=label, line=first_line)
    return tuple(
        (str(key.value), first_line + key.start_mark.line, value)
        for key, value in node.value
        if isinstance(key, yaml.ScalarNode)
    )


def _compose(front: str) -> tuple[Any, Exception | None]:
    import yaml

    try:
        return yaml.compose(front, Loader=yaml.SafeLoader), None
    except (yaml.YAMLError, RecursionError) as error:
        return None, error


def _quoted(match: re.Match[str]) -> str:
    return f"{match[1]}: {json.dumps(match[2].strip(), ensure_ascii=False)}"
