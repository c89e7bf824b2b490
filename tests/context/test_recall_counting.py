"""What is recalled is counted line by line, once, and that is exact."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.context.recall.index import RecallIndex
from orchestra.context.recall.turns import Turn
from orchestra.context.tokens import counter_for

ENCODINGS = ("cl100k_base", "o200k_base")
MARKS = "aB3 .,!?`'\t\r\n/\\-_#漢é\u00a0\u3000\u2028😀\u0301\u200d*()\""

lines = st.text(MARKS, max_size=12) | st.text(max_size=12)
turns = st.lists(
    st.tuples(
        st.sampled_from(("Ann", "user", "", "/bin/sh", "*")),
        lines | st.text(MARKS, min_size=900, max_size=1_000),
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(st.lists(lines, max_size=6))
@settings(max_examples=150, deadline=None)
def test_lines_that_begin_with_a_letter_or_digit_add_up(encoding: str, ends: list[str]) -> None:
    """Together they have the tokens that each has with its line feed, behind a fence and before one."""
    counter = counter_for(encoding)
    assert counter.lines_add_up
    shown = [f"{first}{end}" for first, end in zip("aZ漢é9ж", ends, strict=False)]
    whole = "\n".join(("label", "```", *shown, "```"))
    parts = ("label\n```\n", *(f"{line}\n" for line in shown), "```")
    assert counter.count(whole) == sum(map(counter.count, parts))


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(turns, st.integers(10, 400))
@settings(max_examples=100, deadline=None)
def test_what_is_recalled_has_the_tokens_it_says(
    encoding: str, said: list[tuple[str, str]], tokens: int
) -> None:
    """Also with speakers that are marks, turns in pieces and fences inside."""
    counter = counter_for(encoding)
    index = RecallIndex(counter.count, lines_add_up=counter.lines_add_up)
    for number, (speaker, text) in enumerate(said):
        index.add(Turn(id=f"t{number}", speaker=speaker, text=f"dog {text}", time="8 May 2023"))
    recalled = index.recall("dog", tokens)
    assert recalled.tokens == counter.count(recalled.text) <= tokens
