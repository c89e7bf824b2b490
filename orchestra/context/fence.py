"""Data inside a prompt: a label line, then the text verbatim between two equal rows of backticks."""

from __future__ import annotations

import re

from msgspec import Struct

_ROW = re.compile(r"`{3,}")
_RUN = re.compile(r"`+")


class Fenced(Struct, frozen=True):
    """One fenced text of a prompt."""

    label: str
    text: str


def fence(label: str, text: str) -> str:
    """`label` on one line, then `text` between rows of backticks longer than any run inside it."""
    longest = max((len(run) for run in _RUN.findall(text)), default=0)
    row = "`" * max(3, longest + 1)
    return f"{' '.join(label.split())}\n{row}\n{text}\n{row}"


def fenced(text: str) -> list[Fenced]:
    """What `fence` put into `text`, in order; an unclosed fence is none."""
    lines = text.split("\n")
    found = []
    at = 0
    while at < len(lines):
        if at and _ROW.fullmatch(lines[at]):
            try:
                end = lines.index(lines[at], at + 1)
            except ValueError:
                break
            found.append(Fenced(lines[at - 1], "\n".join(lines[at + 1 : end])))
            at = end
        at += 1
    return found
