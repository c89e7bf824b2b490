"""Endpoints that refuse a part of the request: learnt once, worked round, remembered."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from orchestra.errors import ModelError, ModelRefused
from orchestra.models.compatible.memory import InMemory
from orchestra.values.messages import Message, Request, ToolCall
from tests.models.loopback import Seen, call, completion, error, http, serving
from tests.models.opened import SEARCH, asks, opened, output

pytestmark = pytest.mark.anyio


class Answer(BaseModel):
    n: int


def refusing(message: Any, *fields: str, status: int = 400, answer: bytes | None = None) -> Any:
    """A server that refuses requests with any of these fields, in these words."""

    def line(seen: Seen) -> bytes:
        if any(field in seen.body for field in fields):
            return error(status, message)
        return answer or completion("fine")

    return line


def no_schema(seen: Seen) -> bytes:
    kind = seen.body.get("response_format", {}).get("type")
    if kind == "json_schema":
        return error(400, "This response_format type is unavailable now")  # DeepSeek's words
    return completion('{"n": 1}')


def no_json_mode(seen: Seen) -> bytes:
    if "response_format" in seen.body:
        return error(
            422, {"detail": [{"loc": ["body", "response_format"], "msg": "extra fields not permitted"}]}
        )
    return completion('Sure!\n```json\n{"n": 1}\n```')


@pytest.mark.parametrize(
    ("server", "modes"),
    [(no_schema, ["json_schema", "json_object"]), (no_json_mode, ["json_schema", "json_object", None])],
)
async def test_output_falls_back(server: Any, modes: list[str | None]) -> None:
    """From schema to JSON mode to text, once; the next call begins where the last one ended."""
    store = InMemory()
    async with serving(server) as here, opened(here.url, store=store) as model:
        for _ in range(2):
            assert (await model.reply(asks(output=output(Answer)))).value == Answer(n=1)
    tried = [seen.body.get("response_format", {}).get("type") for seen in here.seen]
    assert tried == [*modes, modes[-1]]
    assert "Answer" in here.seen[-1].body["messages"][-1]["content"]
    learnt = store.load("here", "m")
    assert learnt is not None
    assert learnt.learnt


async def test_bare_bad_request_is_tried_without_the_format() -> None:
    """A refusal that says nothing: the format is the suspect, and kept so as the next try worked."""
    store = InMemory()
    server = refusing("Bad Request", "response_format", answer=completion('{"n": 1}'))
    async with serving(server) as here, opened(here.url, store=store) as model:
        assert (await model.reply(asks(output=output(Answer)))).value == Answer(n=1)
    assert len(here.seen) == 3


async def test_a_guess_that_did_not_help_is_forgotten() -> None:
    """Where every try fails nothing is remembered, and the endpoint's own words are raised."""
    store = InMemory()
    async with serving(error(400, "We are closed")) as here, opened(here.url, store=store) as model:
        with pytest.raises(ModelRefused, match="We are closed"):
            await model.reply(asks(output=output(Answer)))
    assert store.load("here", "m") is None


OPTIONAL = [
    (
        "`tool_choice` is not supported by this model",
        "tool_choice",
        {},
        {"tools": (SEARCH,), "tool_choice": "required"},
    ),
    (
        "Unsupported parameter: 'parallel_tool_calls'",
        "parallel_tool_calls",
        {"parallel_calls": True},
        {"tools": (SEARCH,)},
    ),
    (
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only (1) is.",
        "temperature",
        {},
        {"temperature": 0.2},
    ),
    (
        "Unrecognized request argument supplied: reasoning_effort",
        "reasoning_effort",
        {"reasoning_effort": "low"},
        {},
    ),
    (
        'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
        "seed",
        {"extra": {"seed": 7}},
        {},
    ),
]


@pytest.mark.parametrize(("words", "field", "setting", "fields"), OPTIONAL, ids=[row[1] for row in OPTIONAL])
async def test_fields_are_left_out(words: str, field: str, setting: Any, fields: Any) -> None:
    """A field that is refused by name goes, and stays away."""
    async with serving(refusing(words, field)) as here, opened(here.url, **setting) as model:
        for _ in range(2):
            assert (await model.reply(asks(**fields))).text == "fine"
    assert [field in seen.body for seen in here.seen] == [True, False, False]


async def test_output_limit_moves() -> None:
    """Where max_tokens is refused, max_completion_tokens says the same."""
    words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    async with serving(refusing(words, "max_tokens")) as here, opened(here.url) as model:
        await model.reply(asks(max_output_tokens=50))
    assert here.seen[1].body["max_completion_tokens"] == 50


async def test_output_limit_is_lowered() -> None:
    """Where the limit itself is too high, the endpoint's own is taken."""

    def server(seen: Seen) -> bytes:
        if seen.body["max_tokens"] > 8192:
            return error(
                400, "max_tokens is too large: 100000. This model supports at most 8192 completion tokens"
            )
        return completion("fine")

    async with serving(server) as here, opened(here.url) as model:
        await model.reply(asks(max_output_tokens=100_000))
        await model.reply(asks(max_output_tokens=100_000))
    assert [seen.body["max_tokens"] for seen in here.seen] == [100_000, 8192, 8192]


