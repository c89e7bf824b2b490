"""What was said once is there when it is asked for, whoever said it and however bad the summaries are."""

from __future__ import annotations

import random
import re
from typing import NamedTuple

import pytest

from orchestra.context.context import Context
from orchestra.context.keeping import Draft
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.summary.schema import Summary, SummaryTask
from orchestra.context.tokens import counter_for
from orchestra.values.messages import Reply, ToolCall

COUNTER = counter_for("gpt-4o")
TURNS = 24
BUDGET = 1_400
CHAT = (
    "The lake is known for its calm water and its long wooden piers, and the paths are easy to walk. " * 3,
    "那里的春天气候温和,山坡上开满野花,湖边的小路很适合散步。" * 4,
)


class Fact(NamedTuple):
    """`text` as it is said, the `value` that has to be there, a `wrong` form of it, and what asks for it."""

    text: str
    value: str
    wrong: str
    question: str


FACTS = (
    Fact(
        "The emergency number is 0047-555-0182.",
        "0047-555-0182",
        "0047-555-0183",
        "What is the emergency number?",
    ),
    Fact("The venue deposit is 2,350 euros.", "2,350 euros", "2,380 euros", "How much is the venue deposit?"),
    Fact("The shuttle leaves at 07:45.", "07:45", "07:46", "When does the shuttle leave?"),
    Fact(
        "Do not book Skyline Airways.", "Do not book Skyline", "Book Skyline", "Which airline is ruled out?"
    ),
    Fact("维修师傅的工号是K5029。", "K5029", "K5028", "维修师傅的工号是多少?"),
    Fact("会议室必须有投影仪。", "必须有投影仪", "不必有投影仪", "会议室必须有什么?"),
    Fact("Room key deposit: 75 francs.", "75 francs", "76 francs", "What is the room key deposit?"),
    Fact("Our guide is called Marta Lindqvist.", "Marta Lindqvist", "Marta Lundqvist", "Who is our guide?"),
)
BINDING = (FACTS[3], FACTS[5])
"""What only a user can say: recall may miss it where the question has none of its words, pins may not."""
SPEAKERS = ("user", "assistant", "tool")
KINDS = ("faithful", "forgetful", "wrong", "verbose", "failing", "rules")


def summarised(kind: str, task: SummaryTask, turn: int) -> Draft:
    """What a summariser of this kind says of the facts in its task."""
    text = "\n".join(part.text for part in task.parts)
    held = [fact for fact in FACTS if fact.value in text]
    lines = [fact.text for fact in held]
    if kind == "forgetful":
        lines = lines[::2]
    if kind == "wrong":
        lines = [fact.text.replace(fact.value, fact.wrong) for fact in held]
    if kind == "verbose":
        lines += [CHAT[0]] * 30
    if kind == "failing":
        return Draft(problem="503") if turn % 2 else Draft(summary=Summary(narrative="I'm sorry, I cannot."))
    return Draft(summary=Summary(numbers=tuple(lines), narrative="They talked."), by="small")


def run(kind: str, seed: int) -> tuple[Context, list[str]]:
    """The talk, its facts said by anybody in any turn, and every prompt of it."""
    draw = random.Random(seed)
    said = {
        fact: (draw.randrange(1, TURNS - 8), "user" if fact in BINDING else draw.choice(SPEAKERS))
        for fact in FACTS
    }
    policy = policy_for("chat", {"prompt_tokens": BUDGET})
    context = Context("a", "Help.", policy=policy, window=100_000, counter=COUNTER)
    prompts = []
    for turn in range(TURNS):
        now = {who: [fact.text for fact, place in said.items() if place == (turn, who)] for who in SPEAKERS}
        context.add_input(" ".join(("Let us go on with the plan.", *now["user"])))
        for number, text in enumerate(now["tool"]):
            call = ToolCall(f"{turn}.{number}", "look_up", f'{{"page": "{turn}"}}')
            context.record_reply(Reply(calls=(call,)))
            context.record_results([Result(call=call, text=text)])
        due = context.due()
        if due is not None:
            task = context.summary_task(due)
            context.compact(due, summarised(kind, task, turn) if task and kind != "rules" else None)
        prompts.append(shown(context))
        context.record_reply(Reply(text=" ".join((*now["assistant"], CHAT[turn % 2]))))
    return context, prompts


def shown(context: Context) -> str:
    return "\n".join(message.text for message in context.prompt().messages)


def stands(value: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9]|[.,]\d)", text) is not None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_every_fact_is_there_when_asked_for(kind: str, seed: int) -> None:
    """In the next prompt, with the question as its input, and in what `recall` brings back or the prompt."""
    context, prompts = run(kind, seed)
    assert len(context.reports) >= 4
    for fact in FACTS:
        asked = context.fork()
        asked.add_input(fact.question)
        assert stands(fact.value, shown(asked)), fact
        assert stands(fact.value, prompts[-1]) or stands(fact.value, context.recall(fact.question, 500)), fact


@pytest.mark.parametrize("kind", KINDS)
def test_no_wrong_value_is_ever_shown(kind: str) -> None:
    """What a summariser got wrong is in no prompt, nor what it said when it failed."""
    _, prompts = run(kind, 9)
    for prompt in prompts:
        assert not any(stands(fact.wrong, prompt.replace(fact.text, "")) for fact in FACTS)
        assert "I'm sorry" not in prompt


def test_what_the_window_left_behind_is_found_before_it_leaves_the_context() -> None:
    """Nothing is compacted yet, but the recalled view does not show it: `recall` and the next prompt do."""
    policy = policy_for("chat", {"prompt_tokens": BUDGET})
    context = Context("a", "Help.", policy=policy, window=100_000, counter=COUNTER)
    context.add_input("Let us plan.")
    context.record_reply(Reply(text=f"The gate is C12. {CHAT[0]}"))
    while not context.reports:
        context.add_input("Go on.")
        shown(context)
        context.record_reply(Reply(text=CHAT[0]))
    context.add_input("Is the water of the lake calm?")
    in_view = {block.number for block in context.prompt().blocks}
    assert any(block.number not in in_view for block in context.blocks), "the view shows less than it has"
    assert "The gate is C12." in context.recall("Which gate?", 300)
