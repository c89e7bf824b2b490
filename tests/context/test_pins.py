"""What a user says once: found by rule, pinned at once, corrected, marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.context.keys import json_facts, key_of, keyed_facts
from orchestra.context.pinned import Pin
from orchestra.context.pins import Pins
from orchestra.context.sayings import SMALL_TALK, sayings
from orchestra.context.tokens import counter_for

COUNTER = counter_for("gpt-4o")


def heard(*texts: str) -> Pins:
    pins = Pins(COUNTER)
    for turn, text in enumerate(texts, start=1):
        pins.hear(text, turn + 1, turn)
    return pins


def lines(pins: Pins, tokens: int = 1_000) -> list[str]:
    return pins.text(tokens)[0].splitlines()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("My budget is $1,200.", "budget=$1,200 (turn 1)"),
        ("订单号是 A17-2201，预算3000元。", "预算=3000元 (turn 1)"),
        ("The order number is #W5061109.", "order number=#W5061109 (turn 1)"),
        ("我妹妹叫王芳，电话 13812345678", "妹妹=王芳 (turn 1)"),
        ("Please write to wf@example.com.", "write=wf@example.com (turn 1)"),
        ("会议定在5月6日。", "会议定=5月6日 (turn 1)"),
    ],
)
def test_facts_are_pinned_with_their_key_and_turn(text: str, line: str) -> None:
    """A figure, id, date, address or name is `key=value` with the turn in which it was said."""
    assert line in lines(heard(text))


@pytest.mark.parametrize(
    "text",
    [
        "Do not book anything with United Airlines.",
        "Never after ten at night.",
        "不要辣的。",
        "海鲜除外，其他都可以。",
        "Only vegetarian lunches, please.",
        "My colleague is allergic to peanuts.",
        "只能用现金付款",
    ],
)
def test_constraints_and_exclusions_are_pinned_word_for_word(text: str) -> None:
    """What binds the run stays in the user's own words."""
    assert f"- {text} (turn 1)" in lines(heard(text))


@pytest.mark.parametrize(
    "text",
    ["What must a backend provide?", "I don't know, no problem.", "没问题，我不知道。", "这个多少钱？"],
)
def test_small_talk_and_questions_bind_nothing(text: str) -> None:
    """A negation that is a manner of speaking is no exclusion, a question no demand."""
    assert not any(line.startswith("- ") for line in lines(heard(text)))


@pytest.mark.parametrize(
    ("first", "second", "old", "new"),
    [
        ("My budget is $1,200.", "Correction: the budget is $1,500, not $1,200.", "$1,200", "$1,500"),
        ("预算是3000元。", "更正：预算是4000元", "3000元", "4000元"),
        ("会议定在5月6日。", "会议改到5月8日。", "5月6日", "5月8日"),
        ("The train leaves at 14:40.", "Actually the train leaves at 15:40.", "14:40", "15:40"),
        ("Ship 40 kg.", "Change it from 40 kg to 55 kg.", "40 kg", "55 kg"),
    ],
)
def test_a_correction_takes_the_old_values_place(first: str, second: str, old: str, new: str) -> None:
    """The new value holds; the old one is not pinned any more, and is marked wherever it is still seen."""
    pins = heard(first, second)
    facts = [line for line in lines(pins) if "=" in line]
    assert any(new in line for line in facts)
    assert not any(old in line for line in facts)
    assert f"{old} holds no longer; it is {new} (turn 2)" in pins.marks([(2, first), (3, second)])
    assert pins.marks([(3, second)]) == ""


def test_the_values_of_another_thing_are_not_corrected() -> None:
    """Without a word of correction a second value is a second fact."""
    pins = heard("The hotel in Rome costs 300 euros.", "The hotel in Paris costs 400 euros.")
    text = "\n".join(lines(pins))
    assert "300 euros" in text
    assert "400 euros" in text
    assert not pins.superseded


