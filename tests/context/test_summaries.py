"""Summaries: made by rule, held to the facts, versioned, restored."""

from __future__ import annotations

import pytest

from orchestra.context.archive import Archive
from orchestra.context.pinned import Superseded
from orchestra.context.polarity import flips
from orchestra.context.summary.check import Frame, Verdict, check
from orchestra.context.summary.extractive import extract
from orchestra.context.summary.schema import Part, Summary, SummaryTask, items, render, render_task
from orchestra.context.summary.versions import Versions
from orchestra.context.tokens import counter_for
from orchestra.errors import InputError

COUNTER = counter_for("gpt-4o")
TALK = (
    (
        "user",
        "Book a table for 14 people on 5 May. Do not book near the window. " + "We look forward to it. " * 12,
    ),
    (
        "assistant",
        "I booked table KX-77 for 14 people. The deposit is 120 euros. 餐厅不接受信用卡。 "
        + "It is nice. " * 12,
    ),
    ("look_up", '{"code": "ZZ-901", "fee": 12.5}'),
)


def task_of(previous: Summary | None = None, tokens: int = 300) -> SummaryTask:
    parts = tuple(Part(f"b{at}", who, at, text) for at, (who, text) in enumerate(TALK, start=2))
    return SummaryTask(parts=parts, previous=previous, tokens=tokens)


def verdict(
    draft: Summary, *, previous: Summary | None = None, held: tuple[str, ...] = (), **fields: object
) -> Verdict:
    frame = {"held": held, "superseded": (), "replaced": 400, **fields}
    return check(draft, task_of(previous), Frame(**frame), COUNTER)  # type: ignore[arg-type]


GOOD = Summary(
    narrative="A table for 14 people on 5 May was booked.", exclusions=("Do not book near the window.",)
)


def test_what_is_missing_is_added_word_for_word() -> None:
    """Every fact of what is covered stands in the summary that is accepted, or is held elsewhere."""
    found = verdict(GOOD, held=("the state: fee=12.5",))
    assert found.summary is not None
    text = render(found.summary)
    for value in (
        "14",
        "5 May",
        "Do not book near the window",
        "KX-77",
        "120 euros",
        "餐厅不接受信用卡",
        "code=ZZ-901",
    ):
        assert value in text
    assert "12.5" not in text
    assert found.facts >= 7
    assert not found.left


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (Summary(), "empty"),
        (Summary(narrative=" "), "empty"),
        (Summary(narrative="I'm sorry, I cannot summarise this."), "refusal"),
        (Summary(narrative="Error: rate limit reached"), "refusal"),
        (Summary(narrative="抱歉，我无法总结这段对话。"), "refusal"),
        (Summary(narrative="A table for 15 people was booked."), "says 15"),
        (Summary(numbers=("table=KX-78",)), "KX-78"),
        (Summary(numbers=("deposit=14 euros",)), "14 euros"),
        (Summary(numbers=("deposit=120 dollars",)), "120 dollars"),
        (Summary(narrative="The date is 6 May."), "6 May"),
        (Summary(narrative="Book near the window."), "negation"),
        (Summary(narrative="餐厅接受信用卡。"), "negation"),
        (Summary(narrative="The table for 14 people was not booked."), "negation"),
        (Summary(narrative="It is nice. " * 200), "not shorter"),
    ],
)
def test_a_bad_summary_is_refused(draft: Summary, why: str) -> None:
    """Empty, an error, a refusal, a contradiction or too long: there is no summary, and it is said why."""
    found = verdict(draft)
    assert found.summary is None
    assert why in found.why


def test_an_unknown_name_costs_its_line_only() -> None:
    """A line with a name that nothing covered has is left out, the rest stands."""
    found = verdict(Summary(narrative=GOOD.narrative, entities=("Boris Karlov: the waiter", "经理叫李小明")))
    assert found.summary is not None
    assert found.dropped == ("Boris Karlov: the waiter", "经理叫李小明")
    assert "Karlov" not in render(found.summary)


