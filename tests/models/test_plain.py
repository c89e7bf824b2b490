"""Plain replies, read in one step."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from orchestra.models.compatible.interpret import read
from orchestra.models.compatible.parse import Account, counts_of, decode_body, parsed
from orchestra.models.compatible.plain import plainly
from orchestra.models.compatible.shape import Outgoing
from orchestra.values.messages import Message, Request, ToolCall
from orchestra.values.usage import Usage
from tests.models.opened import SEARCH, asks, output


class Answer(BaseModel):
    n: float


BEFORE = Message(role="assistant", calls=(ToolCall("old", "search", "{}"),))
SENT = Outgoing(plain=True)
ACCOUNT = Account("asked")
TEXTS = st.one_of(
    st.none(),
    st.text(max_size=8),
    st.sampled_from(
        [
            '{"n":1}', '{"n": 1}', '{"n":\n1}', '{"n":NaN}', '{"n":"x"}', '{"n":1}}', "[1]", "{}", " {}",
            "<think>no</think>yes", " <think>", "a <think>b</think>", '{"name":"search","arguments":{}}',
            '{"n":1,"name":"search","arguments":{}}', '<tool_call>{"name":"search"}</tool_call>',
        ]
    ),
)  # fmt: skip
CALL = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["a", "b", "old", "search", "", "x y", "z" * 41, None]),
        "function": st.fixed_dictionaries(
            {
                "name": st.sampled_from(["search", "fly", ""]),
                "arguments": st.sampled_from(
                    ["{}", '{"q":"x"}', " {}", "{", "", "null", "[1]", '"{}"', {}, '{"q":1}}']
                ),
            }
        ),
    },
    optional={"extra_content": st.sampled_from([None, {"x": 1}])},
)
MESSAGES = st.fixed_dictionaries(
    {"content": TEXTS},
    optional={
        "tool_calls": st.one_of(st.none(), st.lists(CALL, max_size=3)),
        "reasoning": st.sampled_from([None, "", "because"]),
        "refusal": st.sampled_from([None, "", "no"]),
        "function_call": st.sampled_from([None, {"name": "search", "arguments": "{}"}]),
    },
)
COUNTS = st.sampled_from([0, 3, 7, None, -1, 2.0, 2.5, True, "3"])
USAGES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {"prompt_tokens": COUNTS, "completion_tokens": COUNTS},
        optional={
            "prompt_tokens_details": st.sampled_from(
                [None, {}, [], "x", *({"cached_tokens": n} for n in (0, 1, 9, None))]
            ),
            "completion_tokens_details": st.sampled_from([None, {}, {"reasoning_tokens": 2}]),
            "prompt_cache_hit_tokens": COUNTS,
            "cached_tokens": COUNTS,
            "reasoning_tokens": COUNTS,
            "cost": st.sampled_from([None, 0, 0.5, "much"]),
        },
    ),
)
FINISHES = st.sampled_from(["stop", "tool_calls", "length", "content_filter", None, "STOP"])


def body(message: Any, finish: Any, **more: Any) -> bytes:
    return msgspec.json.encode({"choices": [{"message": message, "finish_reason": finish}], **more})


@given(MESSAGES, FINISHES, st.booleans(), st.booleans(), st.sampled_from(["auto", "none"]), USAGES)
def test_plain_is_what_the_general_way_gives(
    message: Any, finish: Any, tools: bool, typed: bool, choice: Any, usage: Any
) -> None:
    """Whatever is read in one step, the general way reads just so and finds no problem in it."""
    request = Request(
        messages=(*asks().messages, BEFORE),
        tools=(SEARCH,) if tools else (),
        output=output(Answer) if typed else None,
        tool_choice=choice,
    )
    made = body(message, finish, model="m", usage=usage)
    plain = plainly(request, SENT, made, ACCOUNT, 0.0)
    if plain is not None:
        whole = parsed(decode_body(made))
        known = read(request, SENT, whole)
        assert not known.problem
        assert (plain.model, plain.usage) == (whole.model, ACCOUNT.usage(counts_of(whole.usage)))
        assert plain.exact == (plain.value is not None)
        for name in ("text", "calls", "value", "finish", "reasoning"):
            assert getattr(plain, name) == getattr(known, name)


CALLED = {"id": "a", "function": {"name": "search", "arguments": '{"q":"x"}'}}


@pytest.mark.parametrize(
    ("message", "finish"),
    [
        ({"content": "words"}, "stop"),
        ({"content": '{"n":1}', "refusal": None, "annotations": []}, "stop"),
        ({"content": None, "tool_calls": [CALLED, {**CALLED, "id": "b"}]}, "tool_calls"),
    ],
)
def test_what_endpoints_send_is_plain(message: Any, finish: str) -> None:
    """Words, values and calls as the specification has them are read in one step."""
    typed = output(Answer) if "n" in (message["content"] or "") else None
    request = Request(messages=asks().messages, tools=(SEARCH,), output=typed)
    usage = {"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1}}
    plain = plainly(request, SENT, body(message, finish, usage=usage), ACCOUNT, 0.0)
    assert plain is not None
    assert plain.usage == Usage(1, 3, 0, 1, cost=None)


def test_a_reply_in_a_place_of_its_own_is_not_plain() -> None:
    """Where the output is a tool's arguments, wrapped or emulated, the general way finds it."""
    assert plainly(asks(), Outgoing(), body({"content": "words"}, "stop"), ACCOUNT, 0.0) is None
