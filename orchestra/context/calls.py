"""The calls of the last reply until each has its result."""

from __future__ import annotations

from orchestra.context.blocks import Block
from orchestra.values.messages import ToolCall


class OpenCalls:
    """`place` is the place of the message that holds the calls; their results take the same."""

    __slots__ = ("_calls", "_results", "place")

    def __init__(self) -> None:
        self._calls: tuple[ToolCall, ...] = ()
        self._results: list[Block | None] | tuple[()] = ()
        self.place = 0

    def open(self, calls: tuple[ToolCall, ...], place: int) -> None:
        self._calls, self._results, self.place = calls, [None] * len(calls) if calls else (), place

    def waiting(self, call_id: str) -> int | None:
        """The position of the first call with this id that has no result; None if there is none."""
        for at, call in enumerate(self._calls):
            if call.id == call_id and self._results[at] is None:
                return at
        return None

    def answer(self, at: int, result: Block) -> None:
        assert isinstance(self._results, list)
        self._results[at] = result

    def missing(self) -> list[ToolCall]:
        if not self._calls:
            return []
        return [call for call, made in zip(self._calls, self._results, strict=True) if made is None]

    def take(self) -> list[Block]:
        """All results in the order of the calls, once and only when none is missing."""
        done = [made for made in self._results if made is not None]
        if len(done) < len(self._calls):
            return []
        self._calls = self._results = ()
        return done
