"""The brief: duplicates merged, nobody silenced, within its cap, in the fixed form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.context.fence import fenced
from orchestra.context.tokens import counter_for
from orchestra.evidence.brief import cap_study, failed_study, make_brief
from orchestra.evidence.handed import render_brief
from orchestra.values.drafts import Plan
from orchestra.values.handoffs import Study
from orchestra.values.sources import Claim, Quote
from tests.evidence.making import brief_of, claim, count, document, handed, ledger_of, study_of


def made(text: str, locator: str = "a.md", start: int = 0, question: str = "What?") -> Claim:
    return Claim("", text, (Quote(locator, locator.upper(), text, start, start + len(text)),), question)


def test_the_form_that_a_writer_sees() -> None:
    """Head lines, numbered sub-questions, bullets, one fence of JSON lines."""
    tea = document("tea.md", "A cup of tea holds 47 mg.\nMilk ``softens`` it.", "Tea")
    ledger = ledger_of(tea)
    first = study_of(
        ledger, claim("Tea has 47 mg.", ("s1", "A cup of tea holds 47 mg.")), question="How much?"
    )
    second = study_of(
        ledger,
        claim("Milk softens it.", ("s1", "Milk softens it.")),
        question="And milk?",
        gaps=["No oolong."],
    )
    text = render_brief(brief_of(first, second, question="How much\nis in tea?"))
    head, _, _ = text.partition("\n\nClaims\n")
    assert head.split("\n") == [
        "Question: How much is in tea?",
        "Title: Title",
        "Sub-questions:",
        "1. How much?",
        "2. And milk?",
        "Gaps:",
        "- No oolong.",
    ]
    (block,) = fenced(text)
    assert block.label == "Claims"
    lines = [json.loads(line) for line in block.text.split("\n")]
    assert lines[1] == {
        "id": "c2",
        "question": 2,
        "claim": "Milk softens it.",
        "quotes": [{"document": "tea.md", "title": "Tea", "text": "Milk ``softens`` it."}],
    }


def test_duplicates_become_one_with_all_quotes() -> None:
    """The same span in two studies, and the same words in two documents."""
    brief = brief_of(
        Study(
            "One?",
            (made("Black tea holds some caffeine in every cup."), made("Milk softens black tea a lot.")),
        ),
        Study(
            "Two?",
            (
                made("Black tea holds some caffeine in every cup."),
                made("Milk softens black tea a lot.", "b.md"),
            ),
        ),
    )
    assert [kept.text for kept in brief.claims] == [
        "Black tea holds some caffeine in every cup.",
        "Milk softens black tea a lot.",
    ]
    assert [quote.locator for quote in brief.claims[1].quotes] == ["a.md", "b.md"]
    assert [kept.id for kept in brief.claims] == ["c1", "c2"]


def test_claims_that_differ_in_a_number_or_a_not_are_no_duplicates() -> None:
    """Near-identical words do not hide a difference that matters."""
    texts = [
        "The mill sold 12 units of tea in May.",
        "The mill sold 13 units of tea in May.",
        "The mill has not sold units of tea in May.",
    ]
    assert (
        len(brief_of(Study("One?", tuple(made(text, f"{at}.md") for at, text in enumerate(texts)))).claims)
        == 3
    )


def test_a_failed_researcher_becomes_a_named_gap() -> None:
    """Failed, missing and empty-handed studies are named, in the question's language."""
    plan = Plan(title="T", questions=("One?", "Two?", "Three?"))
    studies = [failed_study(sender="researcher.1", reason="The endpoint said no."), handed(Study("Two?", ()))]
    brief, _ = make_brief("What?", plan, studies, cap=500, count=count)
    assert brief.value is not None
    assert brief.value.gaps == (
        "Not researched: One? (The endpoint said no)",
        "Nothing found: Two?",
        "Not researched: Three?",
    )
    assert brief.status == "partial"
    chinese, _ = make_brief("茶里有什么？", plan, studies, cap=500, count=count)
    assert chinese.value is not None
    assert chinese.value.gaps[0] == "未能研究：One?（The endpoint said no）"


