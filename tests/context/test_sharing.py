"""What is kept once: an original that a message shows whole."""

from __future__ import annotations

import pytest

from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.tokens import counter_for
from orchestra.values.messages import Reply, ToolCall


def result_of(text: str, *, passages: bool) -> Context:
    """A context with one result in it."""
    context = Context(
        "a", "Do it.", policy=policy_for("research"), window=100_000, counter=counter_for("gpt-4o")
    )
    context.add_input("What?")
    call = ToolCall("1", "search", '{"query": "x"}')
    context.record_reply(Reply(calls=(call,)))
    context.record_results([Result(call=call, text=text, passages=passages)], at=1.0)
    return context


@pytest.mark.parametrize("passages", [True, False])
@pytest.mark.parametrize("text", ["a line\nand another", "code:\n```", "`" * 5, "", "search: "])
def test_an_original_is_the_same_whether_it_has_a_text_of_its_own_or_not(text: str, passages: bool) -> None:
    """The archive gives back what came, letter by letter, however the prompt shows it."""
    context = result_of(text, passages=passages)
    originals = list(context.archive)
    assert [original.text for original in originals] == ([text] if text else [])


def test_what_a_message_shows_whole_is_kept_in_the_message_only() -> None:
    """The archive holds no second copy of a text that stands in a message."""
    for passages in (True, False):
        context = result_of("word " * 200, passages=passages)
        [original] = context.archive
        assert original.held is context.blocks[-1].message.text


def test_what_a_message_shows_in_part_is_kept_whole() -> None:
    """Sharing never loses the end of a long text."""
    context = result_of("word " * 100_000, passages=False)
    [original] = context.archive
    assert original.text == "word " * 100_000
    assert context.blocks[-1].whole
