"""What a request was, as a few short hashes: equal where a resumed run asks the same again.

Five parts of twelve hex digits: instructions, task, messages, tools, output. Texts are hashed as the
journal keeps them, without secrets, so that a run that goes on from its record has the same key.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from msgspec import Struct

from orchestra.journal.rows import encode
from orchestra.values.messages import Message, Request

_DIGITS = 12
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

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._messages: dict[Message, bytes] = {}
        self._tools: tuple[Any, str] = (None, "")

    def __call__(self, request: Request, model: str) -> RequestKey:
        known = self._messages
        self._messages = {
            message: known.get(message) or self._message(message) for message in request.messages
        }
        digests = list(self._messages.values())
        messages = request.messages
        task = next((message for message in messages if message.role == "user"), None)
        if self._tools[0] is not request.tools:
            self._tools = (request.tools, _short(self._clean(encode(request.tools)).encode()))
        output = "" if request.output is None else f"{request.output.name}{encode(request.output.schema)}"
        parts = (
            _short(digests[0] if digests else b""),
            _short(self._messages[task] if task is not None else b""),
            _short(b"".join(self._messages[message] for message in messages)),
            self._tools[1],
            _short(output.encode()) if output else "0" * _DIGITS,
        )
        return RequestKey(".".join(parts), model, f"{request.purpose}")

    def _message(self, message: Message) -> bytes:
        clean = self._clean
        calls = clean(encode(message.calls)) if message.calls else ""
        fields = (message.role, clean(message.text), calls, message.call_id, clean(message.reasoning))
        return sha256(encode(fields).encode()).digest()


def _short(data: bytes) -> str:
    return sha256(data).hexdigest()[:_DIGITS]
