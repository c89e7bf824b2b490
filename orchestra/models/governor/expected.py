"""How many tokens a call is going to take, learnt from those before it."""

from __future__ import annotations

from orchestra.values.messages import Request
from orchestra.values.usage import Usage

_MEMORY = 0.9
_UNKNOWN_OUTPUT = 1_000
_CHARACTERS_A_TOKEN = 3


class Expected:
    """Of one model: the length of its replies, by what they are for, as mean and mean deviation.

    A prompt that nobody has counted is guessed from its characters, three a token.
    """

    __slots__ = ("_output",)

    def __init__(self) -> None:
        self._output: dict[str, tuple[float, float]] = {}

    def of(self, request: Request) -> int:
        """Prompt and reply together; the reply with one deviation on top, at most what it may have."""
        given = request.tokens or guess(request)
        most = request.max_output_tokens
        known = self._output.get(request.purpose)
        made = _UNKNOWN_OUTPUT if known is None else int(known[0] + known[1])
        return given + (made if most is None or made < most else most)

    def saw(self, request: Request, usage: Usage) -> None:
        made = usage.output_tokens
        if usage.calls != 1 or not made:
            return
        known = self._output.get(request.purpose)
        if known is None:
            self._output[request.purpose] = (made, made / 4)
        else:
            mean, deviation = known
            off = made - mean
            self._output[request.purpose] = (
                mean + (1 - _MEMORY) * off,
                deviation + (1 - _MEMORY) * (abs(off) - deviation),
            )


def guess(request: Request) -> int:
    return sum(len(message.text) for message in request.messages) // _CHARACTERS_A_TOKEN
