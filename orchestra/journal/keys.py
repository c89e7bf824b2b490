"""What a request was, as a few short hashes: equal where a resumed run asks the same again.

Five parts of twelve hex digits: instructions, task, messages, tools, output; and the number of this way to
make them. Texts are hashed as the journal keeps them, without secrets, so that a run that goes on from its
record has the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Struct

from orchestra.journal.blobs import LONGEST_INLINE
from orchestra.journal.rows import encode
from orchestra.values.messages import Message, OutputSpec, Request, ToolSpec

_DIGITS = 12
_NONE = "0" * _DIGITS
_WAY: Final = "2"
_encode = msgspec.json.Encoder().encode
NAMES = ("instructions", "task", "messages", "tools", "output")
Clean = Callable[[str], str]


class RequestKey(Struct, frozen=True):
    """`parts` in the order of NAMES, joined by dots; `model` and `purpose` in words."""

    parts: str
    model: str
    purpose: str

    @property
    def is_made_so(self) -> bool:
        """Whether a KeyMaker of this version made it."""
        return self.parts.endswith(f".{_WAY}")

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

    __slots__ = ("_clean", "_digests", "_messages", "_output", "_tools")

    def __init__(self, clean: Clean) -> None:
        self._clean = clean
        self._messages: Sequence[Message] = ()
        self._digests: list[bytes] = []
        self._tools: tuple[Any, str] = (None, "")
        self._output: tuple[Any, str] = (None, _NONE)

    def __call__(self, request: Request, stored: Mapping[int, str]) -> str:
        """The key's parts. `stored`: SHA-256 in hex of some of the session's long texts (see rows.Live)."""
        messages = request.messages
        head = 0
        for now, then in zip(messages, self._messages, strict=False):
            if now is not then:
                break
            head += 1
        digests = self._digests[:head]
        for message in messages[head:]:
            digests.append(_digest(message, self._clean, stored))
        self._messages, self._digests = messages, digests
        if self._tools[0] is not request.tools:
            self._tools = (request.tools, _tools_key(request.tools, self._clean))
        if self._output[0] is not request.output:
            self._output = (request.output, _output_key(request.output))
        return ".".join((*_parts(request, digests, _beginning), self._tools[1], self._output[1], _WAY))


class LateKey:
    """The key of a request that was just made, for the writer's thread, which has hashed its texts anyway."""

    __slots__ = ("_make", "_request")

    def __init__(self, make: KeyMaker, request: Request) -> None:
        self._make = make
        self._request = request

    def __call__(self, stored: Mapping[int, str]) -> str:
        """The end of the event's data in JSON."""
        return f',"key":"{self._make(self._request, stored)}"}}'


def first_parts(request: Request, clean: Clean) -> str:
    """The parts of a key as the first versions made them, for sessions that they recorded."""
    digests = [_first_digest(message, clean) for message in request.messages]
    parts = _parts(request, digests, _short)
    return ".".join((*parts, _tools_key(request.tools, clean), _output_key(request.output)))


def _parts(request: Request, digests: Sequence[bytes], short: Callable[[bytes], str]) -> tuple[str, str, str]:
    """The first three parts, which are of its messages."""
    task = b""
    for message, digest in zip(request.messages, digests, strict=True):
        if message.role == "user":
            task = digest
            break
    return short(digests[0] if digests else b""), short(task), _short(b"".join(digests))


def _digest(message: Message, clean: Clean, stored: Mapping[int, str]) -> bytes:
    text = message.text
    if len(text) <= LONGEST_INLINE:
        text = clean(text) if text else ""
    else:
        text = stored.get(hash(text)) or sha256(clean(text).encode("utf-8", "surrogatepass")).hexdigest()
    calls = clean(encode(message.calls)) if message.calls else ""
    reasoning = clean(message.reasoning) if message.reasoning else ""
    return sha256(_bytes((message.role, text, calls, message.call_id, reasoning))).digest()


def _first_digest(message: Message, clean: Clean) -> bytes:
    calls = clean(encode(message.calls)) if message.calls else ""
    reasoning = clean(message.reasoning) if message.reasoning else ""
    fields = (message.role, clean(message.text), calls, message.call_id, reasoning)
    return sha256(_bytes(fields)).digest()


def _bytes(fields: tuple[str, ...]) -> bytes:
    try:
        return _encode(fields)
    except UnicodeEncodeError:  # a lone surrogate
        return encode(fields).encode()


def _tools_key(tools: Sequence[ToolSpec], clean: Clean) -> str:
    return _short(clean(encode(tools)).encode())


def _output_key(output: OutputSpec | None) -> str:
    if output is None:
        return _NONE
    return _short(f"{output.name}{encode(output.schema)}".encode())


def _beginning(digest: bytes) -> str:
    return digest.hex()[:_DIGITS]


def _short(data: bytes) -> str:
    return sha256(data).hexdigest()[:_DIGITS]
