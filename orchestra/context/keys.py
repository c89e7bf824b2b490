"""What a fact is the value of: `budget` of "my budget is $1,200", 预算 of 预算3000元, a column of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from orchestra.context.facts import find_facts
from orchestra.values.facts import Fact

_WORD = re.compile(r"[A-Za-z][\w'&/-]*|[\u4e00-\u9fff\u3040-\u30ff]+")
_STOP = frozenset(
    "a an the my our your his her its their this that these those is are was were be been being will"
    " would of to for"
    " in on at by with and or but so as it i we you he she they me us them has have had do does did not"
    " no please"
    " from about around than then now just also only some any all there here can could should must may might"
    " let's i'm i've i'd it's that's we're ok okay yes hi hello well actually correction sorry"
    " instead".split()
)
_ENDS = re.compile(r"[.!?;:,。！？；：，、()（）\n]")
_GLUE_ZH = re.compile(
    r"(?:我们|我|你|他|她|它|的|是|为|在|到|于|了|共|有|要|就|请|改成|改为|改到|应该|现在|大约|约|第|和"
    r"|与|不)+$"
)
_LEAD_ZH = re.compile(
    r"^(?:我们|我|你|他|她|它|的|是|请|还有|另外|其中|而且|更正|对了|然后|以及|和|与|把|将|帮|给|说"
    r"|其实|不对)+"
)
_NAMED_ZH = re.compile(
    r"(?:姓名是?|名字是|名字叫|名叫|叫做|叫)[:：]?\s*([\u4e00-\u9fff]{2,3})(?![\u4e00-\u9fff]{3})"
)
_LONGEST_VALUE = 80
_MOST = 60
_COUNTED = re.compile(r" ([A-Za-z]{2,20})(?![\w'-])")
_SIMPLE_ID = re.compile(r"[\w.#:/+@ -]{1,80}", re.UNICODE)


class Keyed(NamedTuple):
    """One `key=value`; `fact` is None where the value is a column's own."""

    key: str
    value: str
    fact: Fact | None


def keyed_facts(text: str) -> Iterator[tuple[Keyed, Fact]]:
    """Each figure, date, id, address and name of a text with its key."""
    for fact in find_facts(text):
        if fact.kind not in ("negation", "constraint"):
            yield Keyed(key_of(text, fact), fact.text, fact), fact
    for match in _NAMED_ZH.finditer(text):
        start, end = match.span(1)
        fact = Fact("name", match[1], match[1], "", start, end)
        yield Keyed(key_of(text[: match.start()], fact), match[1], fact), fact


def key_of(text: str, fact: Fact) -> str:
    """Up to three words that stand before the fact in its clause, or behind it; its kind without any."""
    before = text[max(0, fact.start - 80) : fact.start]
    ends = [match.end() for match in _ENDS.finditer(before.rstrip(" :：,，("))]
    clause = before[ends[-1] :] if ends else before
    key = _last_words(clause)
    if key:
        return key
    behind = text[fact.end : fact.end + 40]
    end = _ENDS.search(behind)
    words = _content(behind[: end.start()] if end else behind)
    if words:
        return " ".join(words[:2])
    whole = _last_words(before)
    return whole or fact.kind


def behind(text: str, fact: Fact) -> str:
    """The word behind a bare number, such as what is counted: `francs` in "75 francs"; "" for none."""
    if fact.kind != "number" or fact.unit:
        return ""
    word = _COUNTED.match(text, fact.end)
    return "" if word is None or word[1].lower() in _STOP else word[1]


def json_facts(text: str) -> list[Keyed]:
    """The short scalars of a JSON text with their columns, in order, at most 60; [] for another text."""
    if text[:200].lstrip()[:1] not in ("{", "["):
        return []
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):  # half a character is no JSON either
        return []
    found: list[Keyed] = []
    _walk(value, "", found)
    return found


def _walk(value: Any, key: str, found: list[Keyed]) -> None:
    if len(found) >= _MOST:
        return
    if isinstance(value, dict):
        for name, part in value.items():
            _walk(part, _joined(key, str(name)), found)
    elif isinstance(value, list):
        for part in value:
            _walk(part, key, found)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        found.append(Keyed(key, msgspec.json.encode(value).decode(), None))
    elif isinstance(value, str) and 0 < len(value) <= _LONGEST_VALUE and _SIMPLE_ID.fullmatch(value):
        found.append(Keyed(key, value, None))


def _joined(outer: str, name: str) -> str:
    """Two names of a path are enough to know a column by."""
    return f"{outer.rsplit('.', 1)[-1]}.{name}" if outer else name


def _last_words(clause: str) -> str:
    wide = re.search(r"[\u4e00-\u9fff]+\s*$", clause)
    if wide:
        run = _GLUE_ZH.sub("", wide[0].strip())
        run = _LEAD_ZH.sub("", run)
        return run[-6:]
    return " ".join(_content(clause)[-3:])


def _content(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word.lower() not in _STOP]
