"""What a request was, as a few short hashes: equal where a resumed run asks the same again.

Five parts of twelve hex digits: instructions, task, messages, tools, output. Texts are hashed as the
journal keeps them, without secrets, so that a run that goes on from its record has the same key.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from orchestra.journal.rows import encode
from orchestra.values.messages import Message, OutputSpec, Request

_DIGITS = 12
_encode = msgspec.json.Encoder().encode
NAMES = ("instructions", "task", "messages", "tools", "output")


class RequestKey(Struct, frozen=True):
    """`parts` in the order of NAMES, joined by dots; `model` and `purpose` in words."""

    parts: str
    model: str
    purpose: str

    def difference(self, recorded: RequestKey, *, loosely: bool = False) -> str:
        """What differs from what is recorded, in words for a sentence; "" for nothing.

        `loosely`: another version recorded it, which may lay out messages and describe tools in other
        words; instructions, task, model and purpose count.
        """
        if self.model != recorded.model:
            return f"its model, which was {recorded.model} and is {self.model}"
        if self.purpose != recorded.purpose:
            return f"its purpose, which was {recorded.purpose} and is {self.purpose}"
        names = NAMES[:2] if loosely else NAMES
        pairs = zip(names, self.parts.split("."), recorded.parts.split("."), strict=False)
        changed = [name for name, now, then in pairs if now != then]
        if changed == ["messages"]:
            return "what it has been shown since its task"
        named = [name for name in changed if name != "messages"]
        return f"its {' and '.join(named)}" if named else ""


class KeyMaker:
    """Makes one agent's keys; what stands in prompt after prompt is encoded, cleaned and hashed once."""

    __slots__ = ("_clean", "_messages", "_output", "_tools")

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        # By identity, which takes no hash of the text; the message is kept, so that its id stays its own.
        self._messages: dict[int, tuple[Message, bytes]] = {}
        self._tools: tuple[Any, str] = (None, "")
        self._output: tuple[Any, str] = (None, "0" * _DIGITS)

    def __call__(self, request: Request, model: str) -> RequestKey:
        messages = request.messages
        known, self._messages = self._messages, {}
        digests = []
        task = b""
        for message in messages:
            entry = known.get(id(message))
            if entry is None:
                entry = (message, self._message(message))
            self._messages[id(message)] = entry
            digests.append(entry[1])
            if not task and message.role == "user":
                task = entry[1]
        if self._tools[0] is not request.tools:
            self._tools = (request.tools, _short(self._clean(encode(request.tools)).encode()))
        if self._output[0] is not request.output:
            self._output = (request.output, _output_key(request.output))
        parts = (
            _short(digests[0] if digests else b""),
            _short(task),
            _short(b"".join(digests)),
            self._tools[1],
            self._output[1],
        )
        return RequestKey(".".join(parts), model, request.purpose)

    def _message(self, message: Message) -> bytes:
        clean = self._clean
        calls = clean(encode(message.calls)) if message.calls else ""
        reasoning = clean(message.reasoning) if message.reasoning else ""
        fields = (message.role, clean(message.text), calls, message.call_id, reasoning)
        try:
            encoded = _encode(fields)
        except UnicodeEncodeError:  # a lone surrogate
            encoded = encode(fields).encode()
        return sha256(encoded).digest()


def _output_key(output: OutputSpec | None) -> str:
    if output is None:
        return "0" * _DIGITS
    return _short(f"{output.name}{encode(output.schema)}".encode())


def _short(data: bytes) -> str:
    return sha256(data).hexdigest()[:_DIGITS]
