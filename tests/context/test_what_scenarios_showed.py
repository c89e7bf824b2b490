"""What the scenarios showed, each by itself."""

from __future__ import annotations

import json

import pytest

from orchestra.context.context import Context
from orchestra.context.facts import find_facts
from orchestra.context.pins import Pins
from orchestra.context.policy import policy_for
from orchestra.context.recall.values import _SAID
from orchestra.context.returned import Result
from orchestra.context.sayings import sayings
from orchestra.context.tokens import counter_for
from orchestra.eval.generated import generate
from orchestra.eval.scenario import Generated
from orchestra.values.messages import Reply, ToolCall

COUNTER = counter_for("gpt-4o")


def talk(window: int, policy: str = "chat") -> Context:
    return Context("a", "Help.", policy=policy_for(policy), window=window, counter=COUNTER)


def called(context: Context, name: str, result: str, number: int = 1) -> None:
    call = ToolCall(f"c{number}", name, json.dumps({"of": "x"}))
    context.record_reply(Reply(calls=(call,)))
    context.record_results([Result(call=call, text=result)])


def text_of(context: Context) -> str:
    return "\n".join(message.text for message in context.prompt().messages)


@pytest.mark.parametrize(
    ("said", "loose"),
    [
        ("He never comes in time.", True),
        ("There was no water in it.", True),
        ("Nobody opens that drawer gladly.", True),
        ("没人开门。", True),
        ("家里只有一个阳台，却订了很多番茄。", True),
        ("Never call before ten.", False),
        ("We do not ship to Norway.", False),
        ("Nobody eats pork.", False),
        ("Nowhere may there be gravel.", False),
        ("他不吃海鲜。", False),
        ("席上不要上白酒。", False),
    ],
)
def test_a_remark_is_told_from_a_demand(said: str, loose: bool) -> None:
    """Both are kept; where there is no room for both the demand is."""
    (found,) = sayings(said)
    assert (found.binds, found.loose) == (True, loose)
    pins = Pins(COUNTER)
    pins.hear("Never use the back stairs at all.", 2, 1)
    pins.hear(said, 3, 2)
    text, _ = pins.text(40)
    assert ("back stairs" in text) is loose or said in text


def test_a_value_corrected_twice_is_marked_with_the_last_one() -> None:
    """The mark at the oldest value does not name one that holds no longer either."""
    pins = Pins(COUNTER)
    pins.hear("The visit is on 14 May.", 2, 1)
    pins.hear("Correction, the visit is on 17 May and not 14 May.", 3, 2)
    pins.hear("Correction, the visit is on 21 May and not 17 May.", 4, 3)
    lines = pins.marks([(9, "14 May"), (10, "17 May")]).splitlines()
    assert len(lines) == 2
    assert all("it is 21 May" in line for line in lines)


def test_a_telephone_number_is_one_fact() -> None:
    """Its groups are no numbers of their own."""
    assert [fact.text for fact in find_facts("call 0421 77 5530 now")] == ["0421 77 5530"]
    assert _SAID.findall("宽度是6.4米") == ["6.4米"]


def test_a_result_that_came_three_times_is_shown_once() -> None:
    """Where it came last; recall does not bring the others back."""
    context = talk(1_900)
    notice = "The notice says that berth four is closed for the crane, and that the divers are at work. " * 3
    for number in range(8):
        about = "berth notice" if number in (0, 3, 7) else "weather"
        context.add_input(f"What of the {about}? " + "Hm. " * 40)
        text_of(context)
        if number in (0, 3, 7):
            called(context, "read_notice", notice, number)
            text_of(context)
        context.record_reply(Reply(text="It is as it was. " * 20))
    context.add_input("And the berth notice says what?")
    assert text_of(context).count(notice.strip()) == 1


def test_what_was_just_asked_for_stays_in_a_recalled_view() -> None:
    """A result is shown after its call even where the newest turns have little room."""
    context = talk(1_000)
    for number in range(12):
        context.add_input(f"Tell me about lamp {number} and the shade of it, please. " * 2)
        text_of(context)
        context.record_reply(Reply(text=f"Lamp {number} is by the door, its shade is made of paper. " * 2))
    context.add_input("What does the catalogue say of lamps?")
    called(context, "look_up", "Lamps are on page ninety, with all their shades. " * 4)
    messages = context.prompt().messages
    assert any(message.role == "tool" and "page ninety" in message.text for message in messages)


def test_a_result_shown_in_part_does_not_change_the_prefix() -> None:
    """A chat with room recalls nothing, so that the next prompt begins with the last one."""
    context = talk(64_000)
    context.add_input("Read the log.")
    called(context, "read_log", generate(Generated(kind="log", size=60_000)))
    context.record_reply(Reply(text="It is long."))
    context.add_input("And now?")
    before = context.prompt().messages
    context.record_reply(Reply(text="Nothing new."))
    context.add_input("Still nothing?")
    after = context.prompt().messages
    assert after[: len(before)] == before


@pytest.mark.parametrize("kind", ["log", "rows", "page", "prose"])
def test_a_megabyte_is_searched_and_not_indexed(kind: str) -> None:
    """What was looked for is found in the middle of it; nothing of it is in the index."""
    context = talk(64_000)
    context.add_input("Read it.")
    needle = "the blue heron broke the third seal"
    made = Generated(kind=kind, size=1_000_000, holds=((0.63, needle),))  # type: ignore[arg-type]
    called(context, "read_all", generate(made))
    context.record_reply(Reply(text="I have it."))
    found = context.recollector.search("who broke the third seal, a heron?", 400)
    assert needle in found.text
    assert found.tokens <= 400
    assert found.hits[0].ref == "r1"
    assert not context.recollector.search("zeppelin parade", 400).text
