"""Streams that are not as the specification has them."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from orchestra.errors import ModelThrottled, ModelUnreachable, OutputInvalid
from orchestra.values.messages import Delta, Reply, Request
from tests.models.loopback import DROP, HANG, HEAD, completion, error, event, http, piece, serving, sse
from tests.models.opened import SEARCH, asks, opened, output

pytestmark = pytest.mark.anyio


class Answer(BaseModel):
    n: int


async def streamed(*script: Any, request: Request | None = None, **setting: Any) -> tuple[list[Delta], Reply]:
    """The pieces and the reply of one streamed request."""
    async with serving(*script) as here, opened(here.url, **setting) as model:
        items = [item async for item in model.stream(request or asks())]
    assert isinstance(items[-1], Reply)
    return [item for item in items[:-1] if isinstance(item, Delta)], items[-1]


def fragment(arguments: str = "", name: str | None = None, id: str | None = None, **more: Any) -> Any:  # noqa: A002 - the wire's name
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"tool_calls": [{"function": function, **({"id": id} if id else {}), **more}]}


BOTH = [("search", '{"query":"a"}'), ("search", '{"query":"b"}')]
ONE = BOTH[:1]

CALLS: list[tuple[str, list[Any], list[tuple[str, str]]]] = [
    (
        "as specified",
        [
            fragment("", "search", "x", index=0),
            fragment('{"query"', index=0),
            fragment(':"a"}', index=0),
            fragment("", "search", "y", index=1),
            fragment('{"query":"b"}', index=1),
        ],
        BOTH,
    ),
    (
        "whole calls, all at index 0",
        [
            fragment('{"query":"a"}', "search", "x", index=0),
            fragment('{"query":"b"}', "search", "y", index=0),
        ],
        BOTH,
    ),
    (
        "all at index 0, no ids",
        [fragment('{"query":"a"}', "search", index=0), fragment('{"query":"b"}', "search", index=0)],
        BOTH,
    ),
    (
        "all at index 0, one id",
        [
            fragment('{"query":"a"}', "search", "search", index=0),
            fragment('{"query":"b"}', "search", "search", index=0),
        ],
        BOTH,
    ),
    (
        "no index at all",
        [
            fragment("", "search", "x"),
            fragment('{"query":"a"}'),
            fragment("", "search", "y"),
            fragment('{"query":"b"}'),
        ],
        BOTH,
    ),
    (
        "name and id in every fragment",
        [fragment('{"query"', "search", "x", index=0), fragment(':"a"}', "search", "x", index=0)],
        ONE,
    ),
    ("the id comes late", [fragment('{"query"', "search", index=0), fragment(':"a"}', id="x", index=0)], ONE),
    (
        "interleaved",
        [
            fragment("", "search", "x", index=0),
            fragment("", "search", "y", index=1),
            fragment('{"query":"a"}', index=0),
            fragment('{"query":"b"}', index=1),
        ],
        BOTH,
    ),
    ("arguments as an object", [fragment({"query": "a"}, "search", "x", index=0)], ONE),  # type: ignore[arg-type]
    (
        "an empty fragment after",
        [fragment('{"query":"a"}', "search", "x", index=0), fragment("", index=0)],
        ONE,
    ),
]


@pytest.mark.parametrize(("name", "deltas", "expected"), CALLS, ids=[row[0] for row in CALLS])
async def test_calls(name: str, deltas: Any, expected: Any) -> None:
    """Fragments come together to the calls that were meant, each once as a delta, with its own id."""
    events = [event(delta) for delta in deltas]
    pieces, reply = await streamed(sse(*events, event(finish="tool_calls")), request=asks(tools=(SEARCH,)))
    assert [(one.name, one.arguments) for one in reply.calls] == expected
    assert tuple(delta.call for delta in pieces if delta.call) == reply.calls
    assert len({one.id for one in reply.calls}) == len(expected)
    assert reply.finish == "calls"


async def test_a_complete_call_comes_before_the_stream_ends() -> None:
    """The loop can act on the first call while the endpoint still writes the second."""
    first = event(fragment('{"query":"a"}', "search", "x", index=0))
    second = event(fragment("", "search", "y", index=1))
    async with serving([HEAD, piece(first), piece(second), HANG]) as here, opened(here.url) as model:
        with anyio.fail_after(5):
            async for item in model.stream(asks(tools=(SEARCH,))):
                assert isinstance(item, Delta)
                assert item.call is not None
                assert item.call.arguments == '{"query":"a"}'
                break


HI = [
    event({"role": "assistant", "content": ""}),
    event({"content": "Hé"}),
    event({"content": "llo"}, finish="stop"),
]
USAGE = event(usage={"prompt_tokens": 3, "completion_tokens": 2})


def in_pieces(data: bytes, size: int) -> list[bytes]:
    return [HEAD, *(piece(data[at : at + size]) for at in range(0, len(data), size)), b"0\r\n\r\n"]


DONE = b"data: [DONE]\n\n"
TEXTS: list[tuple[str, Any]] = [
    ("as specified", sse(*HI, USAGE)),
    ("chunks split inside a character", in_pieces(b"".join([*HI, USAGE, DONE]), 1)),
    ("chunks of seven bytes", in_pieces(b"".join([*HI, USAGE, DONE]), 7)),
    ("all events in one chunk", in_pieces(b"".join([*HI, USAGE, DONE]), 9_999)),
    ("keep-alive comments", sse(b": keep-alive\n\n", HI[0], b": OPENROUTER PROCESSING\n\n", *HI[1:], USAGE)),
    ("names, ids and retries", sse(*(b"event: x\nid: 1\nretry: 5\n" + one for one in HI), USAGE)),
    ("Windows line ends", in_pieces(b"".join([*HI, USAGE, DONE]).replace(b"\n", b"\r\n"), 5)),
    ("one line end between events", in_pieces(b"".join([*HI, USAGE, DONE]).replace(b"\n\n", b"\n"), 11)),
    ("no blank after the colon", sse(*(one.replace(b"data: ", b"data:") for one in HI), USAGE)),
    (
        "JSON over several lines",
        sse(
            *HI[:2],
            b'data: {"choices":\ndata: [{"delta": {"content": "llo"}, "finish_reason": "stop"}]}\n\n',
            USAGE,
        ),
    ),
    (
        "usage in every chunk",
        sse(
            *(
                event({"content": text}, usage={"prompt_tokens": 3, "completion_tokens": n})
                for n, text in enumerate(("Hé", "llo"), 1)
            ),
            event(finish="stop"),
        ),
    ),
    ("no final [DONE]", [HEAD, *(piece(one) for one in [*HI, USAGE]), b"0\r\n\r\n"]),
    ("no final line end", [HEAD, *(piece(one) for one in HI), piece(USAGE.rstrip()), b"0\r\n\r\n"]),
    (
        "until the connection closes",
        [HEAD.replace(b"transfer-encoding: chunked", b"connection: close"), b"".join([*HI, USAGE]), DROP],
    ),
    (
        "choices null in the usage event",
        sse(*HI, event(choices=None, usage={"prompt_tokens": 3, "completion_tokens": 2})),
    ),
    (
        "a whole message as one event",
        sse(event(choices=[{"message": {"content": "Héllo"}, "finish_reason": "stop"}]), USAGE),
    ),
    ("not a stream but JSON", completion("Héllo", usage={"prompt_tokens": 3, "completion_tokens": 2})),
    ("content as parts", sse(event({"content": [{"type": "text", "text": "Héllo"}]}, finish="stop"), USAGE)),
    ("an event that is not JSON", sse(HI[0], b"data: ping\n\n", *HI[1:], USAGE)),
]


@pytest.mark.parametrize(("name", "script"), TEXTS, ids=[row[0] for row in TEXTS])
async def test_texts(name: str, script: Any) -> None:
    """The same words and the same usage come out of every way to write a stream."""
    pieces, reply = await streamed(script)
    assert reply.text == "Héllo"
    assert reply.finish == "stop"
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 3, 2)
    assert "".join(delta.text for delta in pieces) in ("Héllo", "")


async def test_usage_missing() -> None:
    """A stream without usage is one call of unknown cost."""
    _, reply = await streamed(sse(*HI))
    assert (reply.usage.calls, reply.usage.input_tokens) == (1, 0)


async def test_stream_options_refused() -> None:
    """An endpoint that knows no stream_options is asked without them."""

    def server(seen: Any) -> Any:
        if "stream_options" in seen.body:
            return error(400, "Unknown parameter: 'stream_options'")
        return sse(*HI)

    _, reply = await streamed(server)
    assert reply.text == "Héllo"


async def test_reasoning() -> None:
    """Reasoning comes in pieces of its own, under either name."""
    events = [
        event({"reasoning_content": "Hm"}),
        event({"reasoning": "m."}),
        event({"content": "Hi"}, finish="stop"),
    ]
    pieces, reply = await streamed(sse(*events))
    assert pieces[0] == Delta(reasoning="Hm")
    assert (reply.reasoning, reply.text) == ("Hmm.", "Hi")


async def test_value_after_repair() -> None:
    """A streamed value that does not fit is mended in a second call; the last item is the good reply."""
    bad = sse(event({"content": '{"n": "a"}'}, finish="stop"))
    _, reply = await streamed(bad, completion('{"n": 5}'), request=asks(output=output(Answer)))
    assert reply.value == Answer(n=5)
    assert reply.usage.calls == 2


async def test_emulated_calls_in_a_stream() -> None:
    """Where calls travel as text, no one sees that text: the call is the delta."""
    told = json.dumps({"action": {"tool": "search", "arguments": {"query": "a"}}})
    script = sse(event({"content": told[:10]}), event({"content": told[10:]}, finish="stop"))
    pieces, reply = await streamed(script, request=asks(tools=(SEARCH,)), quirks={"tools": "emulated"})
    assert [delta.call for delta in pieces] == list(reply.calls)
    assert not any(delta.text for delta in pieces)


SENTENCES: list[tuple[str, Any, type[Exception], str]] = [
    (
        "drops in the middle",
        [HEAD, piece(HI[1]), DROP],
        ModelUnreachable,
        "dropped the connection inside its reply",
    ),
    (
        "ends without an end",
        [HEAD, piece(HI[1]), b"0\r\n\r\n"],
        ModelUnreachable,
        "ended its reply in the middle",
    ),
    (
        "an error in the middle",
        sse(HI[1], event(error={"message": "Overloaded", "code": 502})),
        ModelUnreachable,
        "could not answer: Overloaded",
    ),
    (
        "a throttle in the middle",
        sse(event(error={"message": "Rate limited", "code": 429})),
        ModelThrottled,
        "too often",
    ),
    ("an error before", http(503, b"<h1>Busy</h1>", "text/html"), ModelUnreachable, "could not answer: Busy"),
    (
        "cut in arguments",
        sse(event(fragment('{"query": "ha', "search", "x", index=0)), event(finish="length")),
        OutputInvalid,
        "cut at its length limit inside the arguments of search",
    ),
    ("nothing at all", sse(event(finish="stop")), ModelUnreachable, "the reply is empty"),
]


@pytest.mark.parametrize(("name", "script", "kind", "words"), SENTENCES, ids=[row[0] for row in SENTENCES])
async def test_one_sentence(name: str, script: Any, kind: type[Exception], words: str) -> None:
    """A stream that cannot be used ends in the same errors as a reply."""
    with pytest.raises(kind, match=words):
        await streamed(script, request=asks(tools=(SEARCH,)))


async def test_cancelling_closes_at_once() -> None:
    """A cancelled stream leaves no connection behind."""
    async with serving([HEAD, piece(HI[1]), HANG]) as here, opened(here.url) as model:
        with anyio.move_on_after(5) as scope:
            async for item in model.stream(asks()):
                assert item == Delta("Hé")
                scope.cancel()
        with anyio.fail_after(2):
            await here.closed.wait()
        assert here.open == 0
