"""Known facts found by their names, and tools chosen by what similar requests used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.context.recall.named import UNIVERSAL, Known, alike, look_up
from orchestra.tools.subset import ToolIndex
from orchestra.values.messages import ToolSpec

CODE = ("code",)
KNOWN = (
    Known(id="k8s", name="kubernetes", aliases=("k8s", "kube"), text="Runs on EKS.", scopes=CODE),
    Known(id="errors", name="error_handling", aliases=("exceptions",), text="Returns errors.", scopes=CODE),
    Known(id="db", name="database", text="MongoDB.", scopes=CODE, pinned=True),
    Known(id="old", name="postgres", text="Postgres.", scopes=CODE, current=False),
    Known(id="redis", name="redis", text="A cache.", scopes=CODE),
    Known(id="redis-cat", name="redis", text="A cat.", scopes=("novel",)),
    Known(
        id="needs",
        name="auth_needs_redis",
        aliases=("auth",),
        text="Auth needs Redis.",
        scopes=CODE,
        kind="relation",
    ),
    Known(id="tone", name="tone", text="Be direct.", scopes=(UNIVERSAL,)),
)


def relevant(question: str, *scopes: str) -> set[str]:
    return {one.id for one in look_up(question, KNOWN, scopes or CODE).relevant}


def test_a_fact_is_found_by_its_names_only() -> None:
    """An alias finds it, a word of its text does not."""
    assert relevant("what is our k8s story?") == {"k8s"}
    assert relevant("how do we use EKS?") == set()


def test_scopes_and_supersession_hold() -> None:
    """The same name means another thing elsewhere, and what was superseded never comes back."""
    assert relevant("Redis?", "novel") == {"redis-cat"}
    assert relevant("Redis or postgres?", "code", "novel") == {"redis", "redis-cat"}


def test_a_relation_brings_what_it_joins() -> None:
    """Asking about auth brings the relation and Redis, of the same scope."""
    assert relevant("how does auth fail?") == {"needs", "redis"}


def test_pinned_facts_come_first_when_room_is_short() -> None:
    """With room for one fact the pinned one takes it."""
    looked = look_up("exceptions in kube", KNOWN, CODE, most=1)
    assert [one.id for one in looked.pinned] == ["db"]
    assert looked.relevant == ()
    assert [one.id for one in looked.prelude] == ["tone"]


@pytest.mark.parametrize(
    ("here", "there", "same"),
    [
        ("eror", "error", True),
        ("typsecript", "typescript", True),
        ("mango", "mongo", False),
        ("k9s", "k8s", False),
    ],
)
def test_one_slip_is_forgiven(here: str, there: str, same: bool) -> None:
    """One letter too many, too few, wrong or changed round, never in the first two, never in a short word."""
    assert alike(here, there) is same


@given(st.text("abcd", min_size=4, max_size=9), st.text("abcd", min_size=4, max_size=9))
def test_likeness_of_words_is_mutual(one: str, other: str) -> None:
    """It does not matter which of two words was written wrong."""
    assert alike(one, other) == alike(other, one)


TOOLS = [
    ToolSpec("get_weather", "Current temperature and rain for a city.", {}),
    ToolSpec("StockPrices", "Prices of shares.", {}),
    ToolSpec("translate_text", "Translate between languages.", {}),
    ToolSpec("book_table", "Reserve a table.", {"properties": {"cuisine": {"enum": ["sushi", "pizza"]}}}),
]


def first(index: ToolIndex, request: str) -> str:
    return index.ranked(request)[0][0]


def test_a_tool_is_found_by_name_topic_and_values() -> None:
    """Names are taken apart, topics count, and so do a parameter's values."""
    index = ToolIndex(TOOLS)
    assert first(index, "stock price of Apple") == "StockPrices"
    assert first(index, "will there be a storm?") == "get_weather"
    assert first(index, "I want sushi tonight") == "book_table"


def test_tools_are_learnt_from_requests() -> None:
    """What a similar request used ranks first from then on."""
    index = ToolIndex(TOOLS)
    assert first(index, "flibber my gronk") != "translate_text"
    index.learn("please flibber the gronk", ["translate_text"])
    assert first(index, "flibber my gronk") == "translate_text"
