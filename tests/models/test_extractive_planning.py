"""The extractive model takes questions apart."""

from __future__ import annotations

import time

import pytest

from orchestra.errors import OutputInvalid
from orchestra.models.extractive.headings import heading
from orchestra.models.extractive.planning import plan
from orchestra.values.drafts import Plan
from tests.models.asking import answer

pytestmark = pytest.mark.anyio


def questions(text: str) -> tuple[str, ...]:
    made = plan(text)
    assert made is not None
    return made.questions


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (
            "What are stone bridges and why do they last so long?",
            ("What are stone bridges?", "Why do stone bridges last so long?"),
        ),
        (
            "How is a stone arch built, and how long is its life?",
            ("How is a stone arch built?", "How long is a stone arch's life?"),
        ),
        (
            "Where can bridges be registered: for rail traffic and for road traffic?",
            (
                "Where can bridges be registered for rail traffic?",
                "Where can bridges be registered for road traffic?",
            ),
        ),
        (
            "Which tolls and taxes must a ferry pay?",
            ("Which tolls must a ferry pay?", "Which taxes must a ferry pay?"),
        ),
        ("What is a girder?", ("What is a girder?",)),
    ],
)
def test_parts_stand_alone(asked: str, parts: tuple[str, ...]) -> None:
    """Each part is a question of its own: the subject is carried over in place of a pronoun."""
    assert questions(asked) == parts


def test_definite_references_get_their_topic() -> None:
    """ "The first plan" means nothing alone, so the topic is set before it."""
    parts = questions(
        "How did the shape of arches change from round to pointed, and why was the old plan dropped?"
    )
    assert parts[1] == "About the shape of arches: why was the old plan dropped?"


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ("石桥和木桥有什么不同，它们应该怎样维护？", ("石桥和木桥有什么不同？", "石桥和木桥应该怎样维护？")),
        ("石桥为什么耐用，以及造价是多少？", ("石桥为什么耐用？", "关于石桥：造价是多少？")),
        ("石桥是什么？", ("石桥是什么？",)),
    ],
)
def test_chinese_questions_are_taken_apart(asked: str, parts: tuple[str, ...]) -> None:
    """Chinese clauses are split at their question words, and the subject is carried over."""
    assert questions(asked) == parts


def test_title_is_in_the_questions_language() -> None:
    """A title is short, without a question mark where the question can be turned round."""
    made = plan("What are stone bridges and why do they last so long?")
    assert made is not None
    assert made.title == "Stone bridges"
    chinese = plan("石桥和木桥有什么不同？")
    assert chinese is not None
    assert chinese.title == "石桥和木桥的不同"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How should a package state its licence?", "How a package should state its licence"),
        ("What is the standard lock file called?", "Standard lock file"),
        ("Why is the bridge closed?", "Why the bridge is closed"),
        ("What does the toll pay for?", "What the toll pays for"),
        ("为什么石桥耐用？", "石桥耐用的原因"),
    ],
)
def test_headings_turn_the_question_round(question: str, expected: str) -> None:
    """A heading reads as one, not as the question again."""
    assert heading(question) == expected


@pytest.mark.parametrize(
    "pasted",
    [
        "The bridge is old. It was built by many hands. " * 1_070 + "How long will the bridge stand?",
        "word " * 10_000,
        "( " * 24_999 + "x",
        "what and bridge " * 3_125,
        "桥" * 50_000,
        "`" * 49_000 + " bridge",
    ],
)
def test_a_pasted_document_is_planned_quickly(pasted: str) -> None:
    """50,000 characters give one to five short questions within two seconds."""
    began = time.process_time()
    parts = questions(pasted)
    assert time.process_time() - began < 2.0
    assert 1 <= len(parts) <= 5
    assert all(len(part) <= 500 for part in parts)


def test_the_question_in_a_pasted_document_is_found() -> None:
    """What is asked stands at the end of what was pasted."""
    parts = questions(
        "The bridge is old and stands in Leeds. " * 400 + "How long will the bridge of Leeds stand?"
    )
    assert parts == ("How long will the bridge of Leeds stand?",)


async def test_reply_holds_a_plan_and_its_usage() -> None:
    """The planner's reply is a validated value that costs nothing."""
    reply = await answer("Question: What is a girder?", "Plan")
    assert isinstance(reply.value, Plan)
    assert reply.usage.calls == 1
    assert reply.usage.input_tokens > 0
    assert reply.usage.cost == 0.0


async def test_a_question_without_words_is_refused() -> None:
    """Nothing to look for is said in one sentence."""
    with pytest.raises(OutputInvalid, match="no word to look for"):
        await answer("Question: ???", "Plan")
