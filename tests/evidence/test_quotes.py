"""Quotes: verbatim or not at all."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from orchestra.evidence.quotes import Shelf, find_quote, find_quotes
from orchestra.text.fold import fold
from tests.evidence.making import document

TEXT = (
    "The mill sold 11,250 units in 2024.\nIt’s the  best—known\nmill, they say. "
    "外长们在\n会后发表的联合声明中说，共二千三百五十万元。The end of ﬁne things."
    " It **must** call ``build_wheel`` now. A change of -5 % in sales."
)
SOURCE = document("a.md", TEXT)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("The mill sold 11,250 units in 2024.", "The mill sold 11,250 units in 2024."),
        ("It's the best-known mill", "It’s the  best—known\nmill"),
        ('"It\'s the best-known mill, they say"', "It’s the  best—known\nmill, they say"),
        ("“The end of fine things.”", "The end of ﬁne things."),
        ("外长们在会后发表的联合声明中说", "外长们在\n会后发表的联合声明中说"),
        ("They say. 外长们", "they say. 外长们"),
        ("It must call build_wheel now.", "It **must** call ``build_wheel`` now."),
        ("A change of -5 % in sales", "A change of -5 % in sales"),
    ],
)
def test_a_quote_is_found_where_only_its_form_differs(wanted: str, found: str) -> None:
    """White space, Unicode form, typography, outer quotation marks, markup, a last stop, a first capital."""
    quote = find_quote(SOURCE, wanted)
    assert quote is not None
    assert quote.text == found == TEXT[quote.start : quote.end]


@pytest.mark.parametrize(
    "wanted",
    [
        "the",
        "",
        '"',
        "2024",
        "build_wheel",
        "The mill sold 11,251 units",
        "1,250 units in 2024",
        "The mill sold 11,25",
        "mill sold 11,250 units in 202",
        "三百五十万元。The end",
        "5 % in sales",
        "units in 2025",
        "The mill did not sell 11,250 units",
        "he mill sold 11,250",
        "THE MILL SOLD 11,250 UNITS",
        "The mill sold units in 2024.",
    ],
)
def test_what_is_no_quote(wanted: str) -> None:
    """Too short, a changed word or digit, a number or word cut in two, something left out in silence."""
    assert find_quotes(SOURCE, wanted) == ()


@pytest.mark.parametrize("dots", ["...", "…", "[...]", " […] ", "……"])
def test_an_ellipsis_gives_a_quote_for_each_part(dots: str) -> None:
    """Both parts must be there, in their order."""
    both = find_quotes(SOURCE, f"The mill sold 11,250 units {dots} It's the best-known mill")
    assert [quote.text for quote in both] == ["The mill sold 11,250 units", "It’s the  best—known\nmill"]
    assert find_quotes(SOURCE, f"It's the best-known mill {dots} The mill sold 11,250 units") == ()
    assert find_quotes(SOURCE, f"The mill sold 11,250 units {dots} it never said that") == ()


def test_a_shown_span_is_preferred() -> None:
    """Of two places with the same words the one that was shown is quoted."""
    source = document("a.md", "one and the same line\n" * 3)
    quote = find_quote(source, "one and the same line", near=lambda: ((22, 44),))
    assert quote is not None
    assert quote.start == 22
    first = find_quote(source, "one and the same line")
    assert first is not None
    assert first.start == 0


WORDS = st.sampled_from(["black", "tea", "holds", "caffeine", "ﬁne", "cafe\u0301", "don’t", "47"])
GAPS = st.sampled_from([" ", "\n", "  \t", " — ", ", “", "”; "])


@given(st.lists(st.tuples(WORDS, GAPS), min_size=6, max_size=30), st.data())
def test_any_whole_words_of_a_source_are_found(parts: list[tuple[str, str]], data: st.DataObject) -> None:
    """For any document: a run of its words, with other white space and typography, is found, and verbatim."""
    text = "".join(word + gap for word, gap in parts)
    start = data.draw(st.integers(0, len(parts) - 6))
    end = data.draw(st.integers(start + 6, len(parts)))
    span = "".join(word + gap for word, gap in parts[start : end - 1]) + parts[end - 1][0]
    quote = find_quote(document("a.md", text), fold(span).text)
    assert quote is not None
    assert text[quote.start : quote.end] == quote.text
    assert fold(quote.text).text == fold(span).text


@given(st.text(min_size=1, max_size=200), st.text(max_size=60))
def test_a_quote_is_always_verbatim(text: str, wanted: str) -> None:
    """For any document and any wish: what is returned stands at its offsets."""
    for quote in find_quotes(document("a.md", text), wanted):
        assert text[quote.start : quote.end] == quote.text


@pytest.mark.parametrize("text", ["ab " * 400_000, "a" * 1_200_000, "“a” — b\n" * 150_000])
def test_large_documents_answer_soon(text: str) -> None:
    """A wish that nearly stands everywhere does not make the search quadratic."""
    began = time.process_time()
    assert find_quote(document("a.md", text), "b ab " + "ab " * 200 + "axe") is None
    assert time.process_time() - began < 5


def test_documents_are_folded_once_for_all_sessions_and_never_mistaken() -> None:
    """A shelf gives the same forms for the same text; a wrong hash does not bring another's text."""
    shelf = Shelf(characters=100)
    one, other = document("a", "A line\nof text."), document("a", "Another text.")
    assert shelf.folds(one) is shelf.folds(document("a", "A line\nof text."))
    liar = structs.replace(other, sha256=one.sha256)
    assert shelf.folds(liar).text == "Another text."
    assert shelf.folds(one).text == "A line\nof text."


def test_a_shelf_keeps_no_more_than_it_has_room_for() -> None:
    """What was not asked for lately goes; a text larger than the shelf is not kept."""
    shelf = Shelf(characters=100)
    first = document("a", "a" * 60)
    kept = shelf.folds(first)
    assert shelf.folds(first) is kept
    shelf.folds(document("a", "b" * 60))
    assert shelf.folds(first) is not kept
    large = document("a", "c" * 200)
    assert shelf.folds(large) is not shelf.folds(large)
