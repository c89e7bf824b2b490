"""What a context does when one of its mechanisms is off, for comparison."""

from __future__ import annotations

import pytest

from orchestra.context.context import Context
from orchestra.context.policy import MECHANISMS, policy_for
from orchestra.context.tokens import counter_for
from orchestra.values.messages import Reply

COUNTER = counter_for("gpt-4o")
RULE = "I am allergic to peanuts, so never put peanuts into any menu."
CORRECTION = "Correction: the budget is 4,500 euros, not 3,200 euros."
FILLER = "We went through the rooms and the garden and found all of it as it should be. " * 6


def _talk(*without: str) -> str:
    """The last prompt of a talk that is several windows long."""
    policy = policy_for("tools", {"without": list(without)})
    context = Context("chat", "You plan a retreat.", policy=policy, window=3_000, counter=COUNTER)
    usable = context.budget.usable
    text = ""
    for turn in range(30):
        said = {0: "Hello, let us plan.", 1: RULE, 2: "The budget is 3,200 euros.", 5: CORRECTION}
        context.add_input(said.get(turn, f"And order A{turn}? {FILLER}"))
        prompt = context.prompt()
        assert prompt.tokens <= usable
        text = "\n".join(message.text for message in prompt.messages)
        context.record_reply(Reply(text=f"Step {turn} is done. {FILLER}"))
    return text


def test_all_mechanisms_hold_what_was_said() -> None:
    """With all of them the constraint, the new value, the mark at the old one and the entity are there."""
    text = _talk()
    for wanted in (RULE, "4,500 euros", "Current entity: A29", "left out of this prompt", "summary v"):
        assert wanted in text


@pytest.mark.parametrize(
    ("without", "missing"),
    [
        ("pins summary", RULE),  # a summary has them too
        ("facts", "3,200 euros holds no longer"),
        ("state", "Current entity"),
        ("summary", "summary v"),
        ("window", "Hello, let us plan."),
    ],
)
def test_one_mechanism_off_is_one_thing_less(without: str, missing: str) -> None:
    """What a mechanism is for is not there without it."""
    assert missing not in _talk(*without.split())


def test_the_naive_window_is_the_newest_turns() -> None:
    """Without anything a prompt has instructions and the newest turns, and still keeps its budget."""
    text = _talk(*MECHANISMS)
    assert text.startswith("You plan a retreat.")
    assert "order A29" in text
    assert "order A3?" not in text
    assert "pinned" not in text


def test_a_cap_and_levels_can_be_off() -> None:
    """Without recall nothing is recalled, without results there is no cap, without levels no room is made."""
    policy = policy_for("chat", {"without": ["recall", "results", "levels"]})
    assert policy.recall_share == 0.0
    assert policy.result_tokens > 1_000_000_000
    assert policy.levels.light > 1.0