def test_all_failed_is_failed() -> None:
    """The envelope says so; the brief is there and empty."""
    plan = Plan(title="T", questions=("One?",))
    brief, _ = make_brief("What?", plan, [failed_study(sender="r", reason="no")], cap=500, count=count)
    assert (brief.status, brief.value and brief.value.claims) == ("failed", ())


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("abcd"), st.integers(10, 300)), max_size=12),
        min_size=1,
        max_size=5,
    ),
    st.integers(200, 3_000),
)
@settings(max_examples=60)
def test_any_brief_keeps_within_its_cap(studies: list[list[tuple[str, int]]], cap: int) -> None:
    """For any studies and any cap: it fits, is the same each time and numbers its claims from c1."""
    made_studies = [
        Study(
            f"Question {place}?",
            tuple(
                made(f"word{place} " * (size // 6) + f"n{at}", f"{name}.md", at * 1000)
                for at, (name, size) in enumerate(claims)
            ),
        )
        for place, claims in enumerate(studies)
    ]
    plan = Plan(title="T", questions=tuple(study.question for study in made_studies))
    handoffs = [handed(study, 100_000) for study in made_studies]
    brief, text = make_brief("What is it?", plan, handoffs, cap=cap, count=count)
    assert (brief, text) == make_brief("What is it?", plan, handoffs, cap=cap, count=count)
    assert brief.value is not None
    assert text == render_brief(brief.value)
    assert brief.tokens == count(text) <= cap
    assert [kept.id for kept in brief.value.claims] == [
        f"c{at}" for at in range(1, len(brief.value.claims) + 1)
    ]


WORDS = st.lists(
    st.sampled_from(
        ["tea ", "/path", "12,000 ", "c7", "\n", " ", "`", "```", "茶", "。", "🧠", '"', "}", "\\", "'s"]
    ),
    max_size=12,
).map("".join)


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
@given(studies=st.lists(st.lists(st.tuples(WORDS, WORDS), max_size=12), min_size=1, max_size=4), gap=WORDS)
@settings(max_examples=100)
def test_the_tokens_of_a_brief_are_those_of_its_claims_and_the_rest(
    model: str, studies: list[list[tuple[str, str]]], gap: str
) -> None:
    """For any claims: what was counted in their studies adds up to what the whole has."""
    counter = counter_for(model)
    handoffs = [
        cap_study(
            Study(
                f"{place}?", tuple(made(*claim, start=100 * at) for at, claim in enumerate(claims)), (gap,)
            ),
            sender="researcher.1",
            cap=100_000,
            count=counter.count,
            adds_up=counter.lines_add_up,
        )
        for place, claims in enumerate(studies)
    ]
    plan = Plan(title=gap, questions=tuple(f"{place}?" for place in range(len(studies))))
    brief, text = make_brief("What is it?", plan, handoffs, cap=200_000, count=counter.count)
    assert brief.tokens == counter.count(text)


def test_no_sub_question_and_no_document_vanishes() -> None:
    """With room for a few claims only, each sub-question keeps one and the documents take turns."""
    many = Study(
        "One?",
        tuple(made(f"Claim number {at} of many, with words enough.", "a.md", at * 100) for at in range(40)),
    )
    mixed = Study(
        "Two?",
        (
            *many.claims[:0],
            made("A rare thing is said here, in these words.", "b.md", question="Two?"),
            made("Another one is said here by the third.", "c.md", question="Two?"),
        ),
    )
    brief = brief_of(many, mixed, cap=330)
    assert {quote.locator for kept in brief.claims for quote in kept.quotes} == {"a.md", "b.md", "c.md"}
    assert {kept.question for kept in brief.claims} == {"One?", "Two?"}


def test_a_question_longer_than_the_cap_is_cut_with_a_mark() -> None:
    """A question of 50,000 characters leaves room for claims."""
    brief = brief_of(
        Study("One?", (made("Tea holds caffeine in every single cup."),)), question="why " * 12_500, cap=1_000
    )
    assert brief.question.endswith("[…]")
    assert len(brief.claims) == 1


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 400)), max_size=15), st.integers(1, 2_000))
def test_a_study_keeps_within_its_cap_in_its_order(parts: list[tuple[str, int]], cap: int) -> None:
    """For any study: it fits, what is kept stands in its order, what is not is counted."""
    study = Study("One?", tuple(made("x" * size, f"{name}.md", at) for at, (name, size) in enumerate(parts)))
    capped = cap_study(study, sender="researcher.1", cap=cap, count=count)
    assert capped.value is not None
    assert capped.tokens <= cap or not capped.value.claims
    assert capped.left_out == len(parts) - len(capped.value.claims)
    kept = [study.claims.index(one) for one in capped.value.claims]
    assert kept == sorted(kept)


def test_an_early_end_is_partial() -> None:
    """The reason of a researcher that had to stop goes with its study."""
    capped = cap_study(Study("One?", ()), sender="researcher.1", cap=100, count=count, reason="out of steps")
    assert (capped.status, capped.reason) == ("partial", "out of steps")