def test_the_last_summarys_facts_are_never_lost() -> None:
    """A summariser silent about what came before loses nothing of it; the story becomes the far past."""
    old = Summary(
        goal="a dinner", decisions=("Wine costs 31 euros.",), narrative="They met on 3 March. All went well."
    )
    found = verdict(GOOD, previous=old, span="up to turn 4, v1")
    assert found.summary is not None
    assert found.summary.goal == "a dinner"
    assert found.summary.decisions == ("Wine costs 31 euros.",)
    assert found.summary.past == ("up to turn 4, v1: They met on 3 March. All went well.",)


def test_a_value_that_holds_no_longer_is_marked() -> None:
    """An old value in a draft or in the last summary carries its mark."""
    gone = Superseded("guests", "14 people", "16 people", 9, 9)
    found = verdict(GOOD, superseded=(gone,))
    assert found.summary is not None
    assert "[14 people holds no longer: it is 16 people]" in found.summary.narrative


def test_what_has_no_room_is_left_to_recall() -> None:
    """Facts of people go in first; what does not fit is named, and the summary stays within its tokens."""
    found = check(
        Summary(narrative="A table was booked."),
        task_of(tokens=60),
        Frame(held=(), superseded=(), replaced=400),
        COUNTER,
    )
    assert found.summary is not None
    assert COUNTER.count(render(found.summary)) <= 70
    assert any("ZZ-901" in line for line in found.left)
    assert any("14" in line or "5 May" in line for line in found.added)


def test_the_rules_say_nothing_of_their_own() -> None:
    """Without a model a summary is made of whole sentences of what it covers."""
    made = extract(task_of(), COUNTER)
    whole = "\n".join(text for _, text in TALK)
    assert items(made)
    for line in items(made):
        for sentence in line.split(". "):
            assert sentence.strip(". ") in whole
    assert any("KX-77" in line for line in made.done)
    assert "summary so far" not in render_task(task_of())
    assert "summary so far" in render_task(task_of(previous=made))


def test_versions_have_a_lineage_and_can_be_restored() -> None:
    """Each version knows what it was made over, covers its blocks, and can be made the current one again."""
    versions = Versions(Archive())
    first = versions.add(GOOD, ("b2", "b3"), "small", 4, 1e9)
    second = versions.add(Summary(narrative="later"), ("b5",), "rules", 7, 2e9)
    assert [version.number for version in versions.lineage()] == [2, 1]
    third = versions.restore(1, 9, 3e9)
    assert versions.current is third
    assert (third.text, third.over, third.by) == (first.text, 1, "restored v1")
    assert [version.number for version in versions.lineage()] == [3, 1]
    assert [version.number for version in versions] == [1, 2, 3]
    assert second.covers == ("b5",)
    with pytest.raises(InputError, match="1 to 3"):
        versions.restore(9, 9, 0.0)


@pytest.mark.parametrize(
    ("statement", "turned"),
    [
        ("Book United Airlines.", True),
        ("No United Airlines flights", False),
        ("要辣的菜", True),
        ("不要辣", False),
        ("海鲜可以", True),
        ("Call before 9:00", True),
        ("Pay in cash", False),
        ("The hotel has no pool", True),
        ("可以吃花生", True),
        ("Table for 4", False),
        ("a table near the window", True),
    ],
)
def test_a_negation_may_not_turn_round(statement: str, turned: bool) -> None:
    """What was denied is not affirmed and what was affirmed not denied; leaving something out is neither."""
    sources = (
        "Do not book United Airlines.",
        "不要辣的菜",
        "海鲜除外，其他都可以。",
        "Pay in cash only.",
        "Never call before 9:00.",
        "我对花生过敏",
        "The hotel has a pool.",
        "Table for 4, not near the window.",
    )
    assert flips(statement, sources) is turned
