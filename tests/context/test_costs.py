"""What a turn and a prompt cost does not grow with what was said before: counted in calls, not in time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

from orchestra.context.context import Context
from orchestra.context.pins import Pins
from orchestra.context.policy import policy_for
from orchestra.context.recall.index import RecallIndex
from orchestra.context.recall.turns import Turn
from orchestra.context.tokens import counter_for
from orchestra.values.messages import Reply

COUNTER = counter_for("gpt-4o")


def calls(work: Callable[[], object]) -> int:
    """How many functions `work` calls, in Python and in C."""
    counted = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


def said(number: int) -> str:
    """A turn with facts, a constraint and, each time, a correction."""
    return (
        f"For order A{number} the budget is ${number + 100}; the contact is Marta. Never use lift {number}. "
        f"Correction: the budget is ${number + 101}."
    )


def test_adding_a_turn_costs_the_same_early_and_late() -> None:
    """The four hundredth input and its answer take no more work than the tenth."""
    policy = policy_for("chat", {"prompt_tokens": 4_000})
    context = Context("a", "Help.", policy=policy, window=100_000, counter=COUNTER)
    cost: dict[int, int] = {}

    def turn(number: int) -> None:
        context.add_input(said(number))
        context.record_reply(Reply(text="It is noted, and the lake is calm."))

    for number in range(400):
        if number in (10, 399):
            cost[number] = calls(partial(turn, number))
        else:
            turn(number)
    assert cost[399] < 1.3 * cost[10]


def test_the_pins_of_a_prompt_cost_the_same_however_many_there_are() -> None:
    """What is told of three thousand pins takes no more work than what is told of three hundred."""
    cost = []
    for turns in (100, 1_000):
        pins = Pins(COUNTER)
        for number in range(turns):
            pins.hear(
                f"The code of box {number} is KX-{number}. Never open box {number}.", number + 2, number + 1
            )
        shown = set(range(turns, turns + 2))
        cost.append(calls(lambda: pins.text(400, shown)))  # noqa: B023
        assert COUNTER.count(pins.text(400, shown)[0]) <= 400
    assert cost[1] < 1.3 * cost[0]


def test_a_question_looks_at_a_bounded_number_of_entries() -> None:
    """Words that every turn has do not make a question dearer than its turns are many."""
    cost = []
    for turns in (1_500, 3_000):
        index = RecallIndex(COUNTER.count)
        for number in range(turns):
            text = f"The order, the budget, the contact and the lake: number {number} of the garden path."
            index.add(Turn(id=str(number), speaker="Ann", text=text))
        cost.append(calls(lambda: index.recall("order budget contact lake garden path number 700", 300)))  # noqa: B023
    assert cost[1] < 1.6 * cost[0]
