"""Passages are exact, in order, whole and of a size to be read."""

from __future__ import annotations

import time
from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from orchestra.errors import InputError
from orchestra.tools.documents.passages import _PIECE, MOST, cut
from orchestra.tools.documents.reading import interpret
from orchestra.values.sources import Passage

Cut = Callable[..., tuple[Passage, ...]]

WORDS = st.sampled_from(
    ["word", "# Head", "## Two", "Title\n====", "```", "~~~", "    code", "\tcode", "- item", "::",
     "。句子！", "🐟", "\n", "\n\n", "\r\n", "\r\n\r\n", "\r", " ", "  ", ".", "? ", "def f():",
     "class A:", "@x", "---", "x" * 50, "word " * 120, "汉字" * 200,
     "a, b; c: d. " * 90, "\u2028", "\x0c", "\x85", "\ufeff"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=40).map("".join) | st.text(st.characters(codec="utf-8"), max_size=300)


@given(TEXTS, st.sampled_from(["a.md", "a.rst", "a.txt", "a.py", "a.json", "a.org"]))
@example("---\ntitle: x\n---\n# A\n", "a.md")
@example("# A\n\n# B\n\n# C", "a.md")
def test_passages_are_exact_in_order_and_cover_the_text(text: str, name: str) -> None:
    """Every passage stands at its offsets, and between them there are only blanks."""
    if not text.encode().strip() or "\0" in text:
        return
    try:
        reading = interpret(text.encode(), name)
    except InputError:  # control characters alone
        return
    whole, at = reading.document.text, 0
    for passage in cut(reading):
        assert passage.text == whole[passage.start : passage.end]
        assert passage.text.strip()
        assert not whole[at : passage.start].strip()
        assert passage.start >= at
        assert len(_PIECE.findall(passage.text)) <= 2 * MOST
        at = passage.end
    assert not whole[at:].strip()


def test_passages_keep_to_their_sections(passages_of: Cut) -> None:
    """Sections name the headings but the title; a bare heading goes with what follows."""
    found = passages_of("# Title\n\nIntro.\n\n## A\n\n### B\n\nText of b.\n\n## C\n\nText of c.\n", "a.md")
    assert [(passage.section, passage.text) for passage in found] == [
        ("", "# Title\n\nIntro."),
        ("A > B", "## A\n\n### B\n\nText of b."),
        ("C", "## C\n\nText of c."),
    ]


def test_a_paragraph_and_a_listing_stay_whole(passages_of: Cut) -> None:
    """Where they fit, passages end between them; a listing keeps its blank lines."""
    paragraph = "One sentence follows another here. " * 12
    listing = "```\n" + "call(one)\n\n" * 30 + "```"
    found = passages_of("\n\n".join([paragraph.strip()] * 5 + [listing] + [paragraph.strip()] * 2), "a.md")
    assert len(found) > 3
    assert sum(listing in passage.text for passage in found) == 1
    for passage in found:
        assert passage.text.count("```") % 2 == 0
        assert passage.text.startswith(("One", "```"))
        assert passage.text.endswith((".", "```"))


def test_what_a_colon_announces_stays_with_it(passages_of: Cut) -> None:
    """An example is not parted from the sentence that brings it."""
    text = (
        "Words of a sentence. " * 30 + "\n\nAn example is this::\n\n  code(here)\n\n" + "And then more. " * 50
    )
    (holder,) = [passage for passage in passages_of(text, "a.rst") if "An example" in passage.text]
    assert "code(here)" in holder.text


def test_a_long_paragraph_is_cut_at_sentences(passages_of: Cut) -> None:
    """In English and Chinese alike."""
    for sentence, end in (
        ("This is sentence number one of many. ", "."),
        ("这是一个关于潮汐能的句子。", "。"),
    ):
        found = passages_of(sentence * 200)
        assert len(found) > 5
        assert all(passage.text.endswith(end) for passage in found)


def test_code_is_cut_at_lines_and_keeps_its_indents(passages_of: Cut) -> None:
    """A long function is cut between lines; small ones share a passage."""
    body = "".join(f"    value_{number} = compute({number}, other)\n" for number in range(120))
    found = passages_of(f"def long():\n{body}", "a.py")
    assert len(found) > 3
    assert all(passage.text.startswith(("def", "    value")) for passage in found)
    small = passages_of("".join(f"def f{number}():\n    return {number}\n\n" for number in range(10)), "a.py")
    assert len(small) == 1


def test_five_megabytes_on_one_line_are_cut_in_time() -> None:
    """With blanks and without any; in Chinese, where each character counts, a part of that."""
    for text in ("lorem ipsum dolor. " * 263_000, "x" * 5_000_000, "潮汐能" * 600_000):
        reading = interpret(text.encode(), "long.txt")
        began = time.process_time()
        assert len(cut(reading)) > 1000
        assert time.process_time() - began < 5


def test_blanks_without_end_are_no_passage(passages_of: Cut) -> None:
    """A passage is never long for its blanks."""
    assert [passage.text for passage in passages_of("a" + " " * 100_000 + "b\u3000" * 3)] == [
        "a",
        "b\u3000b\u3000b",
    ]
