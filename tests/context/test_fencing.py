"""Fenced data comes back exactly as it went in."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from orchestra.context.fence import Fenced, fence, fenced, fold_label, parts

TEXTS = st.one_of(st.text(), st.text("`\n a中", max_size=40))


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
@example([("", "")])
@example([("a\nb", "```\ntext\n```")])
@example([("```", "\r\n`````\n"), ("", "````")])
def test_fenced_is_the_inverse_of_fence(pairs: list[tuple[str, str]]) -> None:
    """Any labels (folded to a line) and any texts, one after the other, are read back verbatim."""
    text = "\n".join(fence(label, inner) for label, inner in pairs)
    assert fenced(text) == [Fenced(fold_label(label), inner) for label, inner in pairs]


@given(TEXTS, TEXTS)
def test_data_cannot_close_its_own_fence(label: str, text: str) -> None:
    """Whatever the data holds, all of it stays inside one fence, so it cannot pose as an instruction."""
    assert len(parts(fence(label, text))) == 1


@given(TEXTS)
def test_parts_lose_nothing(text: str) -> None:
    """The parts of any text, with their fences put back, hold all of its characters but the fences' own."""
    found = parts(text)
    joined = "\n".join(part if isinstance(part, str) else fence(part.label, part.text) for part in found)
    assert joined.replace("`", "").split() == text.replace("`", "").split()


def test_prose_between_fences_is_no_data() -> None:
    """Words before, between and after fences are not taken for fenced texts."""
    text = "Before.\n[s1] a | b | c\n```\none\n```\nBetween.\n\n[s2] 文件 | 题 |\n```\n二\n```\nAfter."
    assert fenced(text) == [Fenced("[s1] a | b | c", "one"), Fenced("[s2] 文件 | 题 |", "二")]


def test_a_fence_that_is_not_closed_is_none() -> None:
    """A text that was cut inside a fence has no fenced text there."""
    assert fenced("label\n```\ncut off") == []
