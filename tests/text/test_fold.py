"""Folding: one form for texts that differ only in white space and Unicode form, and the way back."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.text.fold import fold, one_line

ODD = st.text(
    st.sampled_from("aZ1 \n\t\u00a0\u3000\u200b\u00ad“”’—é\u0301eﬁ①½北京，。カﾞ각ᄀ\u1161*`🙂\u0308¨ﷺ\r"),
    max_size=60,
)
ANY = st.one_of(st.text(max_size=60), ODD)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("a  b\r\n\tc", "a b c"),
        ("“it’s” — a\u00a0test", '"it\'s" - a test'),
        ("soft\u00adhyphen\u200b", "softhyphen"),
        ("ｆｕｌｌ　１２％", "full 12%"),
        ("e\u0301 ﬁ ①", "é fi 1"),
        ("外长们在\n  会后，发表 2024 年", "外长们在会后,发表2024年"),
        ("Case Stays", "Case Stays"),
    ],
)
def test_what_is_folded(text: str, folded: str) -> None:
    """White space, Unicode form and typography are made even; letters and their case stay."""
    assert fold(text).text == folded


@given(ANY)
def test_folding_twice_changes_nothing(text: str) -> None:
    """A folded text is in its final form."""
    once = fold(text).text
    assert fold(once).text == once


@given(ANY, st.data())
def test_every_span_leads_back(text: str, data: st.DataObject) -> None:
    """What a span of the folded text came from folds to a text that holds that span."""
    folded = fold(text)
    if not folded.text:
        return
    start = data.draw(st.integers(0, len(folded.text) - 1))
    end = data.draw(st.integers(start + 1, len(folded.text)))
    left, right = folded.span(start, end)
    assert 0 <= left < right <= len(text)
    wanted = folded.text[start:end].strip()
    assert unicodedata.normalize("NFKC", wanted) in unicodedata.normalize("NFKC", fold(text[left:right]).text)


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=80))
def test_plain_words_map_exactly(text: str) -> None:
    """In ASCII every word of the folded text leads back to the very same letters."""
    folded = fold(text)
    at = 0
    for word in folded.text.split():
        at = folded.text.index(word, at)
        left, right = folded.span(at, at + len(word))
        assert text[left:right] == word
        at += len(word)


@pytest.mark.parametrize("mark", ["**", "*", "`", "``"])
def test_marks_of_emphasis_go_when_asked(mark: str) -> None:
    """Unmarked folding drops marks around words but no operator."""
    assert fold(f"it {mark}must{mark} be", unmarked=True).text == "it must be"
    assert fold("2*3 and 2 * 3", unmarked=True).text == "2*3 and 2 * 3"
    assert fold(f"it {mark}must{mark} be").text == f"it {mark}must{mark} be"


@given(ANY)
def test_places_are_in_order(text: str) -> None:
    """A later character of the original never goes before an earlier one."""
    folded = fold(text)
    places = [folded.place(offset) for offset in range(len(text) + 1)]
    assert places == sorted(places)
    assert all(0 <= place <= len(folded.text) for place in places)


@pytest.mark.parametrize(
    "unit", ["The quick “brown”\n  fox — e\u0301. ", "北京时间，二〇二四年\n三月。", "a" * 50]
)
def test_five_megabytes_fold_in_linear_time(unit: str) -> None:
    """A document of five million characters folds within seconds on any machine, on one line or on many."""
    text = unit * (5_000_000 // len(unit))
    began = time.process_time()
    assert len(fold(text).text) > 3_000_000
    assert time.process_time() - began < 8


@given(st.one_of(ANY, st.text("a b\t\n\u00a0\u3000\u200b\x1f\x85\u2028", max_size=12)))
def test_one_line_has_the_words_with_one_blank_between(text: str) -> None:
    """For any text, also one that is on one line already."""
    assert one_line(text) == " ".join(text.split())
