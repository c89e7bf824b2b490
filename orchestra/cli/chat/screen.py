"""What a chat prints: lines, an answer as it comes, and one passing line while there is nothing else."""

from __future__ import annotations

import sys
from typing import Any

import click

from orchestra.cli.chat.wrapping import Wrapper
from orchestra.cli.printing import columns, line, safe

_ERASE = "\r\x1b[K"
_MARGIN = 1  # a full last column makes some terminals wrap


class Screen:
    """Nothing reaches the terminal that has not gone through `safe`. `muted`: nothing is printed at all."""

    def __init__(self) -> None:
        self.live = sys.stdout.isatty()
        self.muted = False
        self._wrapper: Wrapper | None = None
        self._passing = ""
        self._ends = True  # whether the cursor is at the beginning of a line

    def say(self, text: str = "", **style: Any) -> None:
        """A line, or several; an answer that is being shown ends before it."""
        if self.muted:
            return
        self.end_answer()
        click.echo(click.style(safe(text), **style) if style else safe(text))

    def aside(self, text: str) -> None:
        """One dim line beside the talk."""
        self.say(line(text, columns() - _MARGIN), dim=True)

    def piece(self, text: str) -> None:
        """A piece of an answer."""
        if self.muted or not text:
            return
        self.pass_over("")
        if self._wrapper is None:
            self._wrapper = Wrapper(columns() - _MARGIN if self.live else 0)
        self._write(self._wrapper.feed(safe(text.replace("\r\n", "\n"))))

    def end_answer(self) -> bool:
        """Finish the answer's last line; returns whether there was an answer to finish."""
        self.pass_over("")
        wrapper, self._wrapper = self._wrapper, None
        if wrapper is None:
            return False
        self._write(wrapper.end())
        if not self._ends:
            self._write("\n")
        return True

    def pass_over(self, text: str) -> None:
        """Show a line that the next one takes the place of, on a terminal; "": none."""
        if not self.live or self.muted or self._wrapper is not None or text == self._passing:
            return
        shown = click.style(line(text, columns() - _MARGIN), dim=True) if text else ""
        sys.stdout.write(_ERASE + shown if shown or self._passing else "")
        sys.stdout.flush()
        self._passing = text

    def _write(self, text: str) -> None:
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()
            self._ends = text.endswith("\n")
