"""The task state over time, what the input wants, and what may not be changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.context.context import Context
from orchestra.context.intent import intent_of
from orchestra.context.policy import policy_for
from orchestra.context.state import EMPTY, Patch, merge, render
from orchestra.context.tokens import counter_for

COUNTER = counter_for("gpt-4o")


def context_of(*inputs: str) -> Context:
    context = Context("a", "Help.", policy=policy_for("chat"), window=100_000, counter=COUNTER)
    for text in inputs:
        context.add_input(text)
    return context


def test_each_field_has_its_history() -> None:
    """Every change of a field is kept with its turn and who proposed it, refused ones too."""
    context = context_of("Plan a trip.", "The budget is $900.")
    context.propose_state(Patch("goal", "a trip"), by="rule")
    context.propose_state(Patch("goal", "a trip to Oslo"), by="model")
    context.propose_state(Patch("facts", "budget=$800", "add"), by="model")
    goals = context.keeping.state.history("goal")
    assert [(change.before, change.after, change.by) for change in goals] == [
        ("", "a trip", "rule"),
        ("a trip", "a trip to Oslo", "model"),
    ]
    (facts,) = context.keeping.state.history("facts")
    assert facts.refused == "the user said budget=$900 in turn 1"
    assert context.state.facts == ()


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        (Patch("facts", "budget=$800", "add"), "the user said budget=$900"),
        (Patch("facts", "预算：5000元", "add"), "the user said 预算=4000元"),
        (Patch("facts", "预算：3000元", "add"), "was replaced by 4000元"),
        (Patch("todo", "Book a flight with Skyline Airways", "add"), "turns round"),
        (Patch("step", "安排海鲜"), "turns round"),
        (Patch("constraints", "Do not use Skyline Airways.", "remove"), "the user set this constraint"),
        (Patch("constraints", "", "set"), "the user set this constraint"),
    ],
)
def test_what_contradicts_a_pinned_fact_is_refused(patch: Patch, reason: str) -> None:
    """A value the user gave otherwise, a negation turned round, a constraint taken away: refused, and why."""
    context = context_of(
        "Plan a trip.",
        "The budget is $900. Do not use Skyline Airways.",
        "预算3000元。不要安排海鲜。",
        "更正：预算是4000元",
    )
    context.patch_state(Patch("constraints", "Do not use Skyline Airways.", "add"))
    before = context.state
    (change,) = context.propose_state(patch)
    assert reason in change.refused
    assert context.state == before


@pytest.mark.parametrize(
    "patch",
    [
        Patch("facts", "budget=$900", "add"),
        Patch("facts", "预算=4000元", "add"),
        Patch("todo", "Book a flight, not with Skyline Airways", "add"),
        Patch("step", "choose a hotel"),
        Patch("done", "found 3 hotels", "add"),
    ],
)
def test_what_agrees_or_is_new_is_merged(patch: Patch) -> None:
    """The same value, or something the user said nothing of, goes in."""
    context = context_of(
        "Plan.", "The budget is $900. Do not use Skyline Airways.", "预算3000元。", "更正：预算是4000元"
    )
    (change,) = context.propose_state(patch)
    assert change.refused == ""
    assert change.after != change.before


def test_two_orders_are_kept_apart() -> None:
    """From order A17 to order B2 and back: each has its own facts, shown in a few lines."""
    context = context_of("Hello, I have two orders.", "Order A17 came broken.")
    context.patch_state(Patch("facts", "status=broken", "add"), Patch("facts", "item=lamp", "add"))
    context.add_input("Now look at order B2.")
    assert (context.state.entity, context.state.facts) == ("B2", ())
    context.patch_state(Patch("facts", "status=late", "add"))
    context.add_input("Back to order A17, please.")
    assert context.state.facts == ("status=broken", "item=lamp")
    assert render(context.state) == (
        "Current entity: A17\nFacts of A17:\n- status=broken\n- item=lamp\nFacts of B2: status=late"
    )
    prompt = context.prompt()
    assert "Current entity: A17" in prompt.messages[-1].text


@given(
    st.lists(st.tuples(st.sampled_from(["A", "B", ""]), st.sampled_from(["k=1", "k=2", "m=3"])), max_size=12)
)
def test_switching_never_mixes_facts(steps: list[tuple[str, str]]) -> None:
    """However the talk goes to and fro, each entity ends with exactly the facts that were said of it."""
    state = EMPTY
    expected: dict[str, dict[str, str]] = {}
    for entity, line in steps:
        state = merge(state, Patch("entity", entity), Patch("facts", line, "add"))
        expected.setdefault(entity, {})[line[0]] = line
    have = {entity: set(lines) for entity, lines in state.others}
    if steps:
        have[state.entity] = set(state.facts)
    assert have == {entity: set(lines.values()) for entity, lines in expected.items()}


@pytest.mark.parametrize(
    ("text", "wants", "entity"),
    [
        ("What is the status of order A17?", "question", "A17"),
        ("订单B2什么时候到？", "question", "B2"),
        ("Compare order A17 with order B2.", "statement", ""),
        ("The order number is W-99.", "statement", ""),
        ("Actually, change the date of booking QX-7 to 5 May.", "correction", "QX-7"),
        ("Thanks!", "statement", ""),
    ],
)
def test_the_intent_is_read_from_the_input_alone(text: str, wants: str, entity: str) -> None:
    """What an input wants and which one thing it is about; nothing of the last input is carried over."""
    found = intent_of(text, 3)
    assert (found.wants, found.entity) == (wants, entity)


def test_a_long_state_stays_a_few_lines() -> None:
    """Of many orders the newest are shown and the rest counted; an old one's facts come back with it."""
    state = EMPTY
    for number in range(200):
        state = merge(state, Patch("entity", f"A{number}"), Patch("facts", f"amount={number}", "add"))
        state = merge(state, Patch("done", f"checked A{number}", "add"))
    text = render(state)
    assert len(text.splitlines()) < 20
    assert "amount=199" in text
    assert "(193 earlier ones are not shown)" in text
    assert "amount=3\n" not in f"{text}\n"
    assert "amount=3" in render(merge(state, Patch("entity", "A3")))
