"""The ledger: which sources there are, and under which labels agents know them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.evidence.ledger import Ledger, source_id
from orchestra.values.sources import Passage
from tests.evidence.making import document, whole


def test_labels_follow_first_appearance_per_agent() -> None:
    """Each agent counts its own documents from s1; a document keeps its label."""
    ledger = Ledger()
    one, two = document("a.md", "first"), document("b.md", "second")
    assert ledger.show("r1", [whole(two), whole(one), whole(two)]) == ("s1", "s2", "s1")
    assert ledger.show("r2", [whole(one)]) == ("s1",)
    assert ledger.document("r1", "s1") == two
    assert ledger.document("r2", "s1") == one
    assert ledger.seen_by("r1") == (two, one)


@pytest.mark.parametrize(
    "name", ["s1", "[s1]", " S1 ", "s1 | a.md", "docs/a.md", "a.md", "`docs/a.md`", "Title A", "s01"]
)
def test_a_document_is_found_as_models_name_it(name: str) -> None:
    """By label, locator, file name or title, with brackets or backticks around it."""
    ledger = Ledger()
    source = document("docs/a.md", "text", "Title A")
    ledger.show("r1", [whole(source), whole(document("docs/b.md", "other", "Title B"))])
    assert ledger.document("r1", name) == source


@pytest.mark.parametrize("name", ["s3", "", "c.md", "readme.md", "[]"])
def test_what_is_not_there_or_not_clear_is_none(name: str) -> None:
    """A label never given, an unknown path, a name that fits two sources."""
    ledger = Ledger()
    ledger.show("r1", [whole(document("x/readme.md", "one")), whole(document("y/readme.md", "two"))])
    assert ledger.document("r1", name) is None


def test_a_text_is_kept_once_and_versions_are_kept_apart() -> None:
    """Two locators share one text; a changed file is a second source under the same locator."""
    ledger = Ledger()
    first = ledger.register(document("a.md", "same text"))
    copy = ledger.register(document("b.md", "same text"))
    assert copy.text is first.text
    assert source_id(first) == source_id(copy)
    newer = ledger.register(document("a.md", "changed"))
    assert ledger.versions("a.md") == (newer, first)
    assert ledger.register(document("a.md", "changed")) is newer


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=12))
def test_shown_spans_are_merged(pairs: list[tuple[int, int]]) -> None:
    """For any passages: the spans are in order, apart, and cover exactly what was shown."""
    ledger = Ledger()
    source = document("a.md", "x" * 31)
    spans = [(min(pair), max(pair)) for pair in pairs]
    ledger.show("r1", [Passage(source, source.text[start:end], start, end) for start, end in spans])
    shown = ledger.shown("r1", source)
    assert all(one[1] < other[0] for one, other in zip(shown, shown[1:], strict=False))
    covered = {at for start, end in shown for at in range(start, end)}
    assert covered == {at for start, end in spans for at in range(start, end)}
