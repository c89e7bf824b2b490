"""Tokens are counted exactly, offline, and cut between characters."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestra.context.tokens import (
    CALL_TOKENS,
    MESSAGE_TOKENS,
    Counter,
    counter_for,
    encoding_of,
    joins_cleanly,
    surely_fits,
    vocabulary_at_hand,
)
from orchestra.errors import ConfigError
from orchestra.values.messages import Message, ToolCall, ToolSpec

O200K = counter_for("gpt-4o")
CL100K = counter_for("gpt-4")
TEXTS = st.one_of(
    st.text(max_size=60),
    st.text("ab '’sSdD09\n\r\t.-_/", max_size=60),
    st.text("的构建后端必须。，！？北京 ab1", max_size=60),
    st.text("🧠👨‍👩‍👧🇨🇳éñאב ", max_size=40),
)


@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("The quick brown fox jumps over 13 lazy dogs.", 11, 11),
        ("<|endoftext|>", 7, 7),
        ("构建后端必须提供钩子。", 10, 13),
        ("🧠🧠", 6, 6),
        ("def f(x):\n    return x  # 中文", 10, 11),
    ],
)
def test_known_counts(text: str, o200k: int, cl100k: int) -> None:
    """These counts were taken from tiktoken 0.14; special tokens are plain text."""
    assert (O200K.count(text), CL100K.count(text)) == (o200k, cl100k)


@pytest.mark.skipif(not vocabulary_at_hand("o200k_base"), reason="tiktoken's vocabulary is not in its cache")
def test_counts_equal_tiktoken(reference: dict[str, Callable[[str], int]]) -> None:
    """Where tiktoken's own vocabulary is at hand, every count is its count."""

    @given(TEXTS)
    def check(text: str) -> None:
        assert O200K.count(text) == reference["o200k_base"](text)

    check()


@pytest.fixture(scope="module")
def reference() -> dict[str, Callable[[str], int]]:
    import tiktoken

    vocabulary = tiktoken.get_encoding("o200k_base")
    return {"o200k_base": lambda text: len(vocabulary.encode_ordinary(text))}


@given(TEXTS, st.integers(-1, 30))
@example("a \ud800 b", 2)
@example("🧠" * 5, 2)
def test_a_cut_is_a_beginning_that_fits(text: str, tokens: int) -> None:
    """A cut text begins the text (but for a lone surrogate), ends between characters and fits."""
    cut = O200K.cut(text, tokens)
    assert text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").startswith(cut)
    assert O200K.count(cut) <= max(tokens, 0)
    if O200K.count(text) <= tokens:
        assert len(cut) == len(text)


@given(TEXTS, TEXTS)
@example("a)", "/b")
@example("a", "'s")
@example("(", ")")
def test_what_follows_a_line_end_counts_by_itself(line: str, text: str) -> None:
    """Parts of a text that meet at a line end need not be counted again, in both encodings."""
    for counter in (O200K, CL100K):
        if joins_cleanly(text):
            assert counter.count(f"{line}\n{text}") == counter.count(f"{line}\n") + counter.count(text)


@given(TEXTS, st.integers(0, 40))
def test_what_surely_fits_does(text: str, tokens: int) -> None:
    """A text is never said to fit that does not."""
    assert not surely_fits(text, tokens) or O200K.count(text) <= tokens


@given(TEXTS)
@example("word " * 5_000)
def test_all_ways_of_counting_agree(text: str) -> None:
    """A text is counted alike whichever call of the library counts it."""
    for counter in (O200K, CL100K):
        assert counter.count(text) == counter.measure(text, 1 << 62)[1]


def test_a_cut_keeps_all_that_fits() -> None:
    """What is cut off would not have fitted, in long texts too."""
    text = "hook " * 100_000
    assert len(O200K.cut(text, 1_000)) >= 4_995
    assert O200K.cut(" " * 100_000, 2) == " " * 256


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4", "cl100k_base"),
        ("gpt-4-0314", "cl100k_base"),
        ("ft:gpt-3.5-turbo:acme", "cl100k_base"),
        ("openai/gpt-4.1-mini", "o200k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-5", "o200k_base"),
        ("qwen3:8b", "o200k_base"),
        ("extractive", "o200k_base"),
    ],
)
def test_the_encoding_follows_the_model(model: str, encoding: str) -> None:
    """GPT-4 and 3.5 count in cl100k, everything newer and unknown in o200k."""
    assert encoding_of(model) == encoding
    assert counter_for(model) is counter_for(model)


def test_nothing_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoding whose vocabulary is not at hand is one clear sentence and not a download."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(ConfigError, match="TIKTOKEN_CACHE_DIR"):
        Counter("p50k_base").count("hello")


def test_one_counter_serves_many_threads() -> None:
    """A counter that several threads use first at the same moment counts the same for all."""
    counter = Counter("o200k_base")
    counts: list[int] = []
    threads = [threading.Thread(target=lambda: counts.append(counter.count("hello world"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [2] * 8


def test_a_message_counts_with_its_calls() -> None:
    """A message has its text, its calls and what the chat format adds."""
    call = ToolCall("c1", "search", '{"query":"构建"}')
    message = Message("assistant", "hello world", (call,))
    expected = MESSAGE_TOKENS + 2 + CALL_TOKENS + O200K.count("search") + O200K.count(call.arguments)
    assert O200K.message(message) == expected


def test_a_tool_is_counted_once() -> None:
    """The same spec is not encoded and counted again, and equal specs have equal counts."""
    first = ToolSpec("search", "Search.", {"type": "object"})
    second = ToolSpec("search", "Search.", {"type": "object"})
    assert O200K.tool(first) == O200K.tool(second) == O200K.tool(first) > 10


def test_what_somebody_has_added_up_is_not_counted_again() -> None:
    """For that very text, once it is long enough to be worth it; not for one that only says the same."""
    counter = Counter("o200k_base")
    text = "a text of many words, " * 200
    counter.load()
    counter.know(text, 7)
    counter.know("short", 7)
    assert counter.count(text) == 7
    assert counter.count("".join([text, "!"])[:-1]) == counter_for("gpt-4o").count(text) > 7
    assert counter.count("short") == 1
