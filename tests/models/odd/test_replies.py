"""Replies that are not as the specification has them: a correct result or one clear sentence."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from orchestra.errors import ModelRefused, ModelThrottled, ModelUnreachable, OutputInvalid
from orchestra.values.messages import Message, Reply, Request, ToolCall
from tests.models.loopback import call, completion, error, http, serving
from tests.models.opened import SEARCH, asks, opened, output

pytestmark = pytest.mark.anyio


class Answer(BaseModel):
    n: int


async def one(*script: Any, request: Request | None = None, **setting: Any) -> Reply:
    """The reply to one request by a server with this script."""
    async with serving(*script) as here, opened(here.url, **setting) as model:
        return await model.reply(request or asks(tools=(SEARCH,)))


QUERY = '{"query":"x"}'
CALLS: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("no id", [call("search", QUERY, None)], [("search", QUERY)]),
    ("an empty id", [call("search", QUERY, "")], [("search", QUERY)]),
    ("the function's name as id", [call("search", QUERY, "search")], [("search", QUERY)]),
    ("an id of 200 characters", [call("search", QUERY, "x" * 200)], [("search", QUERY)]),
    (
        "an id that repeats",
        [call("search", QUERY, "a"), call("search", "{}", "a")],
        [("search", QUERY), ("search", "{}")],
    ),
    ("arguments as an object", [call("search", {"query": "x"})], [("search", QUERY)]),
    ("arguments encoded twice", [call("search", json.dumps(QUERY))], [("search", QUERY)]),
    ("arguments null", [call("search", None)], [("search", "{}")]),
    ("arguments empty", [call("search", "")], [("search", "{}")]),
    ("arguments nearly JSON", [call("search", "{'query': 'x',}")], [("search", QUERY)]),
    (
        "arguments not JSON",
        [call("search", "look for x")],
        [("search", '{"unreadable_arguments":"look for x"}')],
    ),
    ("half a character", [call("search", r'{"query":"\ud800x"}')], [("search", '{"query":"?x"}')]),
    ("a tool that was never offered", [call("fly", "{}")], [("fly", "{}")]),
    ("an index of null", [call("search", QUERY, "a", index=None)], [("search", QUERY)]),
]


@pytest.mark.parametrize(("name", "calls", "expected"), CALLS, ids=[row[0] for row in CALLS])
async def test_calls(name: str, calls: Any, expected: Any) -> None:
    """Calls in every state come out with a short id of their own and arguments that are an object; the
    prompt that follows them is valid."""
    script = completion(None, calls=calls), completion("Done.")
    async with serving(*script) as here, opened(here.url) as model:
        first = await model.reply(asks(tools=(SEARCH,)))
        assert [(one.name, one.arguments) for one in first.calls] == expected
        turn = Message(role="assistant", text=first.text, calls=first.calls)
        results = [Message(role="tool", text="r", call_id=one.id) for one in first.calls]
        await model.reply(Request(messages=(*asks().messages, turn, *results), tools=(SEARCH,)))
    valid(here.seen[1].body["messages"])


def valid(messages: list[dict[str, Any]]) -> None:
    """Each call has an id of its own and its result right after it."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        for one in message.get("tool_calls", ()):
            assert 0 < len(one["id"]) <= 40
            assert one["id"] not in waiting
            assert isinstance(json.loads(one["function"]["arguments"]), dict)
            waiting.append(one["id"])
    assert not waiting


async def test_ids_that_repeat_over_turns() -> None:
    """An id that an earlier turn had is changed, so that a result can never answer two calls."""
    old = Message(role="assistant", calls=(ToolCall("call_1", "search", "{}"),))
    request = Request(
        messages=(*asks().messages, old, Message(role="tool", text="r", call_id="call_1")), tools=(SEARCH,)
    )
    reply = await one(completion(None, calls=[call("search", "{}")]), request=request)
    assert reply.calls[0].id != "call_1"


TEXTS: list[tuple[str, bytes, str, str]] = [
    (
        "content as parts",
        completion([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]),
        "Hello",
        "",
    ),
    (
        "thinking parts",
        completion(
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]},
                {"type": "text", "text": "Hi"},
            ]
        ),
        "Hi",
        "Hm",
    ),
    ("reasoning_content", completion("Hi", reasoning_content="Hm"), "Hi", "Hm"),
    ("reasoning", completion("Hi", reasoning="Hm"), "Hi", "Hm"),
    ("thoughts in the text", completion("<think>\nHm\n</think>\n\nHi"), "Hi", "Hm"),
    ("a cut text", completion("Half a", finish="length"), "Half a", ""),
    ("an unknown finish", completion("Hi", finish="eos"), "Hi", ""),
    ("no usage", completion("Hi", usage=None), "Hi", ""),
    ("usage of nulls", completion("Hi", usage={"prompt_tokens": None, "completion_tokens": None}), "Hi", ""),
]


