"""The line of every key of a TOML text."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.config.positions import key_lines

BARE = st.text("abcXYZ019_-", min_size=1, max_size=6)
QUOTED = st.sampled_from(['"a b"', "'c.d'", '"é\\n"', '"x\\"y"', '""', "'#'", '"\\u0041b"', '"=]"'])
KEY = st.one_of(BARE, QUOTED)
SCALAR = st.sampled_from(
    [
        *("1", "-2.5", "true", "1979-05-27 07:32:00Z", "inf", "0xff", '"a # b"', "'c:\\'", '"q\\"[{"'),
        *(
            '"""one\n[two]\n"three" \\" = 4"""',
            "'''a\n'b' = c\n'''",
            '""""quoted" end"""""',
            "''''x'''''",
            '""',
        ),
    ]
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda each: "[\n  " + ", # ]\n  ".join(each) + "\n]"),
        st.dictionaries(BARE, inner, max_size=3).map(
            lambda each: "{ " + ", ".join(f"{key} = {value}" for key, value in each.items()) + " }"
        ),
    ),
    max_leaves=5,
)
STATEMENT = st.one_of(
    st.tuples(st.lists(KEY, min_size=1, max_size=2).map(" . ".join), VALUE).map(
        lambda pair: f"{pair[0]} = {pair[1]}"
    ),
    st.lists(KEY, min_size=1, max_size=2).map(lambda keys: f"[{'.'.join(keys)}]"),
    st.lists(KEY, min_size=1, max_size=2).map(lambda keys: f"[[ {'.'.join(keys)} ]]"),
    st.sampled_from(["", "# [comment] = 1", "   "]),
)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    """Every path of a parsed document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path} | {each for key, inner in items for each in paths(inner, (*path, key))}


@given(st.lists(STATEMENT, max_size=8), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=400)
def test_every_key_has_a_line(statements: list[str], end: str) -> None:
    """Whatever tomllib accepts, the scanner finds the same keys and no others."""
    text = end.join(statements)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(key_lines(text)) == paths(table) - {()}


@given(st.lists(st.tuples(BARE, SCALAR), max_size=8, unique_by=lambda pair: pair[0]))
def test_a_key_stands_on_its_own_line(pairs: list[tuple[str, str]]) -> None:
    """The line is the one on which the key was written, however many lines the values before it take."""
    text, expected = "", {}
    for key, value in pairs:
        expected[(key,)] = text.count("\n") + 1
        text += f"{key} = {value}\n"
    assert key_lines(text) == expected


def test_tables_in_lists_are_told_apart() -> None:
    """A list of tables is numbered, and what follows a header belongs to the last one."""
    lines = key_lines("[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\ny = 3\n")
    assert lines["a", 0, "x"] == 2
    assert lines["a", 1, "x"] == 4
    assert lines["a", 1, "b", "y"] == 6


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "a.b.c = {d = {e = 1}}"])
def test_small_texts(text: str) -> None:
    """Nothing, comments and nested inline tables."""
    assert set(key_lines(text)) == paths(tomllib.loads(text)) - {()}
