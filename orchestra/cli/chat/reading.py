"""Where a chat's input comes from: an editor on a terminal, plain lines elsewhere."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import anyio

from orchestra.cli.chat.screen import Screen

LONG_PASTE_CHARACTERS, LONG_PASTE_LINES = 1_000, 8
"""What is pasted beyond this is shown as one mark in the line that is being typed."""


class Broken(Exception):
    """Ctrl-C at the prompt."""


class Input(Protocol):
    """`read` gives the next input, `ask` the answer to a question; None at the end. Both raise Broken.

    `remember`: what Up brings back.
    """

    async def read(self, label: str) -> str | None: ...

    async def ask(self, label: str) -> str | None: ...

    def remember(self, texts: Iterable[str]) -> None: ...


class Choices(Protocol):
    """What Tab offers: for what was typed, pairs of a completion of its last word and what it is."""

    def __call__(self, typed: str) -> Iterable[tuple[str, str]]: ...


def input_for(screen: Screen, choices: Choices, foot: Callable[[], str]) -> Input:
    """The editor where a person types, plain lines where not. `foot`: the line below what is typed."""
    if sys.stdin.isatty() and screen.live:
        from orchestra.cli.chat.editor import Editor

        return Editor(choices, foot)
    return PlainLines(screen)


@contextmanager
def unheard() -> Iterator[None]:
    """Keys that are pressed while nobody reads them are not shown, and come to the next prompt as they were.

    Ctrl-C works.
    """
    if not sys.stdin.isatty():
        yield
        return
    import termios

    keys = sys.stdin.fileno()
    before = termios.tcgetattr(keys)
    quiet = termios.tcgetattr(keys)
    quiet[0] &= ~termios.ICRNL  # Enter stays Enter, which is not the key for a new line
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(keys, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        with suppress(termios.error):  # the window was closed
            termios.tcsetattr(keys, termios.TCSANOW, before)


class PlainLines:
    """Lines of a pipe or a file, in UTF-8; each is shown as it is taken."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._file = sys.stdin.fileno()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self._over = False

    async def read(self, label: str) -> str | None:
        while "\n" not in self._rest and not self._over:
            with suppress(PermissionError):  # an ordinary file, which can always be read
                await anyio.wait_readable(self._file)
            piece = os.read(self._file, 1 << 16)
            self._over = not piece
            self._rest += self._decode(piece, final=self._over)
        text, _, self._rest = self._rest.partition("\n")
        if not text and self._over and not self._rest:
            return None
        self._screen.say(f"{label}{text}")
        return text

    async def ask(self, label: str) -> str | None:
        return await self.read(label)

    def remember(self, texts: Iterable[str]) -> None:
        """There is nobody who presses Up."""


class Pastes:
    """Long texts that were pasted: a mark stands for each in the line, the text in what is sent."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def mark(self, text: str) -> str:
        """What to show for a pasted text: itself when it is short."""
        lines = text.count("\n") + 1
        if len(text) <= LONG_PASTE_CHARACTERS and lines <= LONG_PASTE_LINES:
            return text
        mark = f"[pasted text {len(self._texts) + 1}: {len(text):,} characters, {lines:,} lines]"
        self._texts[mark] = text
        return mark

    def whole(self, typed: str) -> str:
        """What was typed, with the texts in place of their marks."""
        for mark, text in self._texts.items():
            typed = typed.replace(mark, text)
        return typed
