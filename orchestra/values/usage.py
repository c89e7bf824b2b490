"""What a call cost."""

from __future__ import annotations

from msgspec import Struct


class Usage(Struct, frozen=True, gc=False):
    """Tokens of one or more calls as the endpoint reported them; `cost` in US dollars, None if unknown.

    `cached_tokens` are part of `input_tokens`, `reasoning_tokens` part of `output_tokens`.
    A sum that holds an unknown cost has an unknown cost.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
        )


NO_USAGE = Usage()
