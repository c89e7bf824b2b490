"""What a reply says: text, calls, or the value that was asked for; or why it cannot be used."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from orchestra.models.compatible.calls import is_object, trusted, written
from orchestra.models.compatible.emulate import action_of, calls_in_text
from orchestra.models.compatible.parse import Parsed, RawCall, finish_of
from orchestra.models.compatible.plain import as_it_stands
from orchestra.models.compatible.shape import Outgoing, output_tool
from orchestra.values.messages import Finish, Request, ToolCall


class Read(Struct, frozen=True, kw_only=True, gc=False):
    """A reply that was understood, or one with a `problem`: what is wrong with it, for the model to mend.

    `hopeless`: another try would fail in the same way (a refusal, a filter). `no_json`: an output was
    asked for and the text has no JSON object in it at all.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    value: Any = None
    finish: Finish = "stop"
    problem: str = ""
    hopeless: bool = False
    no_json: bool = False


_THOUGHT = re.compile(r"\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)\s*", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.DOTALL)


def read(request: Request, sent: Outgoing, reply: Parsed) -> Read:
    """The reply in the light of what was asked."""
    if "<think" in reply.text:
        reply = _without_thoughts(reply)
    finish = finish_of(reply)
    raw = reply.calls
    text = reply.text
    if sent.emulated and text:
        return _read_action(request, reply, finish, [spec.name for spec in request.tools])
    if not raw and request.tools and request.tool_choice != "none" and text:
        raw = calls_in_text(text, request.tools)
        text = "" if raw else text
    if request.output is not None and sent.mode == "tool":
        own = output_tool(request.output)
        given = [call for call in raw if call.name == own]
        raw = [call for call in raw if call.name != own]
        if given and not raw:
            text = given[0].arguments
    if raw:
        return _read_calls(request, reply, raw, text, finish)
    output = request.output
    if output is None:
        return _read_text(reply, text, finish)
    if finish == "stop" and not sent.wrapped:
        try:
            return Read(text=text, reasoning=reply.reasoning, value=as_it_stands(text, output))
        except ValueError:
            pass  # it is looked at more closely
    return _read_value(
        request, sent.wrapped, Read(text=text, reasoning=reply.reasoning, finish=finish), reply
    )


def _without_thoughts(reply: Parsed) -> Parsed:
    """Reasoning that a server left in the text, moved to its place."""
    if "<think" not in reply.text[:200]:
        return reply
    found = _THOUGHT.match(reply.text)
    if not found:
        return reply
    return msgspec.structs.replace(
        reply, text=reply.text[found.end() :], reasoning=reply.reasoning or found[1].strip()
    )


def _read_calls(request: Request, reply: Parsed, raw: list[RawCall], text: str, finish: Finish) -> Read:
    if finish == "length":
        whole = [call for call in raw if is_object(call.arguments or "{}")]
        if len(whole) < len(raw):
            return Read(
                text=text,
                reasoning=reply.reasoning,
                finish=finish,
                problem=f"the reply was cut at its length limit inside the arguments of {raw[-1].name}",
            )
    return Read(text=text, reasoning=reply.reasoning, calls=trusted(raw, request), finish="calls")


def _read_text(reply: Parsed, text: str, finish: Finish) -> Read:
    if not text and finish == "refusal":
        text = reply.refusal
    problem = ""
    if not text:
        if finish == "length":
            problem = "the reply reached its length limit before any text"
        elif finish != "filter":
            problem = "the reply is empty"
    return Read(text=text, reasoning=reply.reasoning, finish=finish, problem=problem)


def _read_action(request: Request, reply: Parsed, finish: Finish, names: list[str]) -> Read:
    """A reply of an emulated call: one action, or an answer without its wrapping."""
    value, problem = tolerant(reply.text, cut=finish == "length")
    action = action_of(value, names)
    base = Read(text=reply.text, reasoning=reply.reasoning, finish=finish)
    if isinstance(action, RawCall):
        return Read(reasoning=reply.reasoning, calls=trusted([action], request), finish="calls")
    if finish == "length" and action is None:
        return msgspec.structs.replace(base, problem="the reply was cut at its length limit")
    answer = reply.text if action is None else action
    if request.output is not None:
        return _read_value(request, False, msgspec.structs.replace(base, text=answer), reply)
    if request.tool_choice == "required":
        problem = problem or 'it must be {"action":{"tool":"<name>","arguments":{…}}}'
        return msgspec.structs.replace(base, problem=problem, no_json=value is None)
    return msgspec.structs.replace(base, text=answer)


def _read_value(request: Request, wrapped: bool, base: Read, reply: Parsed) -> Read:
    """The value in a text: as it stands, else after tolerant parsing, else the reason why not."""
    assert request.output is not None
    change = msgspec.structs.replace
    if base.finish == "refusal" or (reply.refusal and not base.text):
        return change(base, problem=f"the model declined: {reply.refusal or base.text}", hopeless=True)
    if base.finish == "filter" and not is_object(base.text):
        return change(base, problem="the endpoint's content filter cut the reply", hopeless=True)
    cut = base.finish == "length"
    value, problem = tolerant(base.text, cut=cut)
    if problem:
        return change(base, problem=problem, no_json=value is None and not cut and bool(base.text))
    if wrapped and isinstance(value, dict) and value.keys() == {"value"}:
        value = value["value"]
    text = written(value)
    try:
        return change(base, text=text, value=request.output.validate(text), finish="stop")
    except ValueError as wrong:
        return change(base, problem=plain(wrong))


def plain(problem: ValueError) -> str:
    """A validation error in lines a model can act on; pydantic's in the form "path: what is wrong"."""
    errors = getattr(problem, "errors", None)
    if not callable(errors):
        return str(problem)
    lines = [
        ".".join(str(part) for part in error.get("loc", ())) + f": {error.get('msg', '')}"
        for error in errors()[:8]
    ]
    return "; ".join(lines)


def tolerant(text: str, *, cut: bool) -> tuple[Any, str]:
    """The JSON value in a text, and what is wrong where there is none.

    Strict first; then what stands in a code fence or between the first brace and the last; then mended
    by json_repair, but never where the reply was cut: a mend would pass off a part for the whole.
    """
    stripped = text.strip()
    if not stripped:
        return None, "the reply is empty" if not cut else "the reply reached its length limit before any text"
    candidates = [stripped]
    candidates += [match.strip() for match in _FENCED.findall(stripped)]
    first, last = stripped.find("{"), stripped.rfind("}")
    if 0 <= first < last:
        candidates.append(stripped[first : last + 1])
    for candidate in candidates:
        try:
            value = msgspec.json.decode(candidate)
        except msgspec.DecodeError:
            continue
        if isinstance(value, (dict, list)):
            return value, ""
    if cut:
        return None, "the reply was cut at its length limit; a shorter one is needed"
    if first < 0:
        return None, "it is not JSON"
    from json_repair import repair_json

    value = repair_json(stripped[first:], return_objects=True)
    if isinstance(value, dict) and value:
        return value, ""
    return None, "it is not JSON"
