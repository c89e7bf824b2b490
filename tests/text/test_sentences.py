"""Sentences with exact offsets."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.text.sentences import LONGEST, sentences


def cut(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is here. Two is there.", ["One is here.", "Two is there."]),
        (
            "Use it, e.g. in Leeds. Dr. Low met G. Orwell.",
            ["Use it, e.g. in Leeds.", "Dr. Low met G. Orwell."],
        ),
        ("It costs 3.5 euros. See No. 5 below.", ["It costs 3.5 euros.", "See No. 5 below."]),
        ("Call ``a. B`` first. Then `x. Y`.", ["Call ``a. B`` first.", "Then `x. Y`."]),
        ('He said "Go. Now." and went. She stayed.', ['He said "Go. Now." and went.', "She stayed."]),
        ("石桥很老。它在哪里？“很远。”他说。", ["石桥很老。", "它在哪里？", "“很远。”", "他说。"]),
        ("東京は大きい。人が多い。", ["東京は大きい。", "人が多い。"]),
        ("Wrapped over\ntwo lines. Next\none.", ["Wrapped over\ntwo lines.", "Next\none."]),
        ("- One item\n- Two items. And more.", ["- One item", "- Two items.", "And more."]),
        ("as told in PEP\n342), it works. Good.", ["as told in PEP\n342), it works.", "Good."]),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    """Abbreviations, numbers, code and quotations do not end a sentence; Chinese stops do."""
    assert cut(text) == expected


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("# Title\n\nText is here.", ["heading", "prose"]),
        ("Title\n=====\n\nText is here.", ["heading", "prose"]),
        ("Text is here::\n\n    x = 1\n    y = 2\n\nMore.", ["prose", "code", "prose"]),
        ("```\nx. Y\n```\nText.", ["code", "prose"]),
        ("| a | b |\n| - | - |\n| 1 | 2 |", ["row", "markup", "row"]),
        ("Author: Ann\nStatus: Final", ["field", "field"]),
        (".. note::\n\n   Mind the gap.", ["markup", "prose"]),
        ("一、绿茶的储存\n绿茶怕潮。", ["heading", "prose"]),
    ],
)
def test_units_of_their_own(text: str, kinds: list[str]) -> None:
    """Headings, code, rows, fields and items are told apart from prose."""
    assert [span.kind for span in sentences(text)] == kinds


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from('ab. !?`"(){}[]\n\t-*#|=:。“”，石 1'), max_size=300))
def test_spans_are_in_order_and_cover_every_word(text: str) -> None:
    """For any text: spans do not overlap, carry no outer blanks, and leave out nothing but blanks."""
    end = 0
    for span in sentences(text):
        assert end <= span.start < span.end <= len(text)
        assert not text[end : span.start].strip()
        assert text[span.start : span.end] == text[span.start : span.end].strip()
        end = span.end
    assert not text[end:].strip()


@pytest.mark.parametrize("text", ["word " * 1_000_000, "Word is. " * 500_000, "(" * 500_000, '" ' * 500_000])
def test_millions_of_characters_on_one_line(text: str) -> None:
    """Time grows with the text and not with its square; what runs on is cut."""
    began = time.process_time()
    spans = sentences(text)
    assert time.process_time() - began < 8.0
    assert max(span.end - span.start for span in spans) <= LONGEST
