"""What a chat prints: lines, an answer as it comes, and one passing line while there is nothing else."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from orchestra.cli.chat.wrapping import Wrapper
from orchestra.cli.printing import columns, line, safe

_ERASE = "\r\x1b[K"
_GONE = (errno.EPIPE, errno.EIO)
_MARGIN = 1  # a full last column makes some terminals wrap


class Screen:
    """Nothing reaches the terminal that has not gone through `safe`. `muted`: nothing is printed at all.

    `gone`: nobody can see it any more.
    """

    def __init__(self) -> None:
        self.live = sys.stdout.isatty()
        self.muted = False
        self.gone = False
        self._wrapper: Wrapper | None = None
        self._passing = ""
        self._ends = True  # whether the cursor is at the beginning of a line

    def say(self, text: str = "", **style: Any) -> None:
        """A line, or several; an answer that is being shown ends before it."""
        if self.muted:
            return
        self.end_answer()
        shown = safe(text)
        if self.live:
            wrapper = Wrapper(columns() - _MARGIN)
            shown = wrapper.feed(shown) + wrapper.end()
        styled = click.style(shown, **style) if style else shown
        with self.there():
            click.echo(styled)

    def aside(self, text: str, *, indent: int = 0) -> None:
        """One dim line beside the talk."""
        shown = " " * indent + line(text, columns() - _MARGIN - indent)
        self.say(shown, dim=True)

    def note(self, text: str) -> None:
        """The same for what has to be read whole."""
        self.say(text, dim=True)

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
        with self.there():
            sys.stdout.write(_ERASE + shown if shown or self._passing else "")
            sys.stdout.flush()
        self._passing = text

    def _write(self, text: str) -> None:
        if text:
            with self.there():
                sys.stdout.write(text)
                sys.stdout.flush()
            self._ends = text.endswith("\n")

    @contextmanager
    def there(self) -> Iterator[None]:
        """A window that was closed, or a pipe, shows nothing more; the talk ends in order all the same."""
        try:
            yield
        except OSError as error:
            if error.errno not in _GONE:
                raise
            self.muted = self.gone = True
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())  # for what is left in its buffer
            os.close(nowhere)
