"""The direct transport against loopback servers."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from orchestra.errors import ModelUnreachable
from orchestra.values.messages import Delta, Message, Reply, ToolCall
from tests.models.loopback import call, completion, event, serving, sse
from tests.models.opened import SEARCH, asks, opened, output

pytestmark = pytest.mark.anyio


class Answer(BaseModel):
    n: int


async def test_text() -> None:
    """A plain request becomes a plain reply with its usage."""
    async with serving(completion("Hi.")) as server, opened(server.url) as model:
        reply = await model.reply(asks())
    assert (reply.text, reply.finish, reply.model) == ("Hi.", "stop", "served")
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 10, 5)
    assert server.seen[0].body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}],
    }
    assert server.seen[0].headers["authorization"] == "Bearer sk-secret-key"
    assert server.seen[0].path == "/v1/chat/completions"


async def test_calls() -> None:
    """Calls come as calls, and go back as the endpoint made them."""
    script = completion(None, calls=[call("search", '{"query":"x"}')]), completion("Done.")
    async with serving(*script) as server, opened(server.url) as model:
        first = await model.reply(asks(tools=(SEARCH,)))
        assert first.calls == (ToolCall("call_1", "search", '{"query":"x"}'),)
        assert first.finish == "calls"
        messages = (
            *asks().messages,
            Message(role="assistant", calls=first.calls),
            Message(role="tool", text="found", call_id="call_1"),
        )
        second = await model.reply(asks(tools=(SEARCH,)).__class__(messages=messages, tools=(SEARCH,)))
    assert second.text == "Done."
    sent = server.seen[1].body["messages"]
    assert sent[2]["tool_calls"][0]["id"] == sent[3]["tool_call_id"] == "call_1"


async def test_value() -> None:
    """An output asked for comes back validated, and was asked for by a strict schema."""
    async with serving(completion('{"n": 3}')) as server, opened(server.url) as model:
        reply = await model.reply(asks(output=output(Answer)))
    assert reply.value == Answer(n=3)
    assert server.seen[0].body["response_format"]["json_schema"]["strict"] is True


async def test_stream() -> None:
    """Text comes in pieces, the last item is the whole reply, and the connection is used again."""
    events = (
        event({"content": "He"}),
        event({"content": "y"}, finish="stop"),
        event(usage={"prompt_tokens": 7}),
    )
    async with serving(sse(*events)) as server, opened(server.url) as model:
        for _ in range(2):
            items = [item async for item in model.stream(asks())]
            assert items[:2] == [Delta("He"), Delta("y")]
            assert isinstance(items[-1], Reply)
            assert (items[-1].text, items[-1].usage.input_tokens) == ("Hey", 7)
    assert server.connections == 1


async def test_nobody_there() -> None:
    """A port where nobody listens is named in one sentence."""
    async with serving(b"") as server:
        url = server.url
    async with opened(url) as model:
        with pytest.raises(ModelUnreachable, match=r"Endpoint here \(model m\) cannot be reached"):
            await model.reply(asks())
