"""A prompt as it was sent, and where in it what stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

from orchestra.context.doctor.pieces import RECALLED
from orchestra.context.doctor.reading import Part, read
from orchestra.context.endings import PINNED_LABEL
from orchestra.context.manifest import Manifest
from orchestra.context.tokens import tool_json
from orchestra.values.messages import Message, ToolSpec

_LABELS = {PINNED_LABEL: "pins", "summary v": "summary", "left out of this prompt": "ledger"}
_PIECES = {"reminder": "input", "ask": "input", "output format": "fixed", "output schema": "fixed"}


class Seen:
    """One prompt of the talk. `turn`: of the scenario, from 1; `by`: whose it was.

    `messages` and `tools` are what the model was sent, `manifest` what was recorded with it.
    """

    def __init__(
        self,
        place: tuple[int, str],
        messages: tuple[Message, ...],
        tools: tuple[ToolSpec, ...],
        manifest: Manifest,
    ) -> None:
        self.turn, self.by = place
        self.messages = messages
        self.tools = tools
        self.manifest = manifest

    @property
    def tokens(self) -> int:
        return self.manifest.tokens

    @property
    def occupancy(self) -> float:
        """Of the budget, 1 when it is full."""
        return self.manifest.occupancy

    @cached_property
    def text(self) -> str:
        """Everything that it shows."""
        return even("\n".join(_shown(message) for message in self.messages))

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return read(self.messages, self.manifest).parts

    @cached_property
    def texts(self) -> tuple[tuple[frozenset[str], str], ...]:
        """Each part's places and its text."""
        said = [part for part in self.parts if part.kind == "said"]
        last = said[-1] if said else None
        return tuple((_places(part, part is last), even(_text(part))) for part in self.parts)

    def within(self, where: str) -> str:
        """What stands in a place, "" for anywhere."""
        if not where:
            return self.text
        if where == "tools":
            return even("\n".join(map(tool_json, self.tools)))
        return "\n".join(text for places, text in self.texts if where in places)


def _shown(message: Message) -> str:
    calls = (f"{call.name} {call.arguments}" for call in message.calls)
    return "\n".join((message.text, *calls))


def _text(part: Part) -> str:
    return "\n".join((part.text, *(f"{call.name} {call.arguments}" for call in part.calls)))


def _places(part: Part, last: bool) -> frozenset[str]:
    return frozenset(_names(part, last))


def _names(part: Part, last: bool) -> Iterator[str]:
    label = next((name for begin, name in _LABELS.items() if part.text.startswith(begin)), "")
    if part.text.startswith(RECALLED):
        label = "recalled"
    if label:
        yield label
    if part.kind == "result":
        yield "results"
    if part.entry is not None:
        yield part.entry.zone
    elif part.kind == "piece":
        yield _PIECES.get(part.name, "state")
    elif part.kind == "data":
        yield "memory" if label == "pins" else "knowledge"
    elif part.kind == "said":
        yield "input" if last else "history"
    else:
        yield "fixed" if part.kind == "instructions" else "history"


def even(text: str) -> str:
    """The text with any white space as one space."""
    return " ".join(text.split())


def count(literal: str, text: str) -> int:
    """How often a literal stands in a text, not counting longer words and figures that contain it."""
    literal = even(literal)
    if literal not in text:
        return 0
    return sum(1 for _ in _pattern(literal).finditer(text))


@lru_cache(maxsize=4_096)
def _pattern(literal: str) -> re.Pattern[str]:
    before = r"(?<![A-Za-z0-9])(?<!\d[.,])" if _is_word(literal[0]) else ""
    after = r"(?![A-Za-z0-9]|[.,]\d)" if _is_word(literal[-1]) else ""
    return re.compile(f"{before}{re.escape(literal)}{after}")


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()
