"""Passages are shown labelled and fenced, and what they count adds up."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from orchestra.context.blocks import LATE
from orchestra.context.returned import Spot, result_block
from orchestra.context.tokens import counter_for
from orchestra.tools.port import ToolOutput
from orchestra.tools.showing import Sizes, as_result, show
from orchestra.tools.toolbox import ToolResult
from orchestra.values.messages import ToolCall
from orchestra.values.sources import Document, Passage

COUNTERS = counter_for("gpt-4o"), counter_for("gpt-4")
CALL = ToolCall("c1", "search", '{"query": "hooks"}')
TEXTS = st.one_of(
    st.text(max_size=40),
    st.text("ab `'sD1\n\r\t./)|[", max_size=40),
    st.text("的构建后端必须。🧠é ", max_size=20),
)


def passage(text: str, title: str = "PEP 517", section: str = "Hooks") -> Passage:
    document = Document("pep-0517.rst", title, text, "0" * 64)
    return Passage(document, text, 0, len(text), section)


@given(TEXTS, st.lists(TEXTS, max_size=4), TEXTS)
@example("/", ["a", "a"], "")
@example(" ", ["```\nx\n```", "b."], "x | y")
def test_a_result_is_counted_exactly_by_its_parts(above: str, texts: list[str], title: str) -> None:
    """The tokens of a result's message are those of its whole text, though each passage was counted once."""
    output = ToolOutput(text=above, passages=tuple(passage(text, title) for text in texts))
    labels = [f"s{number}" for number in range(len(texts))]
    for counter in COUNTERS:
        sizes = Sizes()
        for _ in range(2):
            result = as_result(ToolResult(call=CALL, output=output), labels, sizes, counter)
            made, _original = result_block(result, Spot(2, LATE, 1, 1e9, "r1"), counter, 4_000)
            assert made.tokens == counter.message(made.message)


def test_each_passage_is_counted_once() -> None:
    """What a second result shows again adds no count of its own but for what stands above it."""
    counted: list[str] = []

    class Counting(type(COUNTERS[0])):  # type: ignore[misc]  # the same, seen from outside
        def count(self, text: str) -> int:
            counted.append(text)
            return int(super().count(text))

    counter, sizes = Counting("o200k_base"), Sizes()
    output = ToolOutput(passages=(passage("one"), passage("two")))
    for _ in range(3):
        assert show(output, ("s1", "s2"), sizes, counter)[1]
    assert len([text for text in counted if "one" in text]) == 1
    assert len(counted) == len(set(counted))


def test_labels_stay_on_one_line() -> None:
    """A bar, a line end or a fence in a title does not open anything."""
    output = ToolOutput(passages=(passage("x", title="a|b\n```c", section=""),))
    text, _ = show(output, ("s1",), Sizes(), COUNTERS[0])
    assert text == "[s1] pep-0517.rst | a/b '''c |\n```\nx\n```"


def test_all_labels_of_three_digits_have_the_same_tokens() -> None:
    """So they need not be counted one by one; longer ones are."""
    for counter in COUNTERS:
        assert len({counter.count(f"[s{number}]") for number in range(1, 1_000)}) == 1
        output, sizes = ToolOutput(passages=(passage("one"),)), Sizes()
        assert show(output, ("s999",), sizes, counter)[1]
        assert show(output, ("s1000",), sizes, counter)[1] == 0


def test_a_text_with_a_fence_does_not_hide_the_count_of_another() -> None:
    """What stood beside it once is counted in the next result."""
    counter, sizes = COUNTERS[0], Sizes()
    both = ToolOutput(passages=(passage("```\ncode\n```"), passage("plain")))
    assert show(both, ("s1", "s2"), sizes, counter)[1] == 0
    text, tokens = show(ToolOutput(passages=(passage("plain"),)), ("s2",), sizes, counter)
    assert tokens == counter.count(text)
