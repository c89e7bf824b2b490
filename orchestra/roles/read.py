"""From a file to a Role, or to every sentence about why not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from orchestra.config.nearest import hint, shown
from orchestra.config.settings import PRESETS
from orchestra.config.words import number_from_text
from orchestra.errors import RoleError
from orchestra.roles.conditions import condition_of
from orchestra.roles.finding import Finding
from orchestra.roles.foreign import IGNORED_KEYS, INSTEAD, is_foreign_tool
from orchestra.roles.front import Front, read_text, split_front
from orchestra.roles.tool_words import split_tools
from orchestra.values.roles import ALL_TOOLS, GROUP, Limits, Role

KEYS = ("name", "description", "tools", "model", "output", "context", "limits", "handoff_tokens", "approve")
LIMITS = ("steps", "tokens", "seconds", "escalations")
LONGEST_NAME = 64

_NAME = re.compile(r"[\w][\w -]*")


class Known(Struct, frozen=True, kw_only=True):
    """What a role may name. `tools` None: whatever; the runtime checks again when it narrows its toolbox.

    `groups`: names of groups of tools, None: whatever.
    """

    tools: Collection[str] | None = None
    groups: Collection[str] | None = None
    outputs: Collection[str] = ("Plan", "Findings", "Draft", "Review")
    presets: Collection[str] = PRESETS


class Reading(Struct, frozen=True, kw_only=True):
    """A file as read: `role` is None exactly when there are `problems`. `lines`: key to line, from 1."""

    role: Role | None
    problems: tuple[RoleError, ...] = ()
    notes: tuple[Finding, ...] = ()
    lines: Mapping[str, int] = {}


ANYTHING = Known()


def load_role(path: str | Path, known: Known = ANYTHING) -> Role:
    """The role in a file. Raises RoleError: the first problem, with file, line and key."""
    reading = read_role(path, known)
    if reading.role is None:
        raise reading.problems[0]
    return reading.role


def read_role(path: str | Path, known: Known = ANYTHING, *, label: str = "") -> Reading:
    """The role in a file and every problem of it; `label` is the file's name in them."""
    label = label or str(path)
    try:
        return parse_role(read_text(Path(path), label), label, known)
    except RoleError as error:
        return Reading(role=None, problems=(error,))


def parse_role(text: str, label: str, known: Known = ANYTHING) -> Reading:
    """The role in a text; `label` stands for the file."""
    try:
        front = split_front(text, label)
    except RoleError as error:
        return Reading(role=None, problems=(error,))
    return _Reader(front, label, known).reading()


class _Wrong(ValueError):
    """The value of the key at hand does not fit; the message ends a sentence that begins with the key."""


class _Reader:
    def __init__(self, front: Front, label: str, known: Known) -> None:
        self._front = front
        self._label = label
        self._known = known
        self._problems: list[RoleError] = []
        self._notes: list[Finding] = []
        self._lines: dict[str, int] = {"instructions": front.body_line}

    def reading(self) -> Reading:
        values: dict[str, Any] = {}
        for key, line, node in self._front.entries:
            if key in self._lines:
                self._wrong(key, line, "stands twice.")
            elif key in KEYS:
                self._lines[key] = line
                self._take(values, key, line, node)
            elif key in IGNORED_KEYS:
                more = f"; {INSTEAD[key]}" if key in INSTEAD else ""
                sentence = f"is a key of other programs and is ignored here{more}."
                self._notes.append(Finding(sentence=sentence, key=key, file=self._label, line=line))
            else:
                self._wrong(key, line, f"is not a key of a role.{hint(key, KEYS)}")
        self._missing(values)
        role = None
        if not self._problems:
            role = Role(instructions=self._front.body, file=self._label, **values)
        return Reading(role=role, problems=tuple(self._problems), notes=tuple(self._notes), lines=self._lines)

    def _missing(self, values: Mapping[str, Any]) -> None:
        for key in ("name", "description"):
            if key not in values and key not in self._lines:
                self._wrong(key, 1, "is missing.")
        if not self._front.body:
            self._wrong(
                "instructions", self._front.body_line, "the body is empty; write what the agent is to do."
            )

    def _wrong(self, key: str, line: int, sentence: str) -> None:
        self._problems.append(RoleError(f"{key}: {sentence}", file=self._label, line=line, key=key))

    def _take(self, values: dict[str, Any], key: str, line: int, node: Any) -> None:
        try:
            values |= dict(self._read(key, node))
        except _Wrong as wrong:
            self._wrong(key, line, str(wrong))

    def _read(self, key: str, node: Any) -> Iterator[tuple[str, Any]]:
        if key == "name":
            yield key, _name(node)
        elif key == "description":
            yield key, _text(node)
        elif key == "tools":
            yield key, self._tools(node)
        elif key == "model":
            yield from _model(node)
        elif key == "output":
            yield key, _one_of(_text(node), self._known.outputs, "output")
        elif key == "context":
            yield key, _one_of(_text(node), self._known.presets, "context preset")
        elif key == "limits":
            yield key, _limits(node)
        elif key == "approve":
            yield key, _approve(node)
        else:
            yield key, _positive("tokens", node)

    def _tools(self, node: Any) -> tuple[str, ...] | None:
        names = _tool_names(node)
        if names is None:
            return None
        for name in names:
            if name.startswith(GROUP):
                self._check_group(name.removeprefix(GROUP))
                continue
            if self._known.tools is None or name == ALL_TOOLS or name in self._known.tools:
                continue
            if is_foreign_tool(name):
                have = ", ".join(sorted(self._known.tools)) or "none"
                raise _Wrong(f'"{name}" is a tool of another program; the tools here are: {have}.')
            raise _Wrong(f'there is no tool "{name}".{hint(name, self._known.tools)}')
        return names

    def _check_group(self, name: str) -> None:
        groups = self._known.groups
        if groups is None or name in groups:
            return
        if not groups:
            raise _Wrong(f'there is no group "{name}": tools.groups of the configuration has none.')
        raise _Wrong(f'there is no group "{name}".{hint(name, groups)}')


