"""Replies as nearly all are, read in one step; any other is left to `parse` and `interpret`.

The types say what is plain: no reasoning, no refusal, calls in the form of the specification. What is given
here is letter by letter what the general way gives; a test compares the two.
"""

from __future__ import annotations

import time
from operator import attrgetter
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from orchestra.models.compatible.calls import decode_object, is_plain_id
from orchestra.models.compatible.emulate import calls_in_text
from orchestra.models.compatible.parse import Account, Counts
from orchestra.models.compatible.shape import Outgoing
from orchestra.values.messages import OutputSpec, Reply, Request, ToolCall

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
    usage: Counts | None = None
    model: str | None = None
    error: None = None


_decode = msgspec.json.Decoder(_Body).decode
# Finds what is no JSON, and makes nothing of what is.
_skip = msgspec.json.Decoder(msgspec.Raw).decode
_calls_in = attrgetter("calls")


def plainly(request: Request, sent: Outgoing, body: bytes, account: Account, started: float) -> Reply | None:
    """The reply in the light of what was asked, None where it is not plain.

    `started`: when it was asked for, in seconds of the performance counter.
    """
    if not sent.plain:
        return None
    calls: tuple[ToolCall, ...] = ()
    value = None
    try:
        whole = _decode(body)
        choice = whole.choices[0]
        message = choice.message
        text, asked = message.content or "", message.tool_calls
        if text and (text[0] == "<" or text[0].isspace()):
            return None  # it may begin with thoughts
        if asked:
            calls = _calls(asked, request)
            if not calls:
                return None
        elif not text or choice.finish_reason != "stop" or _may_call(text, request):
            return None
        elif request.output is not None:
            value = as_it_stands(text, request.output)
    except ValueError:  # what cannot be decoded, too
        return None
    return Reply(
        text=text,
        calls=calls,
        value=value,
        usage=account.usage(whole.usage),
        finish="calls" if calls else "stop",
        model=whole.model or account.model,
        seconds=time.perf_counter() - started,
        exact=value is not None,
    )


def _may_call(text: str, request: Request) -> bool:
    return bool(request.tools and request.tool_choice != "none" and calls_in_text(text, request.tools))


def as_it_stands(text: str, output: OutputSpec) -> Any:
    """The value of a text that is compact JSON and nothing else. Raises ValueError for any other text."""
    if text[:1] != "{" or "\n" in text:
        raise ValueError("it is not an object in one line")
    _skip(text)
    return output.validate(text)


def _calls(asked: list[_Call], request: Request) -> tuple[ToolCall, ...]:
    """The calls as they came, none where one of them needs mending. Raises ValueError for such, too."""
    used = set()
    for earlier in filter(None, map(_calls_in, request.messages)):
        for known in earlier:
            used.add(known.id)
    calls = []
    for call in asked:
        name, arguments = call.function.name, call.function.arguments
        if call.id in used or call.id == name or not is_plain_id(call.id):
            return ()
        decode_object(arguments)
        if arguments[0] != "{" or arguments[-1] != "}":  # white space around it
            return ()
        used.add(call.id)
        calls.append(ToolCall(call.id, name, arguments))
    return tuple(calls)
