"""Messages as an endpoint's JSON. Each is encoded once in its life; bodies are joined from the pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from orchestra.models.compatible.quirks import Quirks
from orchestra.values.messages import Message, ToolCall

_encode = msgspec.json.Encoder().encode
# A longer message is encoded again for each prompt, 1 µs a KB: kept, it would double what a session holds.
_LONGEST_KEPT = 4_096
_NO_RESULT = "No result: this call was interrupted."


def takes_any(quirks: Quirks) -> bool:
    """Whether an endpoint takes messages as they are, in their plain form."""
    peculiar = quirks.echo or quirks.short_ids or quirks.empty_content or quirks.cache_marks
    return not peculiar and not quirks.alternate and quirks.system == "any"


def encoded(messages: Sequence[Message], quirks: Quirks | None = None, cache_until: int = 0) -> bytes:
    """Messages that are in order, joined by commas.

    `quirks`: None for those of an endpoint that `takes_any`. `cache_until`: how many lead a stable prefix,
    for cache marks.
    """
    if quirks is None:
        return b",".join([message.wire or _once(message) for message in messages])
    if quirks.alternate or quirks.system != "any":
        messages = _rearranged(messages, quirks)
    return b",".join([_peculiar(message, quirks) for message in _marked(messages, quirks, cache_until)])


def _once(message: Message) -> bytes:
    wire = _encode(as_json(message))
    if len(wire) <= _LONGEST_KEPT:
        # The one mutation of a frozen value: the cache of a pure function of its other fields.
        force_setattr(message, "wire", wire)
    return wire


def as_json(message: Message) -> dict[str, Any]:
    """A message in the plain form that every endpoint should take."""
    role = message.role
    if role == "tool":
        return {"role": role, "tool_call_id": message.call_id, "content": message.text}
    if not message.calls:
        return {"role": role, "content": message.text}
    return {
        "role": role,
        "content": message.text or None,
        "tool_calls": [_call(call) for call in message.calls],
    }


def _call(call: ToolCall) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
    if call.extra:
        body["extra_content"] = msgspec.Raw(call.extra.encode())
    return body


def short_id(name: str) -> str:
    """Nine letters and digits that depend on nothing but the name."""
    return hashlib.blake2b(name.encode(), digest_size=5).hexdigest()[:9]


def _peculiar(message: Message | dict[str, Any], quirks: Quirks) -> bytes:
    if isinstance(message, dict):
        return _encode(message)
    changes = (
        (quirks.echo and message.reasoning)
        or (quirks.short_ids and (message.calls or message.call_id))
        or (quirks.empty_content and message.calls)
    )
    if not changes:
        return message.wire or _once(message)
    body = as_json(message)
    if quirks.echo and message.role == "assistant" and message.reasoning:
        body[quirks.echo] = message.reasoning
    if quirks.empty_content and body.get("content") is None:
        body["content"] = ""
    if quirks.short_ids:
        for call in body.get("tool_calls", ()):
            call["id"] = _nine(call["id"])
        if message.call_id:
            body["tool_call_id"] = _nine(message.call_id)
    return _encode(body)


def _nine(name: str) -> str:
    return name if len(name) == 9 and name.isalnum() and name.isascii() else short_id(name)


def _marked(
    messages: Sequence[Message], quirks: Quirks, cache_until: int
) -> Sequence[Message | dict[str, Any]]:
    """With cache_control on the last message of the stable prefix and on the instructions before it."""
    if not quirks.cache_marks or not cache_until:
        return messages
    marked: list[Message | dict[str, Any]] = list(messages)
    for place in {0, min(cache_until, len(messages)) - 1}:
        message = messages[place]
        if message.text:
            part = {"type": "text", "text": message.text, "cache_control": {"type": "ephemeral"}}
            marked[place] = {**as_json(message), "content": [part]}
    return marked


def in_order(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages with every result right after its call and no call without one.

    A list that is in order already is returned as it is; mending makes a new one: a call without a
    result gets one that says so, a result without its call becomes a user's words, an assistant's empty
    message goes.
    """
    open_calls: set[str] = set()
    for message in messages:
        if message.role == "tool":
            if message.call_id not in open_calls:
                return _mended(messages)
            open_calls.discard(message.call_id)
        elif open_calls:
            return _mended(messages)
        elif message.role == "assistant":
            if message.calls:
                for call in message.calls:
                    open_calls.add(call.id)
                if len(open_calls) != len(message.calls):
                    return _mended(messages)
            elif not message.text:
                return _mended(messages)
    return _mended(messages) if open_calls else messages


def _mended(messages: Sequence[Message]) -> list[Message]:
    mended: list[Message] = []
    waiting: dict[str, ToolCall] = {}
    displaced: list[Message] = []

    def settle() -> None:
        for call_id in waiting:
            mended.append(Message(role="tool", text=_NO_RESULT, call_id=call_id))
        waiting.clear()
        mended.extend(displaced)
        displaced.clear()

    later = _results_after(messages)
    for place, message in enumerate(messages):
        if message.role == "tool":
            if waiting.pop(message.call_id, None) is not None:
                mended.append(message)
            else:
                displaced.append(Message(role="user", text=f"Result of an earlier call:\n{message.text}"))
            if not waiting:
                settle()
        elif waiting and any(call_id in later[place] for call_id in waiting):
            displaced.append(message)
        else:
            settle()
            if message.role != "assistant" or message.text or message.calls:
                unique = {call.id: call for call in message.calls}
                waiting.update(unique)
                whole = len(unique) == len(message.calls)
                calls = tuple(unique.values())
                mended.append(message if whole else msgspec.structs.replace(message, calls=calls, wire=b""))
    settle()
    return mended


def _results_after(messages: Sequence[Message]) -> list[set[str]]:
    """For each place, the call ids that have their result later and before the next assistant message."""
    after: list[set[str]] = [set() for _ in messages]
    seen: set[str] = set()
    for place in range(len(messages) - 1, -1, -1):
        after[place] = set(seen)
        if messages[place].role == "assistant":
            seen = set()
            after[place] = set()
        elif messages[place].role == "tool":
            seen.add(messages[place].call_id)
    return after


def _rearranged(messages: Sequence[Message], quirks: Quirks) -> list[Message]:
    """System messages only where they are allowed, and no two messages of one role in a row."""
    placed: list[Message] = []
    for message in messages:
        speaker = message.role
        if speaker == "system" and (quirks.system == "none" or (quirks.system == "first" and placed)):
            message = Message(role="user", text=message.text)
        last = placed[-1] if placed else None
        joins = quirks.alternate or speaker != message.role
        if last and joins and last.role == message.role in {"system", "user"}:
            placed[-1] = Message(role=last.role, text=f"{last.text}\n\n{message.text}")
        else:
            placed.append(message)
    return placed
