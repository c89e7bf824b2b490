"""What a model call asked, part by part, and where two calls differ: a resumed run must ask the same again.

Texts are compared by the hashes under which the journal keeps them, without secrets, so that a run over its
record is compared with nothing but the record's prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from orchestra.journal.blobs import INLINE
from orchestra.journal.encoding import encode
from orchestra.journal.past import AgentPast
from orchestra.journal.prompts import Fold, described
from orchestra.values.messages import OutputSpec, Request

_DIGITS = 12
_NO_OUTPUT = "0" * _DIGITS
_TEXTS = ("text", "calls", "reasoning")
Clean = Callable[[str], str]
_Message = tuple[str, ...]


class Asked(Struct, frozen=True):
    """One call: the model's name, the purpose, and of the rest what tells it from another."""

    model: str
    purpose: str
    messages: tuple[_Message, ...]
    tools: str
    output: str

    def difference(self, recorded: Asked, *, loosely: bool = False) -> str:
        """What differs from what is recorded, in words for a sentence; "" for nothing.

        `loosely`: another version recorded it, which may lay out messages and describe tools in other
        words; instructions, task, model and purpose count.
        """
        if self.model != recorded.model:
            return f"its model, which was {recorded.model} and is {self.model}"
        if self.purpose != recorded.purpose:
            return f"its purpose, which was {recorded.purpose} and is {self.purpose}"
        changed = [
            name
            for name, now, then in (
                ("instructions", self.messages[:1], recorded.messages[:1]),
                ("task", _task(self.messages), _task(recorded.messages)),
                ("tools", self.tools, recorded.tools),
                ("output", self.output, recorded.output),
            )
            if now != then and not (loosely and name in ("tools", "output"))
        ]
        if changed:
            return f"its {' and '.join(changed)}"
        if self.messages != recorded.messages and not loosely:
            return "what it has been shown since its task"
        return ""

    def is_prompt(self, prompt: Fold) -> bool:
        """Whether the messages and tools are those of a recorded prompt; of a summary, which has its own."""
        then = asked_then({}, prompt)
        return self.purpose == "summary" or (self.messages, self.tools) == (then.messages, then.tools)


def asked_now(request: Request, model: str, clean: Clean) -> Asked:
    """Of a request that is to be made."""

    def place(text: str) -> str:
        return _hashed(clean(text))

    messages = []
    for message in request.messages:
        texts: dict[str, str] = {}
        item = described(message, 0, texts)
        messages.append(_message(item, {name: place(text) for name, text in texts.items()}))
    tools = place(encode(request.tools))
    return Asked(model, request.purpose, tuple(messages), tools, output_key(request.output))


def asked_then(call: Mapping[str, Any], prompt: Fold) -> Asked:
    """Of a recorded call's data and of its prompt."""
    places = {where: _hash_at(where) for where in prompt.digests()}
    messages = tuple(_message(item, places) for item in prompt.messages)
    # Earlier versions hashed all parts of a request; its output was the fifth.
    output = call.get("output") or [*call.get("key", "").split("."), *[_NO_OUTPUT] * 5][4]
    return Asked(
        call.get("model", ""), call.get("purpose", ""), messages, places.get(prompt.tools, ""), output
    )


class PastPrompts:
    """The prompts of an agent's recorded calls, asked for in their order."""

    __slots__ = ("_next", "_prompt")

    def __init__(self) -> None:
        self._next = 0
        self._prompt = Fold()

    def of(self, past: AgentPast, number: int) -> Fold:
        """The prompt of the call with this number, from 0; none before it is asked for later.

        One more than there are calls is the last prompt that was recorded.
        """
        found = self._prompt
        recorded = [call.sent for call in past.calls] + [past.unsent]
        for sent in recorded[self._next : number + 1]:
            for event in sent:
                found = Fold() if "beside" in event.data else self._prompt
                found.add(event)
        self._next = number + 1
        return found


def output_key(output: OutputSpec | None) -> str:
    """The beginning of the hash of what a reply is held to."""
    if output is None:
        return _NO_OUTPUT
    name, schema, kept = output.name, output.schema, output.key
    if kept is not None and kept[0] is name and kept[1] is schema:
        return kept[2]
    key = _hashed(f"{name}{encode(schema)}")[:_DIGITS]
    force_setattr(output, "key", (name, schema, key))  # once for each type of output
    return key


def _task(messages: Sequence[_Message]) -> _Message:
    return next((message for message in messages if message[0] == "user"), ())


def _message(item: Mapping[str, str], places: Mapping[str, str]) -> _Message:
    texts = (places[item[name]] if name in item else "" for name in _TEXTS)
    return (item["role"], item.get("call_id", ""), *texts)


def _hash_at(where: str) -> str:
    """The hash of a recorded text: where it is, for a long one (see `blobs`)."""
    return _hashed(where[len(INLINE) :]) if where.startswith(INLINE) else where


def _hashed(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
