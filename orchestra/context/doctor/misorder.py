"""What stands in the wrong place: buried constraints, data behind the input, a format that is not last."""

from __future__ import annotations

from collections.abc import Iterator

from orchestra.context.doctor.contradiction import contradictions
from orchestra.context.doctor.finding import Finding
from orchestra.context.doctor.reading import Part, Reading
from orchestra.context.sayings import SMALL_TALK, is_question, sayings
from orchestra.context.tokens import MESSAGE_TOKENS

BURIED_BEHIND = 2_500
"""Estimated tokens behind a constraint from which it counts as buried; a context restates it from 2,000 on,
and the estimate may be a fifth too high."""
BURIED_BEFORE = 400
FULL = 150
"""Tokens of restated constraints from which on a context leaves older ones out."""


def misorder(reading: Reading) -> Iterator[Finding]:
    yield from _buried(reading)
    yield from _data_behind(reading)
    yield from _format(reading)
    yield from contradictions(reading)


def _buried(reading: Reading) -> Iterator[Finding]:
    """A constraint that the user set in the middle of a long prompt and that stands nowhere else."""
    said = reading.of("said")
    if any(part.name == "constraints" and part.tokens >= FULL for part in reading.parts):
        return  # as many as there is room for are said again
    for part in said[1:]:
        later = (other for other in reading.after(part) if other.kind not in ("data", "piece"))
        behind = sum(other.tokens + MESSAGE_TOKENS for other in later)
        if behind < BURIED_BEHIND or part.start < BURIED_BEFORE:
            continue
        for saying in sayings(part.text):
            if saying.binds and _binding(saying.text) and not _restated(saying.text, part, reading):
                yield Finding(
                    "misorder",
                    part.block,
                    f"The constraint “{_short(saying.text)}” stands in the middle of the prompt, with about "
                    f"{behind:,} tokens behind it, and is not restated at the end.",
                    "Pin it, or put it into the state, so that it is said again at the end.",
                )
                break


def _binding(text: str) -> bool:
    return not is_question(text) and not SMALL_TALK.search(text)


def _restated(text: str, part: Part, reading: Reading) -> bool:
    """Whether the same words stand among what is pinned or at the end."""
    wanted = _folded(text)
    for other in reading.parts:
        if other is part or other.kind in ("result", "reply"):
            continue
        near = reading.tokens - other.start - other.tokens < BURIED_BEHIND
        if (near or other.kind in ("instructions", "data", "piece")) and wanted in _folded(other.text):
            return True
    return False


def _folded(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .。!！")


def _data_behind(reading: Reading) -> Iterator[Finding]:
    current = reading.input
    if current is None:
        return
    for part in reading.after(current):
        if part.kind == "reply":  # what comes to a model that is at work is no preface any more
            return
        if part.kind == "data":
            yield Finding(
                "misorder",
                part.block,
                f"Data ({_short(part.text.split(chr(10), 1)[0])}) stands behind the current input.",
                "Put data before the input, so that the request is the last thing said.",
            )


def _format(reading: Reading) -> Iterator[Finding]:
    """An output format with more behind it than a word of the runtime, and not said again at the end."""
    last: Part | None = None
    for part in reading.parts:
        if part.name == "output format":
            last = part
    if last is None:
        return
    behind = [part for part in reading.after(last) if part.name != "ask" and part.text.strip()]
    if behind:
        yield Finding(
            "misorder",
            last.block,
            f"The output format is not last: {_name(behind[-1])} stands behind it.",
            "Move the output format to the end of the prompt.",
        )


def _name(part: Part) -> str:
    return f"{part.block} ({part.name or part.kind})"


def _short(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= 80 else folded[:79] + "…"
