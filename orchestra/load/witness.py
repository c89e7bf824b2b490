"""Sees every prompt and every reply of a load test, and says whose they should have been."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from orchestra.load.canary import current, sessions_in
from orchestra.load.plan import Leak
from orchestra.models.compatible.encode import in_order
from orchestra.models.port import Model
from orchestra.values.messages import Delta, Message, Reply, Request

_MOST_KEPT = 1_000  # findings; one is enough to fail


class Witness:
    """What was found in the whole test, and when each session's calls ran."""

    def __init__(self) -> None:
        self.leaks: list[Leak] = []
        self.broken: list[str] = []
        self.searched: Counter[str] = Counter()
        self.spans: dict[int, list[tuple[float, float]]] = {}
        self.calls = 0

    def search(self, text: str, owner: int, place: str) -> None:
        """Note every other session whose canary stands in a text of `owner`."""
        for foreign in sessions_in(text):
            if foreign != owner and len(self.leaks) < _MOST_KEPT:
                self.leaks.append(Leak(owner, foreign, place))

    def prompt(self, request: Request) -> None:
        owner = current.get(-1)
        self.searched["prompts"] += 1
        for message in request.messages:
            self.search(message.text, owner, f"a prompt ({message.role})")
        if in_order(request.messages) is not request.messages and len(self.broken) < _MOST_KEPT:
            self.broken.append(f"session {owner}: {_parted(request.messages)}")

    def reply(self, reply: Reply) -> None:
        owner = current.get(-1)
        self.searched["replies"] += 1
        for text in (reply.text, reply.reasoning, *(call.arguments for call in reply.calls)):
            self.search(text, owner, "a reply")

    def worked(self, began: float, ended: float, *, call: bool = True) -> None:
        """A model or a tool worked for the current session."""
        self.calls += call
        self.spans.setdefault(current.get(-1), []).append((began, ended))

    def work_of(self, number: int) -> tuple[float, int, int]:
        """Seconds in which anything worked for a session, its longest chain, its calls; forgets them."""
        spans = sorted(self.spans.pop(number, []))
        return covered(spans), depth(spans), len(spans)


class WatchedModel:
    """A model behind the port, watched."""

    def __init__(self, inner: Model, witness: Witness) -> None:
        self._inner = inner
        self._witness = witness
        self.name = inner.name

    @property
    def window(self) -> int:
        return self._inner.window

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        return self._inner.cost(input_tokens, output_tokens)

    async def reply(self, request: Request) -> Reply:
        self._witness.prompt(request)
        began = time.monotonic()
        try:
            reply = await self._inner.reply(request)
        finally:
            self._witness.worked(began, time.monotonic())
        self._witness.reply(reply)
        return reply

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        self._witness.prompt(request)
        began = time.monotonic()
        try:
            async with aclosing(self._inner.stream(request)) as stream:
                async for piece in stream:
                    if isinstance(piece, Reply):
                        self._witness.reply(piece)
                    yield piece
        finally:
            self._witness.worked(began, time.monotonic())


def watched_models(models: Mapping[str, Model], witness: Witness) -> dict[str, Model]:
    return {tier: WatchedModel(model, witness) for tier, model in models.items()}


def _parted(messages: tuple[Message, ...]) -> str:
    return " ".join("call" if message.calls else message.role for message in messages)


def covered(spans: list[tuple[float, float]]) -> float:
    """Seconds in which at least one of the spans ran; they are sorted."""
    total, end = 0.0, float("-inf")
    for start, stop in spans:
        if stop > end:
            total += stop - max(start, end)
            end = stop
    return total


def depth(spans: list[tuple[float, float]]) -> int:
    """The longest chain of spans of which each begins after the one before has ended."""
    longest, end = 0, float("-inf")
    for start, stop in sorted(spans, key=lambda span: span[1]):
        if start >= end:
            longest, end = longest + 1, stop
    return longest
