"""Trying an endpoint out: what it lists, takes and refuses, in at most a handful of small calls."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec import Struct

from orchestra.errors import ModelError, OutputInvalid
from orchestra.models.compatible.memory import InMemory, QuirksStore
from orchestra.models.compatible.quirks import OutputMode, Quirks
from orchestra.models.compatible.transport import Place, Transport
from orchestra.models.discovery import Offered, offered
from orchestra.models.opening import Outlook, model_of, transport_of
from orchestra.models.port import Model
from orchestra.models.settings import Endpoint, TierSetting
from orchestra.values.messages import Message, OutputSpec, Reply, Request, ToolSpec
from orchestra.values.usage import NO_USAGE, Usage

_TEXT_TOKENS = 24
_VALUE_TOKENS = 400


class Probed(Struct, frozen=True, kw_only=True):
    """What a probe found. `problems`: a sentence for each try that failed; the other fields are of those
    that did not. `output`: the best way to a typed value, None for none. `seconds`: of the first call.
    """

    endpoint: str
    model: str
    models: tuple[Offered, ...] = ()
    window: int | None = None
    answers: bool = False
    seconds: float = 0.0
    output: OutputMode | None = None
    tools: str = "unknown"
    streams: bool = False
    stream_usage: bool = False
    usage: Usage = NO_USAGE
    quirks: Quirks = Quirks()
    problems: tuple[str, ...] = ()


async def probe(endpoint: Endpoint | str, model: str = "", *, store: QuirksStore | None = None) -> Probed:
    """Try an endpoint, and a model of it: the first that it lists where none is named.

    What is learnt goes to the store. A URL alone is an endpoint without a key.
    """
    if isinstance(endpoint, str):
        endpoint = Endpoint(name=endpoint, url=endpoint)
    store = store or InMemory()
    outlook = Outlook(store=store)
    async with _opened(endpoint, outlook) as transport:
        models: tuple[Offered, ...] = ()
        problems = []
        try:
            models = await offered(transport, Place(endpoint.name, model or "?", endpoint.key))
        except ModelError as problem:
            problems.append(f"models: {problem}")
        name = model or (models[0].name if models else "")
        window = next((one.window for one in models if one.name == name), None)
        found = Probed(
            endpoint=endpoint.name, model=name, models=models, window=window, problems=tuple(problems)
        )
        if not name:
            return found
        tier = TierSetting(endpoint=endpoint.name, model=name, window=window)
        tried = model_of(endpoint, tier, transport, outlook)
        for step in (_text, _stream, _output, _tools):
            found = await step(tried, found)
        quirks = store.load(endpoint.name, name) or Quirks()
        tools = quirks.tools if found.tools == "unknown" else found.tools
        return msgspec.structs.replace(found, quirks=quirks, tools=tools, window=quirks.window or window)


@asynccontextmanager
async def _opened(endpoint: Endpoint, outlook: Outlook) -> AsyncIterator[Transport]:
    transport = transport_of(endpoint, outlook)
    try:
        yield transport
    finally:
        await transport.close()


def _ask(text: str, *, tokens: int = _VALUE_TOKENS, **fields: Any) -> Request:
    return Request(messages=(Message(role="user", text=text),), max_output_tokens=tokens, **fields)


def _failed(found: Probed, what: str, problem: ModelError) -> Probed:
    usage = found.usage + problem.usage if problem.usage is not None else found.usage
    return msgspec.structs.replace(found, problems=(*found.problems, f"{what}: {problem}"), usage=usage)


async def _text(model: Model, found: Probed) -> Probed:
    started = time.perf_counter()
    try:
        usage = (await model.reply(_ask("Say OK.", tokens=_TEXT_TOKENS))).usage
    except OutputInvalid as thinking:  # a reasoning model that came to no words in so few tokens
        usage = thinking.usage or NO_USAGE
    except ModelError as problem:
        return _failed(found, "text", problem)
    seconds = time.perf_counter() - started
    return msgspec.structs.replace(found, answers=True, seconds=seconds, usage=found.usage + usage)


async def _stream(model: Model, found: Probed) -> Probed:
    if not found.answers:
        return found
    pieces, usage = 0, NO_USAGE
    try:
        async for item in model.stream(_ask("Count to three.", tokens=_TEXT_TOKENS)):
            if isinstance(item, Reply):
                usage = item.usage
            else:
                pieces += 1
    except OutputInvalid as thinking:
        usage = thinking.usage or NO_USAGE
    except ModelError as problem:
        return _failed(found, "streaming", problem)
    counted = usage.input_tokens > 0
    return msgspec.structs.replace(found, streams=pieces > 0, stream_usage=counted, usage=found.usage + usage)


class _Sum(Struct, forbid_unknown_fields=True):
    answer: int


def _sum(text: str) -> _Sum:
    return msgspec.json.decode(text, type=_Sum)


async def _output(model: Model, found: Probed) -> Probed:
    if not found.answers:
        return found
    schema = {"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]}
    try:
        reply = await model.reply(_ask("How much is 2 + 3?", output=OutputSpec("Sum", schema, _sum)))
    except ModelError as problem:
        return _failed(found, "structured output", problem)
    mode = getattr(model, "quirks", Quirks()).output
    return msgspec.structs.replace(found, output=mode, usage=found.usage + reply.usage)


async def _tools(model: Model, found: Probed) -> Probed:
    if not found.answers:
        return found
    parameters = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 30}},
        "required": ["city"],
    }
    weather = ToolSpec("get_weather", "Get the weather of a city.", parameters)
    try:
        request = _ask("What is the weather in Paris?", tools=(weather,), tool_choice="required")
        reply = await model.reply(request)
    except ModelError as problem:
        return _failed(found, "tools", problem)
    tools = getattr(model, "quirks", Quirks()).tools
    return msgspec.structs.replace(found, tools=tools, usage=found.usage + reply.usage)
