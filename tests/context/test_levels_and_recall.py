"""Making room, and bringing back what left."""

from __future__ import annotations

import pytest

from orchestra.context.archive import Archive
from orchestra.context.context import Context
from orchestra.context.fence import fenced
from orchestra.context.keeping import Draft
from orchestra.context.policy import policy_for
from orchestra.context.recall import Recall, chunks_of
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
    archive = Archive()
    ref = archive.put("search", "构建后端 " * 500, query='{"query":"x"}', at=1e9)
    recall = Recall(archive, COUNTER)
    assert fenced(recall.text(ref, 5_000))[0].text == "构建后端 " * 500
    part = recall.text(ref, 100)
    assert COUNTER.count(part) <= 110
    assert part.startswith("r1 search | ")
    assert "shown" in part


def test_recall_by_words() -> None:
    """Words find the passages that hold them, in English and Chinese, labelled, within the tokens."""
    archive = Archive()
    archive.put("read", "\n\n".join(f"Paragraph {n} about nothing much. " * 20 for n in range(30)))
    archive.put("read", "The build backend must return the wheel's name.", query="wheel")
    archive.put("read", "构建后端必须返回文件名。")
    recall = Recall(archive, COUNTER)
    assert fenced(recall.text("what do build backends return?", 60))[0].label.startswith("r2 read")
    assert fenced(recall.text("返回什么文件名", 60))[0].label.startswith("r3 read")
    archive.put("read", "Sdists are archives.")
    assert fenced(recall.text("sdist", 60))[0].label.startswith("r4 read")


@pytest.mark.parametrize("wanted", ["r9", "", "nichts davon", "r1x", "rr"])
def test_nothing_found_is_said(wanted: str) -> None:
    """An unknown reference or words that match nothing are answered in a sentence."""
    archive = Archive()
    archive.put("read", "The build backend")
    assert Recall(archive, COUNTER).text(wanted, 100).startswith("Nothing in the archive matches")


def test_chunks_cover_the_text() -> None:
    """The parts of a text are all of it, in order, and none is long."""
    for text in ("", "x" * 5_000, "一句话。" * 900, "Line one.\n\nLine two.\n" * 200):
        parts = chunks_of(text)
        assert "".join(text[start:end] for start, end in parts) == text
        assert all(end - start <= 1_200 for start, end in parts)
