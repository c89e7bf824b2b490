"""A terminal in Python: a program behind a pty, and what its screen shows; and the chat through a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pyte

ROOT = Path(__file__).parents[3]
SECONDS = 30.0
"""How long a text may take to appear; the machine may have other work."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """Nothing of the person who runs the tests: their keys, their settings, their store."""
    paths = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {
        **paths,
        "HOME": str(home),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH", "")])]),
        "TERM": "xterm-256color",
        "LANG": "C",
        **more,
    }


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "orchestra", "chat", *arguments]


def piped(home: Path, typed: str, *arguments: str, code: int = 0, **more: str) -> str:
    """The chat with this input through a pipe: what it wrote."""
    done = subprocess.run(
        command(*arguments),
        input=typed.encode("utf-8", "surrogateescape"),
        capture_output=True,
        cwd=home,
        env=environment(home, **more),
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode("utf-8")


class _Screen(pyte.HistoryScreen):  # type: ignore[misc, unused-ignore]  # pyte has no types
    """Answers what a program asks its terminal, such as where the cursor is."""

    answer: Callable[[bytes], object]

    def write_process_input(self, data: str) -> None:
        self.answer(data.encode())


class Terminal:
    """`columns` and `lines` as on a real one; `raw` is every byte that came."""

    def __init__(self, columns: int, lines: int) -> None:
        self.columns = columns
        self.raw = b""
        self._screen: Any = _Screen(columns, lines, history=5_000)
        self._stream: Any = pyte.ByteStream(self._screen)
        self._keys, self._back = pty.openpty()
        fcntl.ioctl(self._back, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        os.set_blocking(self._keys, False)
        self._screen.answer = lambda data: os.write(self._keys, data)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, arguments: list[str], folder: Path, environ: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            arguments,
            stdin=self._back,
            stdout=self._back,
            stderr=self._back,
            cwd=folder,
            env=environ,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is a signal
        )
        os.close(self._back)

    @property
    def shown(self) -> str:
        """The screen and what has scrolled out of it, without the blanks at the ends of the lines."""
        gone = ["".join(row[at].data for at in range(self.columns)) for row in self._screen.history.top]
        return "\n".join(each.rstrip() for each in [*gone, *self._screen.display])

    async def type(self, text: str) -> None:
        """Press keys; what the program shows meanwhile is read, or it would wait for us."""
        data = text.encode("utf-8")
        with anyio.fail_after(SECONDS):
            while data:
                try:
                    data = data[os.write(self._keys, data[:512]) :]
                except BlockingIOError:
                    keys = [self._keys]
                    can_read, _, _ = await anyio.to_thread.run_sync(select.select, keys, keys, [], SECONDS)
                    if can_read:
                        await self._more()

    async def paste(self, text: str) -> None:
        """As a terminal does that was asked to mark what is pasted."""
        await self.type(f"\x1b[200~{text}\x1b[201~")

    async def until(self, wanted: str | Callable[[str], bool], seconds: float = SECONDS) -> str:
        """Wait until the screen shows a text; returns all that it shows."""
        holds = wanted if callable(wanted) else lambda shown: wanted in shown
        try:
            with anyio.fail_after(seconds):
                while not holds(self.shown):
                    await self._more()
        except (TimeoutError, OSError) as error:
            raise AssertionError(f"waited for {wanted!r}; the screen shows:\n{self.shown}") from error
        return self.shown

    async def ends(self, code: int = 0, seconds: float = SECONDS) -> None:
        """Wait for the program's end."""
        assert self.process is not None
        with anyio.fail_after(seconds):
            while True:
                try:
                    await self._more()
                except OSError:  # the other end is closed
                    break
        assert await anyio.to_thread.run_sync(self.process.wait) == code, self.shown

    async def hang_up(self) -> None:
        """Close the window, and wait for the program's end."""
        assert self.process is not None
        keys, self._keys = self._keys, os.open(os.devnull, os.O_RDWR)
        os.close(keys)
        with anyio.fail_after(SECONDS):
            await anyio.to_thread.run_sync(self.process.wait, abandon_on_cancel=True)

    async def _more(self) -> None:
        await anyio.wait_readable(self._keys)
        data = os.read(self._keys, 1 << 16)
        if not data:
            raise OSError("the program has ended")
        self.raw += data
        self._stream.feed(data)

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._keys)


@asynccontextmanager
async def terminal(
    home: Path, *arguments: str, columns: int = 100, lines: int = 40, **more: str
) -> AsyncIterator[Terminal]:
    """The chat in a terminal, until the block ends."""
    made = Terminal(columns, lines)
    try:
        made.start(command(*arguments), home, environment(home, **more))
        yield made
    finally:
        made.close()
