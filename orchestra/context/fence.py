"""Data shown to a model: a label line, a fence of backticks, the text verbatim, the closing fence."""

from __future__ import annotations

import re

from msgspec import Struct

from orchestra.text.fold import one_line

_RUN = re.compile("`{3,}")


class Fenced(Struct, frozen=True, gc=False):
    """One fenced text of a prompt."""

    label: str
    text: str


def fence(label: str, text: str) -> str:
    """`text` between fences longer than any run of backticks in it, under `label` folded to one line."""
    ticks = ticks_for(text)
    return f"{fold_label(label)}\n{ticks}\n{text}\n{ticks}"


def ticks_for(text: str) -> str:
    """Backticks that fence a text: three, or more than any run of them in it has."""
    return "`" * (1 + max(map(len, _RUN.findall(text)))) if "`" in text and "```" in text else "```"


def fenced(text: str) -> list[Fenced]:
    """Every fenced text with its label, in order: the exact inverse of `fence` for texts joined by newlines.

    A fence that is never closed is none.
    """
    return [part for part in parts(text) if isinstance(part, Fenced)]


def parts(text: str) -> list[str | Fenced]:
    """The fenced texts and what stands between them, in order; joined by newlines they are `text` again."""
    if "```" not in text:
        return [text]
    found: list[str | Fenced] = []
    lines = text.split("\n")
    plain, at = 0, 1
    while at < len(lines):
        ticks = lines[at]
        if len(ticks) < 3 or ticks.strip("`"):
            at += 1
            continue
        try:
            end = lines.index(ticks, at + 1)
        except ValueError:
            break
        if plain < at - 1:
            found.append("\n".join(lines[plain : at - 1]))
        found.append(Fenced(lines[at - 1], "\n".join(lines[at + 1 : end])))
        plain = end + 1
        at = plain + 1
    if plain < len(lines):
        found.append("\n".join(lines[plain:]))
    return found


def fold_label(label: str) -> str:
    """A label on one line that cannot be taken for a fence."""
    folded = one_line(label)
    return _RUN.sub(lambda run: "'" * len(run.group()), folded) if "```" in folded else folded


def field(text: str) -> str:
    """One field of a label whose fields are parted by " | "."""
    return one_line(text).replace("|", "/")
