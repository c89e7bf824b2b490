"""A model that says what it is told to: for tests, ours and users'."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from typing import Any, Literal

import anyio
import msgspec

from orchestra.errors import OutputInvalid
from orchestra.models.port import whole_as_stream
from orchestra.values.messages import Delta, Reply, Request, ToolCall
from orchestra.values.usage import Usage

HANG: Literal["hang"] = "hang"
"""In a script: this call never answers; it ends when its caller is cancelled."""


class Say(str):
    """In a script: a plain text reply whose words happen to be the word for something else ("hang")."""


Line = Reply | str | ToolCall | tuple[ToolCall, ...] | msgspec.Struct | BaseException | Any
Script = Iterable[Line] | Callable[[Request], Line]

_COUNTED = Usage(calls=1, input_tokens=1, output_tokens=1)


class Scripted:
    """Answers from a list, or from a function of the request; `requests` keeps what it was asked.

    A line of the script is a Reply, a text, a ToolCall or a tuple of them, an exception to raise, HANG,
    or any other value: that one is handed on as the reply's `value`. A text answers a request for an
    output by going through its `validate`, as a real model's text would. A list that is used up raises
    AssertionError, which no wrapper takes for a model's failure.
    """

    def __init__(self, script: Script, *, name: str = "scripted", window: int = 128_000) -> None:
        self._name = name
        self._window = window
        self._answer = script if callable(script) else _from_list(iter(script))
        self.requests: list[Request] = []
        self.hanging = 0

    @property
    def name(self) -> str:
        return self._name

    @property
    def window(self) -> int:
        return self._window

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        return 0.0

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        line = self._answer(request)
        await anyio.lowlevel.checkpoint()
        if isinstance(line, BaseException):
            raise line
        if line == HANG and not isinstance(line, Say):
            await self._hang()
        return _as_reply(line, request, self._name)

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        return whole_as_stream(self, request)

    async def _hang(self) -> None:
        self.hanging += 1
        try:
            await anyio.sleep_forever()
        finally:
            self.hanging -= 1


def _from_list(lines: Iterator[Line]) -> Callable[[Request], Line]:
    def next_line(request: Request) -> Line:
        for line in lines:
            return line
        raise AssertionError(f"The script has no line left for: {request.messages[-1].text[:200]!r}")

    return next_line


def _as_reply(line: Line, request: Request, name: str) -> Reply:
    if isinstance(line, Reply):
        return line
    if isinstance(line, ToolCall):
        return Reply(calls=(line,), finish="calls", usage=_COUNTED, model=name)
    if isinstance(line, tuple) and line and all(isinstance(call, ToolCall) for call in line):
        return Reply(calls=line, finish="calls", usage=_COUNTED, model=name)
    if not isinstance(line, str):
        return Reply(value=line, usage=_COUNTED, model=name)
    if request.output is None:
        return Reply(text=str(line), usage=_COUNTED, model=name)
    try:
        value = request.output.validate(line)
    except ValueError as problem:
        raise OutputInvalid(
            f"The scripted text is not a {request.output.name}: {problem}.", model=name, problem=str(problem)
        ) from None
    return Reply(text=str(line), value=value, usage=_COUNTED, model=name)
