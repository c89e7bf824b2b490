"""The doctor: what it finds in sick prompts, and that it is silent on healthy ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.context.context import Context
from orchestra.context.doctor.align import aligned
from orchestra.context.doctor.diagnosis import diagnose
from orchestra.context.doctor.finding import Finding
from orchestra.context.fence import fence
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.tokens import counter_for
from orchestra.values.messages import Message, Reply, ToolCall
from tests.context.test_run_laws import MOVES, Move, context_of, prompt_of

COUNTER = counter_for("gpt-4o")
ROLE = Message("system", "You help customers.")
FILLER = "We use oak, walnut and beech. They are oiled twice and dried for a day. " * 60


def user(text: str) -> Message:
    return Message("user", text)


def said(text: str) -> Message:
    return Message("assistant", text)


def looked_up(number: int, order: str, body: str) -> tuple[Message, Message]:
    call = ToolCall(f"c{number}", "find_order", json.dumps({"order": order}))
    shown = fence(f"find_order | {call.arguments}", body)
    return Message("assistant", calls=(call,)), Message("tool", shown, call_id=call.id)


def found(*messages: Message) -> list[tuple[str, str]]:
    return [(finding.disease, finding.block) for finding in diagnose((ROLE, *messages))]


def chat(window: int = 32_000) -> Context:
    return Context("helper", ROLE.text, policy=policy_for("chat"), window=window, counter=COUNTER)


@pytest.mark.parametrize(
    "text",
    [
        "Please cancel it.",
        "Can I return that order?",
        "I would like the second one.",
        "As I said, no calls.",
        "把它取消吧。",
        "那个订单什么时候到？",
        "我要第二个。",
        "按上面的要求写。",
    ],
)
def test_a_reference_to_nothing_is_found(text: str) -> None:
    """In a prompt that holds nothing else, in English and Chinese."""
    assert found(user(text)) == [("absence", "m2")]


@pytest.mark.parametrize(
    "text",
    [
        "What is photosynthesis and how does it work?",
        "Is it possible to return a desk?",
        "Write a report that answers the question.",
        "How long does it take to brew tea?",
        "Compare oak and beech: is the second one harder?",
        "绿茶是什么？它怎么制作？",
        "第二次世界大战什么时候结束？",
        "Question: how does it affect sleep?\nPart of: What is caffeine and how does it affect sleep?",
    ],
)
def test_a_reference_within_the_input_is_healthy(text: str) -> None:
    """What the input itself names is no absence, nor is an it that means nothing."""
    assert found(user(text)) == []


def test_a_reference_to_what_was_said_is_healthy() -> None:
    """The antecedent may stand in an answer or a result."""
    talk = (user("Help me with order A17."), said("1. return\n2. repair"))
    for text in ("Cancel that order.", "I take the second one.", "As I said, soon.", "把它取消吧。"):
        assert found(*talk, user(text)) == []


def test_calls_and_results_stand_in_pairs() -> None:
    """Each half without the other is named."""
    call, result = looked_up(1, "A17", "shipped")
    assert found(user("Where is order A17?"), call) == [("absence", "m3")]
    assert found(user("Where is order A17?"), result)[0] == ("absence", "m3")
    assert found(user("Where is order A17?"), call, result) == []


def test_a_result_without_label_or_mark_is_found() -> None:
    """Bare data, a label without the query, a text that breaks off."""
    call, result = looked_up(1, "A17", '{"order": "A17", "state": "shi')
    assert found(user("Where is order A17?"), call, result) == [("absence", "m4")]
    for text in ("shipped", fence("find_order", "shipped")):
        bare = Message("tool", text, call_id="c1")
        assert found(user("Where is order A17?"), call, bare) == [("absence", "m4")]


def test_a_recall_of_nothing_is_found() -> None:
    """A reference that no block, label or list knows."""
    assert found(user('See recall("r9") for more about oak.')) == [("absence", "m2")]
    notes = fence("left out of this prompt | recall brings it back", "r9: find_order, 90 tokens")
    assert found(user(f'{notes}\n\nSee recall("r9") for more about oak.')) == []


def test_repeated_and_foreign_data_is_found() -> None:
    """The second copy, and what is about another order than the one asked about."""
    body = "shipped on Monday, packed by hand, insured, with two lamps and a desk of oak, and a long receipt"
    first, second = looked_up(1, "A17", body), looked_up(2, "A17", body)
    assert found(user("Where is order A17?"), *first, *second) == [("pollution", "m6")]
    assert found(user("Where is order B52?"), *first) == [("pollution", "m4")]
    talk = (user("Where is order A17?"), *first, said("Shipped on Monday."))
    assert found(*talk, user("And order B52?")) == []


def test_a_value_that_holds_no_longer_is_found_unless_marked() -> None:
    """The old value's block is named."""
    talk = (user("My budget is 3,200 dollars."), said("Noted."))
    new = "Actually my budget is 4,500 dollars, not 3,200."
    assert found(*talk, user(new)) == [("pollution", "m2")]
    mark = "Superseded:\nbudget: 3,200 dollars holds no longer; it is 4,500 dollars (turn 2)"
    assert found(*talk, user(f"{mark}\n\n{new}")) == []


