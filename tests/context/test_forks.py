"""A context and its forks go their own ways, however their work interleaves."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.tokens import counter_for
from orchestra.errors import ContextOverflow
from orchestra.values.messages import Reply

COUNTER = counter_for("gpt-4o")
WORDS = (
    "The gate is C12. ",
    "My budget is $900. ",
    "不要海鲜。",
    "The lake is calm. " * 8,
    "Rome or Paris? ",
)
ASKED = "Which gate, what budget, and 海鲜?"

MOVES = st.sampled_from(("say", "answer", "ask", "recall", "fork"))
STEPS = st.lists(st.tuples(st.integers(0, 2), MOVES, st.sampled_from(WORDS)), max_size=30)


def fresh() -> Context:
    policy = policy_for("chat", {"prompt_tokens": 400})
    context = Context("a", "Help.", policy=policy, window=10_000, counter=COUNTER)
    context.add_input("Hello.")
    return context


def do(context: Context, what: str, text: str) -> None:
    if what == "say":
        context.add_input(text)
    elif what == "answer":
        context.record_reply(Reply(text=text))
    elif what == "recall":
        context.recall(ASKED, 100)
    else:
        seen(context)


def seen(context: Context) -> str:
    try:
        return "\0".join(message.text for message in context.prompt().messages)
    except ContextOverflow:
        return ""


@settings(deadline=None, max_examples=60)
@given(STEPS)
def test_forks_see_nothing_of_each_other(steps: list[tuple[int, str, str]]) -> None:
    """Each ends as a context that did the same things alone: its prompt, its recall, its pins and archive."""
    contexts = [fresh()]
    histories: list[list[tuple[str, str]]] = [[]]
    for which, what, text in steps:
        at = which % len(contexts)
        if what == "fork":
            if len(contexts) < 3:
                contexts.append(contexts[at].fork())
                histories.append(histories[at][:])
            continue
        do(contexts[at], what, text)
        histories[at].append((what, text))
    for context, history in zip(contexts, histories, strict=True):
        alone = fresh()
        for what, text in history:
            do(alone, what, text)
        for one in (context, alone):
            one.add_input(ASKED)
        assert seen(context) == seen(alone)
        assert context.recall(ASKED, 200) == alone.recall(ASKED, 200)
        assert [pin.line for pin in context.keeping.pins] == [pin.line for pin in alone.keeping.pins]
        assert [original.text for original in context.archive] == [each.text for each in alone.archive]
