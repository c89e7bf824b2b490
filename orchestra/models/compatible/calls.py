"""Calls as endpoints send them, made into calls that the runtime can trust."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from orchestra.models.compatible.encode import short_id
from orchestra.models.compatible.parse import RawCall
from orchestra.text.fold import whole_characters
from orchestra.values.messages import Request, ToolCall

# OpenAI refuses longer ids in a prompt; others send them.
is_plain_id = re.compile(r"[A-Za-z0-9_.:\-]{1,40}").fullmatch

_decode = msgspec.json.decode
decode_object = msgspec.json.Decoder(dict[str, Any]).decode
"""An object out of its JSON text. Raises ValueError for any other text."""


def trusted(raw: Sequence[RawCall], request: Request) -> tuple[ToolCall, ...]:
    """Calls whose ids are present, short and unique in the prompt and whose arguments are an object."""
    if not raw:
        return ()
    used = {call.id for message in request.messages for call in message.calls}
    calls = []
    for place, call in enumerate(raw):
        call_id = trusted_id(call, used, len(request.messages), place)
        used.add(call_id)
        calls.append(ToolCall(call_id, call.name, object_text(call.arguments), call.extra))
    return tuple(calls)


def trusted_id(call: RawCall, used: set[str], turn: int, place: int) -> str:
    """The endpoint's id where it can serve, else one made of the call and its place: the same each time."""
    name = call.id
    if name != call.name and name not in used and is_plain_id(name):
        return name
    made = short_id(f"{turn}.{place}.{call.name}.{call.arguments}")
    while made in used:
        made = short_id(made)
    return made


def is_object(text: str) -> bool:
    """True for the JSON text of an object."""
    try:
        decode_object(text)
    except ValueError:
        return False
    return True


def object_text(arguments: str) -> str:
    """The arguments as the JSON text of an object, mended where a mend is plain.

    What cannot be read becomes the one argument `unreadable_arguments`: the tool refuses it by name, the
    model sees what it wrote, and the prompt stays valid for endpoints that parse old arguments.
    """
    text = arguments.strip()
    if not text or text == "null":
        return "{}"
    if text[0] == "{" and is_object(text):
        return text
    try:
        value = _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = _mended(text)
    if isinstance(value, str):  # encoded twice
        return object_text(value) if value.strip().startswith("{") else _unreadable(arguments)
    if not isinstance(value, dict):
        return _unreadable(arguments)
    return written(value)


def written(value: Any) -> str:
    """As JSON, with a mark for each half of a surrogate pair, which a model may write as an escape."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return whole_characters(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _unreadable(arguments: str) -> str:
    return written({"unreadable_arguments": arguments})


def _mended(text: str) -> object:
    if "{" not in text:
        return None
    from json_repair import repair_json

    return repair_json(text, return_objects=True)
