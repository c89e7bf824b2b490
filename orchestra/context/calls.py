"""The calls of the last reply until each has its result."""

from __future__ import annotations

from orchestra.context.blocks import Block
from orchestra.values.messages import ToolCall


class OpenCalls:
    """`place` is the place of the message that holds the calls; their results take the same."""

    __slots__ = ("_calls", "_results", "place")

    def __init__(self, calls: tuple[ToolCall, ...], place: int) -> None:
        self._calls = calls
        self._results: list[Block | None] = [None] * len(calls)
        self.place = place

    def waiting(self, call_id: str) -> int | None:
        """The position of the first call with this id that has no result; None if there is none."""
        for at, call in enumerate(self._calls):
            if call.id == call_id and self._results[at] is None:
                return at
        return None

    def answer(self, at: int, result: Block) -> list[Block]:
        """All results in the order of the calls, now that this one is there; nothing while one is missing."""
        results = self._results
        results[at] = result
        return [] if None in results else results  # type: ignore[return-value]  # none of them is None

    def missing(self) -> list[ToolCall]:
        return [call for call, made in zip(self._calls, self._results, strict=True) if made is None]