def test_a_constraint_in_the_middle_is_found_unless_it_is_said_again() -> None:
    """With much before and much behind it."""
    rule = "Never mention the supplier's name."
    talk = (user(f"Hello. {FILLER}"), said("Yes."), user(rule), said(FILLER * 3), user("And shelves?"))
    assert found(*talk) == [("misorder", "m4")]
    assert found(*talk[:-1], user(f"Still binding:\n- {rule} (turn 2)\n\nAnd shelves?")) == []


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("Answer in English.", "Desks of oak? Answer in Chinese."),
        ("请用中文回答。", "橡木书桌多少钱？请用英文回答。"),
        ("Answer in JSON.", "Desks of oak? Answer in a table."),
        ("Always mention the delivery date.", "Never mention the delivery date."),
    ],
)
def test_contradictory_instructions_are_found(role: str, text: str) -> None:
    """Of language, of format, do and don't of the same thing."""
    (finding,) = diagnose((Message("system", role), user(text)))
    assert (finding.disease, finding.block) == ("misorder", "m2")


def test_data_and_format_have_their_places() -> None:
    """Data before the input, the output format behind it."""
    notes, form = fence("notes | hours", "Open at nine."), "Output format: Order. One JSON object."
    assert found(user(f"When do you open?\n\n{notes}")) == [("misorder", "m2")]
    assert found(user(f"{form}\n\nWhen do you open?")) == [("misorder", "output format")]
    assert found(user(f"{notes}\n\nWhen do you open?\n\n{form}")) == []


def test_blocks_have_the_names_of_the_manifest() -> None:
    """Also when a message came in that the manifest does not know."""
    context = chat()
    context.add_input("Where is order A17?")
    call = ToolCall("c1", "find_order", '{"order": "A17"}')
    context.record_reply(Reply(calls=(call,)))
    context.record_results([Result(call=call, text="Order A17 is shipped.")])
    made = context.prompt()
    assert diagnose(made.messages, made.tools, made.manifest) == ()
    bare = Message("tool", "Order A17 is shipped.", call_id="c1")
    more = (*made.messages[:-1], bare, user("What about shelves?"))
    blocks = [finding.block for finding in diagnose(more, (), made.manifest)]
    assert blocks == [made.blocks[-1].id]


def test_alignment_survives_what_came_and_went() -> None:
    """Pairs agree in name and are near in size."""
    theirs = [("system", 10), ("user", 5), ("assistant", 9), ("find", 80), ("assistant", 30)]
    assert aligned(theirs, theirs) == [(at, at) for at in range(5)]
    assert aligned([*theirs[:2], *theirs[3:]], theirs) == [(0, 0), (1, 1), (2, 3), (3, 4)]
    more = [*theirs[:2], ("assistant", 400), ("user", 300), *theirs[2:]]
    assert aligned(more, theirs) == [(0, 0), (1, 1), (4, 2), (5, 3), (6, 4)]


def test_data_that_comes_late_stands_before_the_input() -> None:
    """What a context is given while the input waits is no data behind it."""
    context = chat()
    context.add_input("Hello.")
    context.prompt()
    context.record_reply(Reply(text="Hello."))
    context.add_input("When do you open?")
    for name in ("hours", "days"):
        context.add_data("knowledge", name, f"The {name} of the shop.")
    text = context.prompt().messages[-1].text
    assert text.index("hours") < text.index("days") < text.index("When do you open?")


def test_a_context_says_far_constraints_again() -> None:
    """From the policy's figure on; the words stand before the current input."""
    context = chat()
    context.add_input("Hello.")
    for text in ("Never call me by phone.", *["What about shelves?"] * 6):
        context.record_reply(Reply(text=FILLER))
        context.add_input(text)
    made = context.prompt()
    assert "Still binding:\n- Never call me by phone." in made.messages[-1].text
    assert made.messages[-1].text.endswith("What about shelves?")
    assert made.tokens == made.manifest.tokens
    assert diagnose(made.messages, made.tools, made.manifest) == ()


def unsound(findings: tuple[Finding, ...]) -> list[Finding]:
    words = ("no result behind it", "does not stand before it")
    return [
        finding
        for finding in findings
        if finding.disease == "misorder" or any(word in finding.sentence for word in words)
    ]


@given(MOVES, st.sampled_from([700, 1_500, 4_000, 30_000]), st.sets(st.integers(0, 40)))
def test_no_prompt_of_a_context_is_misordered_or_unpaired(
    moves: list[Move], window: int, prompts: set[int]
) -> None:
    """Whatever happens in whatever order."""
    context = context_of("researcher", window)
    for at, move in enumerate(moves):
        move(context)
        if at in prompts or at == len(moves) - 1:
            prompt = prompt_of(context)
            if prompt is not None:
                assert not unsound(diagnose(prompt.messages, prompt.tools, prompt.manifest))


SAID = [
    "Never call me by phone.",
    "请不要打电话。",
    "What about shelves?",
    "Only oak, please.",
    "橡木的多少钱？",
]
ANSWERS = [FILLER, FILLER[:400], "Yes.", "好的。" * 300]


@given(
    st.lists(st.tuples(st.sampled_from(SAID), st.sampled_from(ANSWERS)), min_size=1, max_size=40),
    st.sampled_from([3_000, 12_000, 60_000]),
)
def test_no_constraint_of_a_context_is_buried(rounds: list[tuple[str, str]], window: int) -> None:
    """However long the talk, what binds stands at its beginning or is said again at its end."""
    context = chat(window)
    for text, answer in rounds:
        context.add_input(text)
        prompt = context.prompt()
        assert not unsound(diagnose(prompt.messages, prompt.tools, prompt.manifest))
        context.record_reply(Reply(text=answer))
