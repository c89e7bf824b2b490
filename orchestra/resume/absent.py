"""What stands in for models and tools that are not there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import msgspec

from orchestra.errors import InputError, RecordDiffers
from orchestra.journal.past import Past
from orchestra.journal.reading import Reader
from orchestra.models.port import whole_as_stream
from orchestra.models.tiers import Tiers
from orchestra.resume.start import Start
from orchestra.tools.port import Effects, ToolOutput
from orchestra.values.messages import Delta, Reply, Request, ToolSpec


class Absent:
    """A model that is not there: it has the name and the window of the recorded one, and no answer."""

    def __init__(self, name: str, window: int) -> None:
        self._name = name
        self._window = window

    @property
    def name(self) -> str:
        return self._name

    @property
    def window(self) -> int:
        return self._window

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        return 0.0

    async def reply(self, request: Request) -> Reply:
        raise RecordDiffers(f"The model {self.name} is not there: only what is recorded comes back.")

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        return whole_as_stream(self, request)


class AbsentTool:
    """A tool that is not there: described as the recorded one was, and `sentence` when it is called."""

    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, spec: ToolSpec, sentence: str) -> None:
        self.spec = spec
        self._sentence = sentence

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        raise InputError(self._sentence)


def absent_models(start: Start) -> Tiers:
    """The tiers of a recorded session, none of them able to answer."""
    return Tiers({tier: Absent(name, start.windows.get(tier, 1)) for tier, name in start.models.items()})


async def recorded_tools(reader: Reader, past: Past) -> tuple[ToolSpec, ...]:
    """The tools that the session was started with, as its models saw them."""
    for event in past.agent("").events:
        if event.kind == "started" and "tools" in event.texts:
            text = await reader.text(event.texts["tools"])
            return tuple(msgspec.json.decode(text, type=list[ToolSpec]))
    return ()
