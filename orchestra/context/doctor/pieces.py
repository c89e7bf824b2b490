"""The text of a user's message taken apart: fenced data, pieces of the runtime, what was said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from orchestra.context.fence import Fenced, fence, parts

RECALLED = ("Recalled from earlier", "Values said earlier")
"""What labels begin with under which a context shows again what has left."""
_BEGINNINGS = (
    ("state", re.compile(r"State of the task:\n")),
    ("superseded", re.compile(r"Superseded:\n")),
    ("constraints", re.compile(r"Still binding:\n")),
    ("reminder", re.compile(r"The current input once more:\n")),
    ("ask", re.compile(r"(?:Go on\.|Give your final result now\.|You are close to your limit\. )")),
    (
        "output format",
        re.compile(
            r"(?i)(?:(?:output|response|answer|reply) format\s*:|输出格式\s*[:：]|回答格式\s*[:：]"
            r"|(?:answer|reply|respond)(?: only)? (?:with|in|as) (?:one |a |valid |a single )*json\b"
            r"|(?:请)?(?:以|用|按)\s*json\s*格式)"
        ),
    ),
)


class Segment(Struct, frozen=True):
    """A stretch of a message; `name` of a piece."""

    kind: Literal["data", "said", "piece"]
    text: str
    name: str = ""


def segments(text: str, sources: Sequence[str] = ()) -> list[Segment]:
    """The segments in order. Data: fenced under a label with fields, or under one of `sources`.

    Any other fence belongs to the words around it: people paste code, and briefs hold claims.
    """
    found: list[Segment] = []
    words: list[str] = []

    def flush() -> None:
        found.extend(_plain("\n".join(words)))
        words.clear()

    folded = {" ".join(source.split()).replace("|", "/") for source in sources}
    bare = _bare(text)
    if bare:
        found.append(Segment("data", bare))
        text = text[len(bare) :]
    for part in parts(text):
        if not isinstance(part, Fenced):
            words.append(part)
        elif _is_data(part, folded):
            flush()
            found.append(Segment("data", fence(part.label, part.text)))
        else:
            words.append(fence(part.label, part.text))
    flush()
    return found


def _is_data(part: Fenced, sources: set[str]) -> bool:
    first = part.label.split(" | ")[0]
    if part.label.startswith(RECALLED):
        return True
    return " | " in part.label or first in sources or (not part.label.strip() and bool(sources))


def _bare(text: str) -> str:
    """A fence that a message begins with, and so has no label; "" without one."""
    line, _, rest = text.partition("\n")
    if len(line) < 3 or line.strip("`"):
        return ""
    end = rest.find(f"\n{line}")
    return text[: len(line) + 1 + end + 1 + len(line)] if end >= 0 else ""


def _plain(text: str) -> list[Segment]:
    """Words, parted where a paragraph begins like a piece; what follows a state belongs to it up to a gap."""
    found: list[Segment] = []
    for paragraph in re.split(r"\n{2,}(?!```)", text):
        paragraph = paragraph.strip("\n")  # what follows a fence begins with what is left of a gap
        if not paragraph.strip():
            continue
        name = next((name for name, begins in _BEGINNINGS if begins.match(paragraph)), "")
        if name:
            found.append(Segment("piece", paragraph, name))
        elif found and found[-1].kind == "said":
            found[-1] = Segment("said", f"{found[-1].text}\n\n{paragraph}")
        else:
            found.append(Segment("said", paragraph))
    return found