async def test_reasoning_is_sent_back_where_required_and_only_there() -> None:
    """DeepSeek's rule is learnt by its refusal; before, and elsewhere, no reasoning travels."""

    def server(seen: Seen) -> bytes:
        if "reasoning_content" not in seen.body["messages"][-2]:
            return error(
                400, "Missing `reasoning_content` field in the assistant message: it must be passed back"
            )
        return completion("fine")

    thoughtful = Message(role="assistant", calls=(ToolCall("c1", "search", "{}"),), reasoning="Hm.")
    request = Request(messages=(*asks().messages, thoughtful, Message(role="tool", text="x", call_id="c1")))
    async with serving(server) as here, opened(here.url) as model:
        assert (await model.reply(request)).text == "fine"
    assert "reasoning_content" not in here.seen[0].body["messages"][2]
    assert here.seen[1].body["messages"][2]["reasoning_content"] == "Hm."


async def test_tools_beside_an_output_format() -> None:
    """An endpoint that takes no schema beside tools gets the output as a tool among them."""

    def server(seen: Seen) -> bytes:
        if "response_format" in seen.body and "tools" in seen.body:
            return error(400, "Function calling with a response mime type: 'application/json' is unsupported")
        return completion(None, calls=[call("give_answer", '{"n": 4}')])

    async with serving(server) as here, opened(here.url) as model:
        reply = await model.reply(asks(tools=(SEARCH,), output=output(Answer)))
    assert reply.value == Answer(n=4)
    assert here.seen[1].body["tool_choice"] == "required"


@pytest.mark.parametrize(
    "words",
    [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser',
        "tools: Extra inputs are not permitted",
    ],
)
async def test_no_tools_at_all(words: str) -> None:
    """Tools refused: the calls come through structured output and look like any others."""
    answer = completion('{"action": {"tool": "search", "arguments": {"query": "x"}}}')
    async with serving(refusing(words, "tools", answer=answer)) as here, opened(here.url, quirks={}) as model:
        reply = await model.reply(asks(tools=(SEARCH,)))
    assert [(one.name, one.arguments) for one in reply.calls] == [("search", '{"query":"x"}')]
    assert "tools" not in here.seen[-1].body


MESSAGE_RULES: list[tuple[str, Any, Any]] = [
    ("System role not supported", lambda messages: messages[0]["role"] == "system", {}),
    (
        "Conversation roles must alternate user/assistant/user/assistant/...",
        lambda messages: [message["role"] for message in messages].count("user") > 1,
        {},
    ),
    ("System message must be at the beginning.", lambda messages: messages[-1]["role"] == "system", {}),
]


@pytest.mark.parametrize(
    ("words", "refused", "_"), MESSAGE_RULES, ids=["no system", "alternate", "system first"]
)
async def test_message_rules(words: str, refused: Any, _: Any) -> None:
    """Rules about roles are met by moving words, none of which is lost."""
    last = (
        Message(role="system", text="Mind the form.")
        if "beginning" in words
        else Message(role="user", text="And?")
    )
    request = Request(messages=(*asks("One").messages, last))

    def server(seen: Seen) -> bytes:
        return error(400, words) if refused(seen.body["messages"]) else completion("fine")

    async with serving(server) as here, opened(here.url) as model:
        assert (await model.reply(request)).text == "fine"
    sent = " ".join(message["content"] for message in here.seen[-1].body["messages"])
    assert all(text in sent for text in ("Be brief.", "One", last.text))


async def test_short_call_ids() -> None:
    """Mistral's rule for call ids is learnt, and call and result still match."""
    words = "Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9."

    def server(seen: Seen) -> bytes:
        return (
            error(400, words) if len(seen.body["messages"][-1]["tool_call_id"]) != 9 else completion("fine")
        )

    turn = Message(role="assistant", calls=(ToolCall("call_abc", "search", "{}"),))
    request = Request(messages=(*asks().messages, turn, Message(role="tool", text="x", call_id="call_abc")))
    async with serving(server) as here, opened(here.url) as model:
        await model.reply(request)
    sent = here.seen[-1].body["messages"]
    assert sent[2]["tool_calls"][0]["id"] == sent[3]["tool_call_id"]


async def test_address_without_v1() -> None:
    """A base URL is found to need /v1, or to have one too many."""

    def server(seen: Seen) -> bytes:
        return (
            completion("fine")
            if seen.path == "/api/v1/chat/completions"
            else error(404, {"detail": "Not Found"})
        )

    async with serving(server) as here:
        for tail in ("/api", "/api/v1", "/api/v1/chat/completions"):
            async with opened(here.url.removesuffix("/v1") + tail) as model:
                for _ in range(2):
                    assert (await model.reply(asks())).text == "fine"
    assert [seen.path for seen in here.seen[:3]] == [
        "/api/chat/completions",
        *["/api/v1/chat/completions"] * 2,
    ]


async def test_redirects() -> None:
    """A redirect on the same server is followed, once and with the key; another server's is only named."""

    def server(seen: Seen) -> bytes:
        if seen.path.startswith("/v1/"):
            return http(308, b"", Location=f"http://127.0.0.1:{here.port}/v2/chat/completions")
        return completion("fine") if "authorization" in seen.headers else error(401, "no key")

    async with serving(server) as here, opened(here.url) as model:
        for _ in range(2):
            assert (await model.reply(asks())).text == "fine"
    assert len(here.seen) == 3
    elsewhere = http(307, b"", Location="https://example.invalid/v1/chat/completions?secret=1")
    async with serving(elsewhere) as away, opened(away.url) as model:
        with pytest.raises(
            ModelError, match=r"redirect to https://example\.invalid/v1/chat/completions \(status 307\): set"
        ):
            await model.reply(asks())
