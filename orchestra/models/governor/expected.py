"""How many tokens a call is going to take, learnt from those before it."""

from __future__ import annotations

from orchestra.values.messages import Request
from orchestra.values.usage import Usage

_NEW = 0.1  # what the newest reply counts in the mean
_UNKNOWN = (1_000, 0.0, 0.0)
_CHARACTERS_A_TOKEN = 3


class Expected:
    """Of one model: the length of its replies, by what they are for, as mean and mean deviation.

    A prompt that nobody has counted is guessed from its characters, three a token.
    """

    __slots__ = ("_lengths",)

    def __init__(self) -> None:
        self._lengths: dict[str, tuple[int, float, float]] = {}  # mean and one deviation together, and apart

    def of(self, request: Request) -> int:
        """Prompt and reply together; the reply with one deviation on top, at most what it may have."""
        made = self._lengths.get(request.purpose, _UNKNOWN)[0]
        most = request.max_output_tokens
        if most is not None and most < made:
            made = most
        return (request.tokens or guess(request)) + made

    def saw(self, purpose: str, usage: Usage) -> None:
        made = usage.output_tokens
        if usage.calls != 1 or not made:
            return
        known = self._lengths.get(purpose)
        if known is None:
            mean, deviation = float(made), made / 4
        else:
            _, mean, deviation = known
            off = made - mean
            mean += _NEW * off
            deviation += _NEW * (abs(off) - deviation)
        self._lengths[purpose] = int(mean + deviation), mean, deviation


def guess(request: Request) -> int:
    return sum(len(message.text) for message in request.messages) // _CHARACTERS_A_TOKEN