@pytest.mark.parametrize(("name", "reply", "text", "reasoning"), TEXTS, ids=[row[0] for row in TEXTS])
async def test_texts(name: str, reply: bytes, text: str, reasoning: str) -> None:
    """Text and reasoning are found where they are; a call counts even when its usage does not."""
    got = await one(reply, request=asks())
    assert got.usage.calls == 1
    assert got.finish == ("length" if name == "a cut text" else "stop")
    assert (got.text, got.reasoning) == (text, reasoning)


async def test_usage_in_its_forms() -> None:
    """Cached and reasoning tokens are read under all their names."""
    standard = {
        "prompt_tokens": 9,
        "completion_tokens": 8,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    deepseek = {
        "prompt_tokens": 9,
        "completion_tokens": 8,
        "prompt_cache_hit_tokens": 4,
        "reasoning_tokens": 3,
    }
    for usage in (standard, deepseek):
        got = (await one(completion("Hi", usage=usage), request=asks())).usage
        assert (got.input_tokens, got.output_tokens, got.cached_tokens, got.reasoning_tokens) == (9, 8, 4, 3)


async def test_refusal_and_filter_of_text() -> None:
    """Where text was asked for, a refusal and a filter are replies that say so."""
    refusal = await one(completion(None, refusal="I cannot help."), request=asks())
    assert (refusal.finish, refusal.text) == ("refusal", "I cannot help.")
    cut = await one(completion("Half", finish="content_filter"), request=asks())
    assert (cut.finish, cut.text) == ("filter", "Half")


VALUES: list[tuple[str, bytes]] = [
    ("in a fence", completion('Here:\n```json\n{"n": 1}\n```\nDone.')),
    ("among words", completion('The answer is {"n": 1}.')),
    ("nearly JSON", completion("{n: 1,}")),
    ("after thoughts", completion('<think>{"n": 2}</think>{"n": 1}')),
    ("as a call of the output", completion('{"n": 1}', finish="tool_calls")),
    ("as parts", completion([{"type": "text", "text": '{"n":'}, {"type": "text", "text": " 1}"}])),
]


@pytest.mark.parametrize(("name", "reply"), VALUES, ids=[row[0] for row in VALUES])
async def test_values(name: str, reply: bytes) -> None:
    """A value is found wherever it stands, without a second call."""
    got = await one(reply, error(500, "no second call"), request=asks(output=output(Answer)))
    assert got.value == Answer(n=1)


class Words(BaseModel):
    words: str


async def test_half_a_character_in_a_value_is_marked() -> None:
    """An escape of half a surrogate pair, which UTF-8 cannot hold, costs no value."""
    script = completion(r'{"words": "a\ud800b"}'), error(500, "no second call")
    got = await one(*script, request=asks(output=output(Words)))
    assert got.value == Words(words="a?b")


async def test_repair_turn() -> None:
    """A value that does not fit gets one more turn, which quotes what was wrong; both are paid for."""
    script = completion('{"n": "many"}'), completion('{"n": 2}')
    async with serving(*script) as here, opened(here.url) as model:
        reply = await model.reply(asks(output=output(Answer)))
    assert reply.value == Answer(n=2)
    assert (reply.usage.calls, reply.usage.input_tokens) == (2, 20)
    bad, words = here.seen[1].body["messages"][-2:]
    assert (bad["role"], bad["content"]) == ("assistant", '{"n": "many"}')
    assert "n: Input should be a valid integer" in words["content"]


async def test_cut_json_is_not_passed_off() -> None:
    """A draft that was cut is never mended into a shorter one: a shorter one is asked for."""

    class Words(BaseModel):
        words: list[str]

    script = completion('{"words": ["one", "two', finish="length"), completion('{"words": ["one"]}')
    async with serving(*script) as here, opened(here.url) as model:
        reply = await model.reply(asks(output=output(Words)))
    assert reply.value == Words(words=["one"])
    assert "much shorter" in here.seen[1].body["messages"][-1]["content"]


SENTENCES: list[tuple[str, Any, Any, type[Exception], str]] = [
    (
        "invalid twice",
        (completion('{"n": "a"}'),),
        {"output": output(Answer)},
        OutputInvalid,
        r"did not give a Answer: n: Input should be a valid integer.*; use a larger model\.$",
    ),
    (
        "cut twice",
        (completion('{"n":', finish="length"),),
        {"output": output(Answer)},
        OutputInvalid,
        r"cut at its length limit.*; raise max_output\.$",
    ),
    (
        "cut in arguments",
        (completion(None, calls=[call("search", '{"query": "half')], finish="length"),),
        {"tools": (SEARCH,)},
        OutputInvalid,
        r"cut at its length limit inside the arguments of search; raise max_output",
    ),
    (
        "thought to the limit",
        (completion("", reasoning_content="Hm", finish="length"),),
        {},
        OutputInvalid,
        r"reached its length limit before any text; raise max_output",
    ),
    ("empty", (completion(""),), {}, ModelUnreachable, r"sent nothing of use: the reply is empty\."),
    ("empty with tools", (completion(""),), {"tools": (SEARCH,)}, ModelUnreachable, r"the reply is empty"),
    ("no choices", (http(200, b'{"choices": []}'),), {}, ModelUnreachable, r"the reply is empty"),
    (
        "refused an output",
        (completion(None, refusal="No."),),
        {"output": output(Answer)},
        ModelRefused,
        r"gave no Answer: the model declined: No\.",
    ),
    (
        "filtered an output",
        (completion('{"n', finish="content_filter"),),
        {"output": output(Answer)},
        ModelRefused,
        r"content filter cut the reply",
    ),
    (
        "an error inside 200",
        (http(200, b'{"error": {"message": "Provider returned error", "code": 429}}'),),
        {},
        ModelThrottled,
        r"Provider returned error",
    ),
    (
        "a page inside 200",
        (http(200, b"<html><title>Welcome</title></html>", "text/html"),),
        {},
        ModelRefused,
        r"answered with a web page \('Welcome'\) and not with JSON: check its url",
    ),
    ("words inside 200", (http(200, b"ok", "text/plain"),), {}, ModelUnreachable, r"not whole JSON"),
    (
        "another API",
        (http(200, b'{"object": "list"}'),),
        {},
        ModelRefused,
        r"does not speak chat completions",
    ),
    (
        "a page of 503",
        (http(503, b"<html><h1>Service Unavailable</h1></html>", "text/html"),),
        {},
        ModelUnreachable,
        r"status 503\) could not answer: Service Unavailable\. Try again later\.",
    ),
    ("500", (error(500, "Internal"),), {}, ModelUnreachable, r"status 500\) could not answer: Internal"),
    (
        "429",
        (error(429, "Slow down"),),
        {},
        ModelThrottled,
        r"asked too often: Slow down\. Lower its concurrency",
    ),
]


@pytest.mark.parametrize(
    ("name", "script", "fields", "kind", "words"), SENTENCES, ids=[row[0] for row in SENTENCES]
)
async def test_one_sentence(name: str, script: Any, fields: Any, kind: type[Exception], words: str) -> None:
    """What cannot be used ends in one sentence that names endpoint and model and says what to change."""
    with pytest.raises(kind, match=words) as failed:
        await one(*script, request=asks(**fields))
    assert "Endpoint here (model m" in str(failed.value)
    assert "\n" not in str(failed.value)


async def test_what_was_billed_is_in_the_error() -> None:
    """A reply that was paid for and then could not be used is still paid for."""
    with pytest.raises(OutputInvalid) as failed:
        await one(completion('{"n": "a"}'), request=asks(output=output(Answer)))
    assert (failed.value.usage.calls, failed.value.usage.output_tokens) == (2, 10)


RETRY_AFTER: list[tuple[dict[str, str], str, float | None]] = [
    ({"retry-after": "7"}, "Slow down", 7.0),
    ({"retry-after-ms": "250"}, "Slow down", 0.25),
    ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}, "Slow down", 0.0),
    ({}, "Rate limit reached. Please try again in 1m2.5s.", 62.5),
    ({}, "Please retry in 38.5s.", 38.5),
    ({}, "Try again in 120ms", 0.12),
    ({}, "Slow down", None),
]


