"""A scenario being played: who speaks next, what the tools bring, what was sent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from orchestra.context.manifest import Manifest
from orchestra.context.tokens import Counter
from orchestra.errors import ToolFailed
from orchestra.eval.generated import generate
from orchestra.eval.prompts import Seen
from orchestra.eval.scenario import Call, Result, Scenario, Turn
from orchestra.eval.summing import summary
from orchestra.journal.encoding import decode, encode
from orchestra.journal.patch import apply
from orchestra.models.port import Model, whole_as_stream
from orchestra.tools.port import Effects, ToolOutput
from orchestra.values.events import Event
from orchestra.values.messages import Delta, Reply, Request, ToolCall, ToolSpec
from orchestra.values.usage import Usage

generated = lru_cache(maxsize=4)(generate)


class Exchange(Struct, frozen=True):
    """A prompt and what was answered to it."""

    prompt: Seen
    reply: Reply


class Stage:
    """One scenario under one policy. Its turns are played one after another, whoever speaks."""

    def __init__(self, scenario: Scenario, counter: Counter) -> None:
        self.scenario = scenario
        self.exchanges: list[Exchange] = []
        self.compactions = 0
        self.summary_tokens = 0
        self._counter = counter
        self._number = 0
        self._turn: Turn = scenario.turns[0]
        self._step = 0
        self._open: list[Call] = []
        self._brought: dict[str, Result] = {}
        self._summaries = 0
        self._manifests: dict[str, _Account] = {}
        self._newest: Manifest | None = None

    def begin(self, number: int, turn: Turn) -> None:
        """The next turn, numbered from 1."""
        self._number, self._turn, self._step = number, turn, 0
        self._open = [call for step in turn.steps for call in step]

    def watch(self, by: str) -> Callable[[Event], None]:
        """Listens to the journal of one user's session."""
        account = self._manifests.setdefault(by, _Account())

        def seen(event: Event) -> None:
            if event.kind == "compacted":
                self.compactions += 1
            elif event.kind == "prompt" and "beside" not in event.data:
                self._newest = account.after(event)

        return seen

    def answered(self, request: Request, reply: Reply) -> None:
        """A model was sent this and said that."""
        if request.purpose == "summary":
            self.summary_tokens += sum(map(self._counter.message, request.messages))
            return
        assert self._newest is not None
        place = (self._number, self._turn.by)
        seen = Seen(place, request.messages, request.tools, self._newest)
        self.exchanges.append(Exchange(seen, reply))

    def next_line(self, request: Request) -> Reply:
        """What the scripted model says. Raises ModelUnreachable where its summary fails."""
        if request.purpose == "summary":
            return self._sum_up(request)
        tokens = self._newest.tokens if self._newest is not None else 0
        usage = Usage(calls=1, input_tokens=tokens, output_tokens=20)
        if self._step < len(self._turn.steps) and request.tool_choice != "none":
            step = self._turn.steps[self._step]
            self._step += 1
            calls = tuple(
                ToolCall(f"t{self._number}.{self._step}.{at}", call.tool, call.arguments)
                for at, call in enumerate(step, 1)
            )
            return Reply(calls=calls, finish="calls", usage=usage, model="scripted")
        return Reply(text=self._turn.reply, usage=usage, model="scripted")

    def _sum_up(self, request: Request) -> Reply:
        behaviours = self.scenario.summaries
        behaviour = behaviours[self._summaries % len(behaviours)]
        self._summaries += 1
        text = summary(self.scenario, behaviour, request.messages[-1].text)
        assert request.output is not None
        tokens = sum(map(self._counter.message, request.messages))
        usage = Usage(calls=1, input_tokens=tokens, output_tokens=self._counter.count(text))
        return Reply(text=text, value=request.output.validate(text), usage=usage, model="scripted")

    def bring(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """What a call brings: the turn's next result of this tool. Raises ToolFailed."""
        mine = [call for call in self._open if call.tool == tool]
        same = [call for call in mine if msgspec.json.decode(call.arguments) == dict(arguments)]
        found = next(iter(same or mine), None)
        if found is None:  # a live model calls what it likes; what it knows already it may ask for again
            result = self._brought.get(tool)
        else:
            self._open.remove(found)
            result = found.result
        if result is not None and result.again:
            result = self._brought[tool]
        if result is None:
            raise ToolFailed(f"{tool} knows nothing about that.")
        self._brought[tool] = result
        if result.error:
            raise ToolFailed(result.error)
        return ToolOutput(text=generated(result.generated) if result.generated else result.text)


class _Account:
    """The manifests of one agent, as they are recorded: each by what changed."""

    def __init__(self) -> None:
        self._entries: list[Any] = []

    def after(self, event: Event) -> Manifest:
        recorded = event.data.get("manifest") or event.texts["manifest"]
        told = decode(recorded if isinstance(recorded, str) else encode(recorded))
        self._entries = apply(self._entries if event.data["of"] else [], told["entries"])
        return msgspec.convert({**told["head"], "entries": self._entries}, Manifest)


class StagedTool:
    """A tool of a scenario, over what its script says."""

    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, spec: ToolSpec, stage: Stage) -> None:
        self.spec = spec
        self._stage = stage

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        return self._stage.bring(self.spec.name, arguments)


class Actor:
    """A scenario's model, in the scenario's window: its script, or a `live` one that is listened to."""

    def __init__(self, stage: Stage, live: Model | None = None) -> None:
        self._stage = stage
        self._live = live

    @property
    def name(self) -> str:
        return self._live.name if self._live is not None else "scripted"

    @property
    def window(self) -> int:
        wanted = self._stage.scenario.window
        return wanted if self._live is None else min(wanted, self._live.window)

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        return self._live.cost(input_tokens, output_tokens) if self._live is not None else 0.0

    async def reply(self, request: Request) -> Reply:
        if self._live is not None:
            reply = await self._live.reply(request)
        else:
            reply = self._stage.next_line(request)
        self._stage.answered(request, reply)
        return reply

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        return whole_as_stream(self, request)
