"""Laws of the wire: for any stream in any pieces, for any messages, for any number in flight."""

from __future__ import annotations

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.load.behaviour import Behaviour, Call, Latency, Say
from orchestra.load.simulated import simulated
from orchestra.load.wire import stream_events
from orchestra.models.compatible.encode import encoded, in_order
from orchestra.models.compatible.quirks import Quirks
from orchestra.models.compatible.streaming import Pieces
from orchestra.values.messages import Message, ToolCall
from tests.models.opened import all_closed, asks, opened

TEXT = st.text(max_size=60)
SAYS = st.builds(
    Say,
    text=TEXT,
    reasoning=TEXT,
    calls=st.lists(
        st.dictionaries(TEXT, TEXT, max_size=3).map(
            lambda made: Call("search", msgspec.json.encode(made).decode())
        ),
        max_size=3,
    ).map(tuple),
)


@given(SAYS, st.lists(st.integers(1, 400), max_size=30), st.sampled_from([b"\n", b"\r\n"]))
def test_streams_in_any_pieces(say: Say, cuts: list[int], line_end: bytes) -> None:
    """However a stream is cut, even inside a character, the same reply comes out and each call comes once."""
    chunks = stream_events(1, "m", say, {"prompt_tokens": 5})
    data = b"".join(chunk.split(b"\r\n", 1)[1][:-2] for chunk in chunks) + b"data: [DONE]\n\n"
    data = data.replace(b"\n", line_end)
    pieces = Pieces(asks())
    deltas = []
    for cut in [*cuts, len(data)]:
        deltas += pieces.feed(data[:cut])
        data = data[cut:]
    deltas += pieces.end()
    assert pieces.done
    assert (pieces.reply.text, pieces.reply.reasoning) == (say.text, say.reasoning)
    assert "".join(delta.text for delta in deltas) == say.text
    given_calls = [delta.call for delta in deltas if delta.call]
    assert [msgspec.json.decode(call.arguments) for call in given_calls] == [
        msgspec.json.decode(call.arguments) for call in say.calls
    ]
    assert pieces.reply.usage is not None


CALL = st.builds(ToolCall, st.sampled_from("abc"), st.just("search"), st.just("{}"))
CALLS = st.lists(CALL, max_size=3).map(tuple)
MESSAGES = st.lists(
    st.one_of(
        st.builds(Message, st.just("user"), TEXT),
        st.builds(Message, st.just("system"), TEXT),
        st.builds(Message, st.just("assistant"), TEXT, CALLS),
        st.builds(lambda text, name: Message("tool", text, call_id=name), TEXT, st.sampled_from("abc")),
    ),
    max_size=12,
)
QUIRKS = st.builds(
    Quirks,
    alternate=st.booleans(),
    system=st.sampled_from(["any", "first", "none"]),
    short_ids=st.booleans(),
    empty_content=st.booleans(),
)


@given(MESSAGES, QUIRKS)
def test_what_is_sent_is_always_in_order(messages: list[Message], quirks: Quirks) -> None:
    """For any messages: each call has its result right after it, and no word is lost."""
    sent = msgspec.json.decode(b"[" + encoded(in_order(messages), quirks) + b"]")
    waiting: list[str] = []
    for place, row in enumerate(sent):
        if row["role"] == "tool":
            waiting.remove(row["tool_call_id"])
            continue
        assert not waiting
        waiting = [call["id"] for call in row.get("tool_calls", ())]
        assert len(set(waiting)) == len(waiting)
        if row["role"] == "system":
            assert quirks.system == "any" or (quirks.system == "first" and place == 0)
        if row["role"] == "assistant":
            assert row["content"] or waiting
        if quirks.alternate and place and row["role"] == "user":
            assert sent[place - 1]["role"] != "user"
    assert not waiting
    told = "\n".join(str(row["content"]) for row in sent)
    assert all(message.text in told for message in messages)
    if messages == [message for message in messages if message.role != "tool" and not message.calls]:
        assert len(sent) <= len(messages)


@pytest.mark.anyio
async def test_many_in_flight_leave_nothing_open() -> None:
    """Two hundred calls at once share nothing and leave no connection behind; a cancelled half neither."""
    replies = []
    async with simulated(Behaviour(latency=Latency(first_seconds=0.05))) as endpoint:
        async with opened(endpoint.url) as model, anyio.create_task_group() as group:

            async def ask(n: int) -> None:
                with anyio.move_on_after(0.01 if n % 2 else None):
                    replies.append(await model.reply(asks(f"{n}")))

            for n in range(200):
                group.start_soon(ask, n)
        await all_closed(endpoint)
    assert len(replies) == 100
    assert endpoint.served.in_flight == 0
