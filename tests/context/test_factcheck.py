"""Drift: what a text says that its source does not bear out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.context.factcheck import Source, find_drift

REPORT = """The board met in Geneva on Monday.
Net revenue for the third quarter of 2021 rose by 12 % to $5.2 billion.
Operating costs for the year fell by 7 % to $3.1 billion. The company plans to open 11 stores in Norway.
Alice Smith, who leads the retail unit, said that demand is strong. The merger was approved by shareholders.
Order INV-2041 was shipped on Tuesday."""
SOURCE = Source(REPORT)
NEWS = Source("成员国共有15个。会议有6名代表参加，会期三天。比赛以2比1结束，共有8架飞机参加表演。")


def doubts(text: str, source: Source = SOURCE) -> set[tuple[str, str]]:
    return {(doubt.kind, doubt.text) for doubt in find_drift(text, source)}


@pytest.mark.parametrize(
    "text",
    [
        "In the third quarter net revenue increased twelve percent to $5.2bn.",
        "Costs fell 7 % over the year, to 3.1 billion dollars.",
        "Eleven stores will open in Norway. Alice Smith leads retail.",
        "Shareholders approved the merger. INV-2041 was shipped on Tuesday.",
        "The board met in Geneva.",
    ],
)
def test_a_faithful_text_has_no_doubts(text: str) -> None:
    """Other words, other order, other ways of writing a figure."""
    assert doubts(text) == set()


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("Net revenue rose by 13 % to $5.2 billion.", ("figure", "13 %")),
        ("The board met in Geneva on Friday.", ("date", "Friday")),
        ("Order INV-2042 was shipped.", ("id", "INV-2042")),
        ("Carla Jones said that demand is strong.", ("name", "Carla Jones")),
        ("Operating costs for the year fell by 12 %.", ("elsewhere", "12 %")),
        ("The order INV-2041 was shipped on Monday.", ("elsewhere", "Monday")),
        ("The merger was not approved by shareholders.", ("negation", "approv")),
        ("Net revenue for the third quarter of 2021 declined to $5.2 billion.", ("opposite", "declin")),
    ],
)
def test_what_drifts_is_named(text: str, doubt: tuple[str, str]) -> None:
    """Absent, from another place, denied, turned into its opposite."""
    assert doubt in doubts(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("会议有7名代表参加。", "figure"),
        ("共有8名飞行员。", "figure"),
        ("比赛以2比0结束。", "figure"),
        ("成员国共有6个。", "elsewhere"),
    ],
)
def test_chinese_drifts_too(text: str, kind: str) -> None:
    """Figures with their measure words, scores, and a number from another place."""
    assert kind in {doubt.kind for doubt in find_drift(text, NEWS)}
    assert doubts("15个成员国的6名代表开会三天，比分2比1。", NEWS) == set()


def test_a_doubt_says_what_the_source_has_instead() -> None:
    """A figure from elsewhere comes with the one that belongs there; the sure kinds are hard."""
    (doubt,) = find_drift("Operating costs for the year fell by 12 %.", SOURCE)
    assert (doubt.instead, doubt.is_hard) == ("7 %", True)
    assert not any(doubt.is_hard for doubt in find_drift("The merger was not approved.", SOURCE))


@given(st.text(max_size=200))
def test_a_text_has_no_hard_doubts_about_itself(text: str) -> None:
    """For any text: its own figures, dates, ids and names are all there."""
    kinds = {doubt.kind for doubt in find_drift(text, Source(text))}
    assert not kinds & {"figure", "date", "id", "name"}


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_same_texts_give_the_same_doubts(text: str, source: str) -> None:
    """For any two texts: the check ends, and says the same again."""
    assert find_drift(text, Source(source)) == find_drift(text, Source(source))
