"""Making room, and bringing back what left."""

from __future__ import annotations

import pytest

from orchestra.context.context import Context
from orchestra.context.fence import fenced
from orchestra.context.keeping import Draft
from orchestra.context.policy import policy_for
from orchestra.context.recall.pieces import pieces
from orchestra.context.returned import Result
from orchestra.context.summary.schema import Summary
from orchestra.context.tokens import counter_for
from orchestra.values.messages import Reply, ToolCall

COUNTER = counter_for("gpt-4o")


def context_of(window: int) -> Context:
    figures = {"output_tokens": 100, "result_tokens": 2_000}
    context = Context("a", "Answer.", policy=policy_for("tools", figures), window=window, counter=COUNTER)
    context.add_input("Question: x")
    return context


def step(context: Context, query: str, text: str, *, failed: bool = False) -> None:
    call = ToolCall(f"c{context.turn}", "search", query)
    context.record_reply(Reply(calls=(call,)))
    context.record_results([Result(call=call, text=text, failed=failed)])


def test_below_half_nothing_happens() -> None:
    """Up to half of the budget every block stays."""
    context = context_of(10_000)
    for number in range(8):
        step(context, f"q{number}", "word " * 450)
    assert context.prompt().compaction is None


def test_the_light_level_takes_used_calls_only() -> None:
    """From half of the budget on, calls that failed or whose results are used leave, and no others."""
    context = context_of(10_000)
    step(context, "gone", "error " * 1_200, failed=True)
    for number in range(4):
        step(context, f"q{number}", "word " * 850)
    compaction = context.prompt().compaction
    assert compaction is not None
    assert compaction.level == "light"
    assert [leaving.why for leaving in compaction.leaving] == ["used"]


def test_the_medium_level_takes_repeats_first() -> None:
    """From three quarters on, the older of two same calls leaves before others of its age."""
    context = context_of(10_000)
    step(context, "first", "one " * 1_100)
    step(context, "same", "two " * 1_100)
    for query in ("x", "y", "same", "z"):
        step(context, query, "word " * 1_100)
    compaction = context.prompt().compaction
    assert compaction is not None
    assert compaction.level == "medium"
    assert [leaving.why for leaving in compaction.leaving] == ["repeated later", "oldest"]
    assert "two two" in compaction.leaving[0].blocks[1].message.text


def test_the_last_two_turns_stay() -> None:
    """Even over nine tenths the last two turns are left alone."""
    context = context_of(10_000)
    for number in range(6):
        step(context, f"q{number}", f"word{number} " * 700)
    prompt = context.prompt()
    assert prompt.compaction is not None
    assert prompt.compaction.level == "heavy"
    text = "\0".join(message.text for message in prompt.messages)
    assert "word5 word5" in text
    assert "word4 word4" in text
    assert prompt.tokens < 0.7 * prompt.manifest.usable


def test_a_summary_takes_the_place_of_what_it_covers() -> None:
    """Whoever can summarise hands the summary in; the manifest says which blocks it stands for."""
    context = context_of(10_000)
    for number in range(8):
        step(context, f"q{number}", "word " * 900)
    due = context.due()
    assert due is not None
    context.compact(due, Draft(summary=Summary(narrative="搜索没有结果。"), by="small"))
    prompt = context.prompt()
    assert any("搜索没有结果" in message.text for message in prompt.messages)
    fates = {entry.block: entry.fate for entry in prompt.manifest.absent()}
    assert fates == {block.id: "summarised" for block in due.blocks}


def test_recall_by_reference() -> None:
    """A reference brings back the original, or as much as is asked for, with a word that it is not all."""
    context = context_of(10_000)
    step(context, '{"query":"x"}', "构建后端 " * 500)
    assert fenced(context.recall("r1", 5_000))[0].text == "构建后端 " * 500
    part = context.recall("r1", 100)
    assert COUNTER.count(part) <= 110
    assert part.startswith("r1 search | ")
    assert "shown" in part


def test_recall_by_words() -> None:
    """Words find what holds them, in English and Chinese, said or returned, within the tokens."""
    context = context_of(10_000)
    step(context, "nothing", "\n\n".join(f"Paragraph {n} about nothing much. " * 20 for n in range(30)))
    step(context, "wheel", "The build backend must return the wheel's name.")
    step(context, "文件", "构建后端必须返回文件名。")
    context.record_reply(Reply(text="The door code is KX-77."))
    step(context, "the last", "Sdists are archives.")
    for wanted, found in (
        ("what do build backends return?", "search r2: The build backend must return the wheel's name."),
        ("返回什么文件名", "search r3: 构建后端必须返回文件名。"),
        ("door code", "assistant: The door code is KX-77."),
        ("sdist", "search r4: Sdists are archives."),
    ):
        text = context.recall(wanted, 100)
        assert COUNTER.count(text) <= 100
        assert found in text.splitlines()


def test_recall_says_which_call_brought_a_result() -> None:
    """A piece of a result names its reference, and the answer the call behind it."""
    context = context_of(10_000)
    step(context, '{"query":"hotels"}', "The Astoria has 40 rooms.\n" + "Nothing else. " * 300)
    step(context, "later", "Done.")
    found, whole = fenced(context.recall("Astoria rooms", 500))
    assert "search r1: The Astoria has 40 rooms." in found.text
    assert whole.text == 'r1: search {"query":"hotels"}'


def test_the_question_itself_is_not_recalled() -> None:
    """Neither the current input nor the step that asks answers a search."""
    context = context_of(10_000)
    context.record_reply(Reply(text="Yes."))
    context.add_input("Where is the azure teapot?")
    context.record_reply(Reply(calls=(ToolCall("c", "recall", '{"wanted": "azure teapot"}'),)))
    assert context.recall("azure teapot", 500).startswith("Nothing that left")


@pytest.mark.parametrize("wanted", ["r9", "", "nichts davon", "r1x", "rr"])
def test_nothing_found_is_said(wanted: str) -> None:
    """An unknown reference or words that match nothing are answered in a sentence."""
    context = context_of(10_000)
    step(context, "backend", "The build backend")
    assert context.recall(wanted, 100).startswith("Nothing that left this prompt")


def test_given_data_that_was_cut_can_be_found() -> None:
    """What of a document has no room in the prompt any more is found by its words."""
    context = context_of(2_500)
    text = "\n".join(f"Room {n} belongs to team {n * 7}." for n in range(400))
    context.add_data("knowledge", "rooms", text)
    prompt = context.prompt()
    assert "Room 377 belongs" not in "\0".join(message.text for message in prompt.messages)
    assert "Room 377 belongs to team 2639." in context.recall("room 377", 600)


def test_pieces_cover_the_text() -> None:
    """The parts of a text are all of it, in order, and none is long."""
    for text in ("", "x" * 5_000, "一句话。" * 900, "Line one.\n\nLine two.\n" * 200):
        parts = pieces(text)
        assert "".join(text[start:end] for start, end in parts) == text
        assert all(end - start <= 1_200 for start, end in parts)
