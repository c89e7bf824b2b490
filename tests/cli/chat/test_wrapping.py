"""Streamed text in lines of a width: nothing is lost, no line is longer than it has to be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from orchestra.cli.chat.wrapping import Wrapper

_WORDS = st.text(st.sampled_from("abc 你好。\n`é"), max_size=200)


def wrapped(text: str, width: int, step: int = 7) -> str:
    """The text as it comes in pieces."""
    wrapper = Wrapper(width)
    pieces = [wrapper.feed(text[at : at + step]) for at in range(0, len(text), step)]
    return "".join(pieces) + wrapper.end()


@given(_WORDS, st.integers(10, 40), st.integers(1, 9))
def test_only_white_space_changes_and_lines_fit(text: str, width: int, step: int) -> None:
    """However it comes: the same characters, in lines that fit but for words that are longer themselves."""
    shown = wrapped(text, width, step)
    assert "".join(shown.split()) == "".join(text.split())
    assert shown == wrapped(text, width, 1)
    if "```" not in text:
        for line in shown.splitlines():
            assert cell_len(line) <= width or " " not in line.strip()


def test_words_go_whole_to_the_next_line() -> None:
    """Indents stay, wide characters fill their line, code is left alone, width 0 changes nothing."""
    assert wrapped("the quick brown fox", 10) == "the quick\nbrown fox"
    assert wrapped("  - a b c d e\n- c", 10) == "  - a b c\n    d e\n- c"
    assert wrapped("你好你好你好", 10) == "你好你好你\n好"
    code = "```\nx = 'a very long line of code'\n```\nand words after"
    assert wrapped(code, 10) == "```\nx = 'a very long line of code'\n```\nand words\nafter"
    assert Wrapper(0).feed(code) == code