def _kind(node: Any) -> str:
    return str(node.id)


def _text(node: Any) -> str:
    if _kind(node) != "scalar":
        raise _Wrong("must be a text.")
    text = str(node.value).strip()
    if not text or node.tag.endswith(":null"):
        raise _Wrong("is empty.")
    return text


def _name(node: Any) -> str:
    name = _text(node)
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise _Wrong(
            f"{shown(name)} is not a name: letters, digits, - and _, at most {LONGEST_NAME} characters."
        )
    return name


def _one_of(word: str, valid: Collection[str], what: str) -> str:
    if word not in valid:
        raise _Wrong(f'there is no {what} "{word}".{hint(word, valid)}')
    return word


def _pairs(node: Any, valid: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if _kind(node) != "mapping":
        raise _Wrong(f"must be written as {{{valid[0]}: ..., {valid[1]}: ...}}.")
    seen: set[str] = set()
    for key, value in node.value:
        word = str(key.value) if _kind(key) == "scalar" else "?"
        if word not in valid:
            raise _Wrong(f'has no key "{word}".{hint(word, valid)}')
        if word in seen:
            raise _Wrong(f'"{word}" stands twice.')
        seen.add(word)
        yield word, value


def _model(node: Any) -> Iterator[tuple[str, str]]:
    if _kind(node) == "scalar":
        word = _text(node)
        yield from (("steps", word), ("final", word))
        return
    words = {key: _text(value) for key, value in _pairs(node, ("steps", "final"))}
    if not words:
        raise _Wrong("is empty.")
    one = next(iter(words.values()))
    yield from (("steps", words.get("steps", one)), ("final", words.get("final", one)))


def _limits(node: Any) -> Limits:
    return Limits(**{key: _positive(key, value) for key, value in _pairs(node, LIMITS)})


def _approve(node: Any) -> tuple[tuple[str, str], ...]:
    """One rule for every tool, or a rule for each by name."""
    if _kind(node) == "scalar":
        return (("*", _rule(node)),)
    if _kind(node) != "mapping":
        raise _Wrong("must be a rule, or written as {tool: rule, ...}.")
    return tuple((_text(tool), _rule(rule)) for tool, rule in node.value)


def _rule(node: Any) -> str:
    rule = _text(node)
    try:
        condition_of(rule)
    except ValueError as error:
        raise _Wrong(f"{error}.") from None
    return rule


def _positive(name: str, node: Any) -> Any:
    text = _text(node)
    number = number_from_text(name, text)
    whole = name != "seconds"
    if isinstance(number, str) or (whole and not isinstance(number, int)) or not 0 < number < 1e15:
        kind = "a whole number" if whole else "a number"
        raise _Wrong(f"{name} must be {kind} above 0, not {shown(text)}.")
    return number


def _tool_names(node: Any) -> tuple[str, ...] | None:
    """None for all: left empty, or a star."""
    if _kind(node) == "mapping":
        raise _Wrong("must be a list of names, or names with commas between them.")
    if _kind(node) == "scalar":
        if node.tag.endswith(":null"):
            return None
        words = split_tools(str(node.value))
    else:
        words = tuple(name for item in node.value for name in split_tools(_text(item)))
    return None if words == ("*",) else tuple(dict.fromkeys(words))
