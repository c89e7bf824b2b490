"""What outlives the turns: when things leave, what stands for them, and how it is told."""

from __future__ import annotations

import pytest

from orchestra.context.context import Context
from orchestra.context.importance import Importance
from orchestra.context.keeping import Draft
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.summary.schema import Summary
from orchestra.context.tokens import counter_for
from orchestra.errors import ContextOverflow
from orchestra.values.messages import Reply, ToolCall

COUNTER = counter_for("gpt-4o")
CHAT = "It is a pleasant place with much to see and to do. " * 12


def context_of(tokens: int = 2_000, **figures: object) -> Context:
    policy = policy_for("chat", {"prompt_tokens": tokens, **figures})
    return Context("a", "Help.", policy=policy, window=100_000, counter=COUNTER)


def turn(context: Context, said: str, answer: str = CHAT) -> str:
    context.add_input(said)
    text = seen(context)
    context.record_reply(Reply(text=answer))
    return text


def seen(context: Context) -> str:
    return "\n".join(message.text for message in context.prompt().messages)


def look(context: Context, text: str) -> str:
    call = ToolCall(f"c{context.turn}", "look_up", '{"id": "7"}')
    context.record_reply(Reply(calls=(call,)))
    return context.record_results([Result(call=call, text=text)])[0]


def test_constraints_stay_to_the_end() -> None:
    """After many compactions what the user ruled out stands in the prompt, word for word."""
    context = context_of()
    turn(context, "Plan a trip.")
    turn(context, "Do not book Skyline. 不要海鲜。 My code is QX-71.")
    for number in range(40):
        text = turn(context, f"Tell me more about the {'old ' * (number % 3)}town.")
    assert len(context.reports) >= 3
    for said in ("Do not book Skyline.", "不要海鲜。", "QX-71"):
        assert said in text


def test_a_corrected_value_is_never_shown_unmarked() -> None:
    """As long as the old value is anywhere in the prompt, a line says that it holds no longer."""
    context = context_of()
    turn(context, "Plan a trip.")
    turn(context, "The budget is $900.")
    turn(context, "Correction: the budget is $950.")
    for _ in range(30):
        text = turn(context, "Go on.")
        assert "$950" in text
        assert "$900" not in text or "$900 holds no longer; it is $950" in text


def test_results_of_an_answered_turn_leave_first() -> None:
    """Once the answer is given and their facts are pinned, results leave at the light level, recallable."""
    context = context_of(2_000, result_tokens=800)
    context.add_input("Where is order 7?")
    ref = look(context, '{"order_id": "W-7", "status": "sent", "note": "%s"}' % ("word " * 500))
    context.record_reply(Reply(text="It was sent."))
    for number in range(3):
        context.add_input(f"And what about the weather? {number}")
        context.record_reply(Reply(text=CHAT))
    context.add_input("Thanks.")
    text = seen(context)
    (report,) = context.reports
    assert report.level == "light"
    assert "order_id=W-7" in text
    assert f"{ref}: look_up(" in text
    assert context.archive.get(ref) is not None


def test_a_critical_step_loses_nothing_but_what_is_used() -> None:
    """Above the light level nothing happens in a critical step, unless the prompt would not fit."""
    context = context_of(recall_share=0.0)  # without the recalled view, which makes a prompt fit by itself
    for number in range(11):
        context.add_input(f"Go on {number}.")
        context.record_reply(Reply(text=CHAT))
    assert context.due(critical=True) is None
    assert context.prompt(critical=True).compaction is None
    due = context.due()
    assert due is not None
    assert due.level in ("medium", "heavy")
    for number in range(9):
        context.add_input(f"Go on {number}.")
        context.record_reply(Reply(text=CHAT))
    prompt = context.prompt(critical=True)
    assert prompt.tokens <= prompt.manifest.usable
    assert prompt.compaction is not None
    assert prompt.compaction.level == "full"


def test_importance_is_of_what_names_who_says_what_refers_and_age() -> None:
    """A block with ids counts more, the user's more, one that is referred to more, and ids do not age."""
    context = context_of(50_000)
    for said, answered in (
        ("My code is QX-71.", "Noted."),
        ("It is warm.", "It is."),
        ("It was cold.", "It was."),
        ("Use code QX-71.", "Fine."),
    ):
        context.add_input(said)
        context.record_reply(Reply(text=answered))
    blocks = context.blocks
    scores = {block.message.text: Importance().of(blocks)[block.number] for block in blocks}
    assert scores["My code is QX-71."] > scores["Use code QX-71."] > scores["It was cold."]
    assert scores["It was cold."] > scores["It is warm."] > scores["It is."]


def test_a_refused_summary_changes_nothing_but_the_offloading() -> None:
    """A draft that contradicts is not taken, the report says why, and what left can be recalled."""
    context = context_of()
    for number in range(11):
        context.add_input(f"Go on with part {number + 20}.")
        context.record_reply(Reply(text=CHAT))
    due = context.due()
    assert due is not None
    report = context.compact(due, Draft(summary=Summary(narrative="Part 97 was done."), by="small"))
    assert (report.version, report.by) == (0, "small")
    assert "97" in report.refused
    assert report.after < report.before
    entries = {entry.block: entry for entry in context.prompt().manifest.absent()}
    assert all(entries[block.id].fate == "offloaded" for block in due.blocks)
    assert all(context.archive.get(entries[block.id].ref) for block in due.blocks)
    assert "97" not in seen(context)


def test_a_summary_is_restored() -> None:
    """An earlier version stands in the prompt again, as a new version with its lineage."""
    context = context_of()
    for number in range(45):
        turn(context, "Go on.", f"We decided on plan {number + 20}. {CHAT}")
    versions = list(context.keeping.versions)
    assert len(versions) >= 3
    assert versions[-1].over == versions[-2].number
    back = context.restore_summary(1)
    text = seen(context)
    assert versions[0].text in text
    assert versions[-1].text not in text
    assert back.over == 1
    for number in range(20):
        turn(context, "Go on.", f"We decided on plan {number + 80}. {CHAT}")
    assert list(context.keeping.versions)[back.number].over == back.number


def test_pins_give_way_to_a_task_that_needs_the_room() -> None:
    """Pinned facts never make a prompt fail that would fit without them."""
    context = context_of(1_500, output_tokens=100)
    turn(context, "Hello.")
    for number in range(30):
        turn(
            context,
            f"Locker {number + 100} has the code KX-{number + 300}. Never open it before {number + 11}:00.",
        )
    context.add_input("word " * 1_250)
    prompt = context.prompt()
    assert prompt.tokens <= 1_500
    context.add_input("word " * 2_000)
    with pytest.raises(ContextOverflow):
        context.prompt()
