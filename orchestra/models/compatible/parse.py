"""Replies, read for what is needed and nothing else; odd shapes of the field are taken as they come."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from orchestra.models.settings import Price
from orchestra.values.messages import Finish
from orchestra.values.usage import Usage

# gc=False: what was decoded from JSON holds no cycle, and the collector need not look at it.


class WireFunction(Struct, gc=False):
    name: Any = None
    arguments: Any = None


class WireCall(Struct, gc=False):
    id: Any = None
    index: Any = None
    function: WireFunction | None = None
    extra_content: Any = None


class WireMessage(Struct, gc=False):
    """A message or a stream's delta. `reasoning` and `reasoning_content` are two names of one thing."""

    content: Any = None
    tool_calls: list[WireCall] | None = None
    function_call: WireFunction | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None


class WireChoice(Struct, gc=False):
    message: WireMessage | None = None
    delta: WireMessage | None = None
    finish_reason: Any = None


class WireUsage(Struct, gc=False):
    """Counts under every name they are known to have; all may be null."""

    prompt_tokens: Any = 0
    completion_tokens: Any = 0
    prompt_tokens_details: Any = None
    completion_tokens_details: Any = None
    prompt_cache_hit_tokens: Any = 0
    cached_tokens: Any = 0
    reasoning_tokens: Any = 0
    cost: Any = None


Count = Annotated[int, Meta(ge=0)]


class Details(Struct, gc=False):
    cached_tokens: Count | None = 0
    reasoning_tokens: Count | None = 0


class Counts(Struct, gc=False):
    """The same where each is what it should be, and needs no second look."""

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    prompt_tokens_details: Details | None = None
    completion_tokens_details: Details | None = None
    prompt_cache_hit_tokens: Count | None = 0
    cached_tokens: Count | None = 0
    reasoning_tokens: Count | None = 0
    cost: float | None = None


class WireBody(Struct, gc=False):
    choices: list[WireChoice] | None = None
    usage: WireUsage | None = None
    model: Any = None
    error: Any = None


class RawCall(Struct, gc=False):
    """A call as it came: arguments may be anything, the id may be missing."""

    name: str
    arguments: str = ""
    id: str = ""
    extra: str = ""


class Parsed(Struct, gc=False):
    """A reply before anything is made of it. `finish_reason` is the endpoint's own word."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: list[RawCall] = field(default_factory=list)
    finish_reason: str = ""
    model: str = ""
    usage: WireUsage | None = None


decode_body = msgspec.json.Decoder(WireBody).decode
_encode = msgspec.json.encode


def parsed(body: WireBody) -> Parsed:
    """The first choice of a whole reply."""
    choice = body.choices[0] if body.choices else WireChoice()
    message = choice.message or choice.delta or WireMessage()
    asked = message.tool_calls
    calls = [raw_call(call) for call in asked if call.function is not None] if asked else []
    if not calls and message.function_call is not None and message.function_call.name:
        calls = [raw_call(WireCall(function=message.function_call))]
    content = message.content
    plain = content is None or isinstance(content, str)
    if plain and not (message.reasoning_content or message.reasoning):  # as nearly all
        text, thoughts = content or "", ""
    else:
        text = text_of(content)
        thoughts = text_of(message.reasoning_content) or text_of(message.reasoning) or thoughts_in(content)
    return Parsed(
        text,
        thoughts,
        text_of(message.refusal) if message.refusal else "",
        calls,
        str(choice.finish_reason or ""),
        str(body.model or ""),
        body.usage,
    )


def text_of(content: Any) -> str:
    """Content as a text, whether it came as one, as a list of parts, or as nothing."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(text_of(part) for part in content)
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content"))
    return str(content)


def thoughts_in(content: Any) -> str:
    """The reasoning among the parts of a content (Mistral's form)."""
    if not isinstance(content, list):
        return ""
    return "".join(text_of(part.get("thinking")) for part in content if isinstance(part, dict))


def raw_call(call: WireCall) -> RawCall:
    function = call.function or WireFunction()
    extra = _encode(call.extra_content).decode() if call.extra_content else ""
    return RawCall(str(function.name or ""), arguments_text(function.arguments), str(call.id or ""), extra)


def arguments_text(arguments: Any) -> str:
    """Arguments as JSON text, whether they came as text or as the object itself."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else _encode(arguments).decode()


class Account(Struct, frozen=True):
    """Whom replies come from, and what they cost: by a price, nothing, or what the endpoint says it took."""

    model: str
    price: Price | None = None
    free: bool = False

    def usage(self, counts: Counts | None) -> Usage:
        """What one call cost. Where the endpoint reports no usage the call counts and its cost is unknown."""
        free = self.free
        if counts is None:
            return Usage(calls=1, cost=0.0 if free else None)
        given, made = counts.prompt_tokens, counts.completion_tokens
        details = counts.prompt_tokens_details
        cached = (details and details.cached_tokens) or counts.prompt_cache_hit_tokens or counts.cached_tokens
        details = counts.completion_tokens_details
        thought = (details and details.reasoning_tokens) or counts.reasoning_tokens
        cached = min(given, cached) if cached else 0
        thought = min(made, thought) if thought else 0
        if self.price is not None:
            cost: float | None = self.price.cost(given, made, cached)
        else:  # OpenRouter reports what it charged
            cost = 0.0 if free else counts.cost
        return Usage(1, given, made, cached, thought, cost)


def counts_of(wire: WireUsage | None) -> Counts | None:
    """Of counts that may be anything, what can be used."""
    if wire is None:
        return None
    details = wire.prompt_tokens_details
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    details = wire.completion_tokens_details
    thought = _count(details.get("reasoning_tokens")) if isinstance(details, dict) else 0
    return Counts(
        prompt_tokens=_count(wire.prompt_tokens),
        completion_tokens=_count(wire.completion_tokens),
        cached_tokens=cached or _count(wire.prompt_cache_hit_tokens or wire.cached_tokens),
        reasoning_tokens=thought or _count(wire.reasoning_tokens),
        cost=float(wire.cost) if isinstance(wire.cost, (int, float)) else None,
    )


def _count(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and value > 0 else 0


_FINISHES: dict[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "filter",
    "safety": "filter",
    "prohibited_content": "filter",
    "refusal": "refusal",
    "tool_calls": "calls",
    "function_call": "calls",
    "tool_use": "calls",
}


def finish_of(reply: Parsed) -> Finish:
    """The endpoint's word as one of ours; an unknown word is a plain stop."""
    finish = _FINISHES.get(reply.finish_reason.lower(), "stop")
    if reply.refusal and finish == "stop":
        return "refusal"
    if finish == "calls" and not reply.calls:
        return "stop"
    return "calls" if reply.calls and finish == "stop" else finish
