"""On which line each key of a TOML text stands. tomllib, which parses the values, does not say.

The text has been accepted by tomllib, so the scanner only has to find its way past values, not to judge them.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left

KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)+")
_KEY = re.compile(r"[ \t]*(?:([A-Za-z0-9_-]+)|(\"(?:[^\"\\\n]|\\.)*\")|'([^'\n]*)')[ \t]*")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}' r"|'''(?:[^']|'(?!''))*'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}\n#]*")


def key_lines(text: str) -> dict[KeyPath, int]:
    """Path of each key and table, tables in a list by their index, to its line, from 1."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self._ends = [m.start() for m in re.finditer("\n", text)]
        self._lengths: dict[KeyPath, int] = {}  # a list of tables: how many have begun

    def document(self) -> None:
        table: KeyPath = ()
        self._blank()
        while self.at < len(self.text):
            if self.text.startswith("[[", self.at):
                table = self._header(2)
            elif self.text.startswith("[", self.at):
                table = self._header(1)
            else:
                self._pair(table)
            self._blank()

    def _header(self, brackets: int) -> KeyPath:
        start = self.at
        self.at += brackets
        keys = self._dotted()
        self.at += brackets
        path = self._resolve(keys[:-1])
        last = (*path, keys[-1])
        if brackets == 2:
            self._note(last, start)
            self._lengths[last] = self._lengths.get(last, 0) + 1
        last = self._resolve(keys)
        self._note(last, start)
        return last

    def _resolve(self, keys: list[str]) -> KeyPath:
        """The path that a header's keys lead to: through a list of tables, to its last one."""
        path: KeyPath = ()
        for key in keys:
            path = (*path, key)
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        return path

    def _pair(self, table: KeyPath) -> None:
        start = self.at
        path = (*table, *self._dotted())
        self._note(path, start)
        self.at += 1  # the equals sign
        self._blank()
        self._value(path)

    def _dotted(self) -> list[str]:
        keys: list[str] = []
        while match := _KEY.match(self.text, self.at):
            bare, basic, literal = match.groups()
            keys.append(
                tomllib.loads(f"key = {basic}")["key"] if basic else literal if bare is None else bare
            )
            self.at = match.end()
            if not self.text.startswith(".", self.at):
                break
            self.at += 1
        return keys

    def _value(self, path: KeyPath) -> None:
        if self.text.startswith("{", self.at):
            self._items("}", path)
        elif self.text.startswith("[", self.at):
            self._items("]", path)
        else:
            match = _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
            assert match is not None
            self.at = match.end()

    def _items(self, end: str, path: KeyPath) -> None:
        """An inline table or a list."""
        self.at += 1
        index = 0
        self._blank()
        while not self.text.startswith(end, self.at):
            if end == "}":
                self._pair(path)
            else:
                self._note((*path, index), self.at)
                self._value((*path, index))
                index += 1
            self._blank()
            if self.text.startswith(",", self.at):
                self.at += 1
                self._blank()
        self.at += 1

    def _blank(self) -> None:
        if match := _BLANK.match(self.text, self.at):
            self.at = match.end()

    def _note(self, path: KeyPath, start: int) -> None:
        line = bisect_left(self._ends, start) + 1
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)
