"""Streamed text broken into lines between words, as it comes."""

from __future__ import annotations

import re

from rich.cells import cell_len

FENCE = "```"
_BEGINNING = 12  # characters of a line that say what it is
_ITEM = re.compile(r" *(?:[-*•]|\d{1,3}[.)]) +")


class Wrapper:
    """`feed` gives what can be printed by now, `end` the rest. `width` in columns; 0: lines are left alone.

    Wide characters may stand at the end of any line; an item of a list goes on below its text; lines of code
    are left as they are.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._column = 0
        self._spaces = 0
        self._word = ""
        self._begun = ""  # the first characters of the line, as it came
        self._in_code = False

    def feed(self, text: str) -> str:
        if not self._width:
            return text
        return "".join(map(self._take, text))

    def end(self) -> str:
        return self._flushed()

    def _take(self, char: str) -> str:
        if char == "\n":
            shown = self._flushed() + "\n"
            if self._begun.strip().startswith(FENCE):
                self._in_code = not self._in_code
            self._column, self._spaces, self._begun = 0, 0, ""
            return shown
        self._begun += char if len(self._begun) < _BEGINNING else ""
        if self._in_code:
            return char
        if char == " ":
            shown = self._flushed()
            self._spaces += 1
            return shown
        if cell_len(char) > 1:
            shown = self._flushed()
            self._word = char
            return shown + self._flushed()
        self._word += char
        return ""

    def _flushed(self) -> str:
        """The word that is waiting, on this line or the next."""
        if not self._word:
            return ""
        cells = cell_len(self._word)
        if self._column and self._column + self._spaces + cells > self._width:
            item = _ITEM.match(self._begun)
            indent = len(item[0]) if item is not None else 0
            shown = "\n" + " " * indent + self._word
            self._column = indent + cells
        else:
            shown = " " * self._spaces + self._word
            self._column += self._spaces + cells
        self._word, self._spaces = "", 0
        return shown