@pytest.mark.parametrize(("headers", "words", "seconds"), RETRY_AFTER)
async def test_retry_after(headers: dict[str, str], words: str, seconds: float | None) -> None:
    """The pause is read from either header, in both its forms, or from the words."""
    with pytest.raises(ModelThrottled) as throttled:
        await one(error(429, words, **headers))
    assert throttled.value.retry_after == seconds


async def test_a_message_list_in_disorder_is_mended() -> None:
    """Whatever the messages, what is sent is valid and keeps every word."""
    call_a, call_b = ToolCall("a", "search", "{}"), ToolCall("b", "search", "{}")
    messages = (
        Message(role="tool", text="orphan", call_id="zz"),
        Message(role="user", text="Hello?"),
        Message(role="assistant", calls=(call_a, call_b)),
        Message(role="user", text="in between"),
        Message(role="tool", text="late", call_id="a"),
        Message(role="assistant"),
        Message(role="assistant", calls=(call_a, call_a)),
    )
    async with serving(completion("fine")) as here, opened(here.url) as model:
        await model.reply(Request(messages=messages))
    sent = here.seen[0].body["messages"]
    valid(sent)
    told = msgspec.json.encode(sent).decode()
    assert all(text in told for text in ("orphan", "in between", "late", "interrupted"))
