"""Replies as nearly all are, read in one step; any other is left to `parse` and `interpret`.

The types say what is plain: no reasoning, no refusal, calls in the form of the specification. What is given
here is letter by letter what the general way gives; a test compares the two.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from orchestra.models.compatible.calls import decode_object, is_plain_id
from orchestra.models.compatible.emulate import calls_in_text
from orchestra.models.compatible.parse import WireUsage
from orchestra.models.compatible.shape import Outgoing
from orchestra.values.messages import Finish, OutputSpec, Request, ToolCall

_Nothing = Literal[""] | None


class _Function(Struct, gc=False):
    name: str
    arguments: str


class _Call(Struct, gc=False):
    id: str
    function: _Function
    extra_content: None = None


class _Message(Struct, gc=False):
    content: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: None = None
    reasoning_content: _Nothing = None
    reasoning: _Nothing = None
    refusal: _Nothing = None


class _Choice(Struct, gc=False):
    message: _Message
    finish_reason: Literal["stop", "tool_calls"]


class _Body(Struct, gc=False):
    choices: Annotated[list[_Choice], Meta(min_length=1)]
    usage: WireUsage | None = None
    model: str | None = None
    error: None = None


class Plain(Struct, gc=False):
    """What a plain reply says; `usage` and `model` are the endpoint's own words."""

    text: str
    calls: tuple[ToolCall, ...]
    value: Any
    finish: Finish
    model: str
    usage: WireUsage | None
    reasoning: str = ""


_decode = msgspec.json.Decoder(_Body).decode
# Finds what is no JSON, and makes nothing of what is.
_skip = msgspec.json.Decoder(msgspec.Raw).decode


def plainly(request: Request, sent: Outgoing, body: bytes) -> Plain | None:
    """The reply in the light of what was asked, None where it is not plain."""
    if not sent.plain:
        return None
    try:
        whole = _decode(body)
        message = whole.choices[0].message
        text, asked = message.content or "", message.tool_calls
        if text and (text[0] == "<" or text[0].isspace()):
            return None  # it may begin with thoughts
        if asked:
            calls = _calls(asked, request)
            return Plain(text, calls, None, "calls", whole.model or "", whole.usage) if calls else None
        if not text or whole.choices[0].finish_reason != "stop":
            return None
        if request.tools and request.tool_choice != "none" and calls_in_text(text, request.tools):
            return None
        value = None if request.output is None else as_it_stands(text, request.output)
    except ValueError:  # what cannot be decoded, too
        return None
    return Plain(text, (), value, "stop", whole.model or "", whole.usage)


def as_it_stands(text: str, output: OutputSpec) -> Any:
    """The value of a text that is compact JSON and nothing else. Raises ValueError for any other text."""
    if text[:1] != "{" or "\n" in text:
        raise ValueError("it is not an object in one line")
    _skip(text)
    return output.validate(text)


def _calls(asked: list[_Call], request: Request) -> tuple[ToolCall, ...]:
    """The calls as they came, none where one of them needs mending. Raises ValueError for such, too."""
    used = set()
    for message in request.messages:
        for known in message.calls:
            used.add(known.id)
    calls = []
    for call in asked:
        name, arguments = call.function.name, call.function.arguments
        if call.id in used or call.id == name or not is_plain_id(call.id):
            return ()
        if arguments[:1] != "{" or arguments[-1:] != "}":
            return ()
        decode_object(arguments)
        used.add(call.id)
        calls.append(ToolCall(call.id, name, arguments))
    return tuple(calls)