def test_what_two_entities_have_is_kept_apart() -> None:
    """A correction changes the value of the order that is talked about, not of the other."""
    pins = Pins(COUNTER)
    pins.hear("The amount is 300 euros.", 2, 1, "A17")
    pins.hear("The amount is 500 euros.", 3, 2, "B2")
    pins.hear("Correction: the amount is 350 euros.", 4, 3, "A17")
    text = "\n".join(lines(pins))
    assert "amount=350 euros (A17, turn 3)" in text
    assert "amount=500 euros (B2, turn 2)" in text
    assert "300" not in text


def test_a_correction_need_not_name_the_thing_again() -> None:
    """The key of a fact may hold the name of its order; what is talked about is corrected all the same."""
    pins = Pins(COUNTER)
    pins.hear("For order A10 the budget is $110.", 2, 1, "A10")
    pins.hear("For order B20 the budget is $220.", 3, 2, "B20")
    pins.hear("Correction: the budget is $111.", 4, 3, "A10")
    text = "\n".join(lines(pins))
    assert "$111" in text
    assert "$220" in text
    assert "$110" not in text


def test_the_newest_come_first_within_the_cap() -> None:
    """Pins stay within their tokens, constraints before facts, the newest first; the rest is named."""
    pins = heard(*(f"Locker {n} has code KX-{n}71." for n in range(100, 160)), "Never use lifts.")
    text, out = pins.text(200)
    assert COUNTER.count(text) <= 200
    assert text.splitlines()[1] == "- Never use lifts. (turn 61)"
    assert "KX-15971" in text
    assert "KX-10071" not in text
    assert out > 50


def test_what_stands_in_the_prompt_is_not_pinned_twice() -> None:
    """Only facts whose own words are no longer shown take room."""
    pins = heard("My budget is $1,200.", "The code is KX-77.")
    assert pins.text(500, shown={2, 3})[0] == ""
    assert "budget" not in pins.text(500, shown={2})[0]


def test_results_speak_through_their_columns() -> None:
    """Of JSON the short values with their columns, of prose what was taken up later."""
    pins = Pins(COUNTER)
    about = Pin(value="", block=5, turn=3, who="get_order")
    pins.read('{"order_id":"#W1","items":[{"sku":"12","price":3.5}]}', about)
    pins.read("Room 12 costs 88 euros, room 14 costs 95 euros.", about, used="I take it for 95 euros.")
    pins.read('{"order_id":"#W2","x":"shown"}', about, seen="x: shown")
    text = "\n".join(lines(pins))
    assert "get_order, turn 3: order_id=#W2; " in text
    assert "items.price=3.5; items.sku=12; order_id=#W1" in text
    assert "shown" not in text
    assert "95 euros" in text
    assert "88 euros" not in text
    assert json_facts("no json") == json_facts("{broken") == json_facts('{"a": "\ud83d"}') == []


TEXTS = st.lists(
    st.sampled_from(
        [
            "Do not",
            "must",
            "12 kg",
            "预算3000元",
            "不要",
            "A17-22",
            ". ",
            "，",
            "not",
            "changed to",
            "5 May",
            "？",
            "\n",
        ]
    ),
    max_size=30,
).map(" ".join)


@given(st.lists(TEXTS | st.text(max_size=200), max_size=6), st.integers(0, 200))
def test_any_words_can_be_heard(texts: list[str], cap: int) -> None:
    """Whatever is said, pins are within their cap and say only what was said."""
    pins = heard(*texts)
    text, _ = pins.text(cap)
    assert COUNTER.count(text) <= max(cap, 0) + 5
    for pin in pins:
        assert pin.value.split(" [")[0] in texts[pin.block - 2]
    for said in texts:
        assert all(
            said[saying.start : saying.end] == saying.text for saying in sayings(said) if "```" not in said
        )
        assert all(key_of(said, fact) for _, fact in keyed_facts(said))


def test_small_talk_is_something() -> None:
    """The pattern of small talk matches no empty text, or nothing would ever bind."""
    assert SMALL_TALK.search("") is None
    assert SMALL_TALK.search("Do not use Skyline. 不要海鲜。") is None
