"""The chat in tmux, which is a real terminal: what a person sees in one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests.cli.chat.terminal import SECONDS, command, environment
from tests.cli.chat.test_terminal import answering, asked, streamed
from tests.models.loopback import HANG, HEAD, event, piece

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        shutil.which("tmux") is None,
        reason="tmux is not installed; test_terminal.py does the same in a terminal of its own",
    ),
]
PASTED = "\n".join(f"line {number} says 你好 and more" for number in range(20_000 // 25))[:20_000]
COMMANDS = {
    "/context": "▏░░░",
    "/why b2": "never leaves",
    "/tokens": "this turn",
    "/pin b3": "b3 stays",
    "/unpin b3": "b3 may leave",
    "/recall zebra": "Nothing",
    "/compact": "Nothing can leave",
    "/restore": "There is no summary yet",
    "/diff": "turn 1 → turn 2",
    "/save talk.md": "saved: talk.md",
    "/help": "this list",
    "/nope": "There is no /nope",
}
_LOOK_SECONDS = 0.05


class Tmux:
    """A server of its own, 60 columns wide."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = f"orchestra-{folder.name}-{id(self):x}"

    def run(self, *arguments: str, text: str | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, "-f", "/dev/null", "-u", *arguments],
            input=text,
            capture_output=True,
            text=True,
            cwd=self._folder,
            env=environment(self._folder),
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, *arguments: str) -> None:
        program = command(*arguments)
        self.run("new-session", "-d", "-x", "60", "-y", "40", *program, ";", "set", "remain-on-exit", "on")

    async def until(self, wanted: str) -> str:
        """Wait for a text on the screen."""
        return await self._until(wanted, "capture-pane", "-p", "-S", "-500")

    async def ended(self) -> None:
        """Wait for the program's end."""
        await self._until("1", "list-panes", "-F", "#{pane_dead}")

    async def _until(self, wanted: str, *look: str) -> str:
        shown = ""
        with anyio.move_on_after(SECONDS):
            while wanted not in (shown := self.run(*look)):  # noqa: ASYNC110 - tmux tells nobody what it draws
                await anyio.sleep(_LOOK_SECONDS)
            return shown
        raise AssertionError(f"waited for {wanted!r}; tmux shows:\n{shown}")

    def type(self, text: str) -> None:
        self.run("send-keys", "-l", text)
        self.run("send-keys", "Enter")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    made = Tmux(tmp_path)
    yield made
    made.run("kill-server")


async def test_a_talk_in_tmux(tmux: Tmux) -> None:
    """Ctrl-C in an answer, a paste of 20,000 characters, Chinese, a look at the context, a restart."""
    dripping = [HEAD, piece(event({"content": "It begins "})), piece(event({"content": "well "})), HANG]
    async with answering(dripping, streamed("收到", "了。"), streamed("再见。")) as server:
        arguments = ["--endpoint", server.url, "--large", "served"]
        tmux.start(*arguments)
        await tmux.until("chat · /help")
        tmux.type("你好吗？")
        await tmux.until("It begins")
        tmux.run("send-keys", "C-c")
        await tmux.until("(stopped; what stands above stays in the talk")
        with anyio.fail_after(SECONDS):
            await server.closed.wait()
        await tmux.until("chat · 1 turn")
        tmux.run("load-buffer", "-", text=PASTED)
        tmux.run("paste-buffer", "-p")
        await tmux.until("[pasted text 1: 20,000 characters")
        tmux.run("send-keys", "Enter")
        await tmux.until("收到了。")
        assert asked(server)[-1][-1]["content"].startswith(PASTED)
        await tmux.until("chat · 2 turns")
        for typed, answer in COMMANDS.items():
            tmux.type(typed)
            await tmux.until(answer)
        tmux.run("send-keys", "C-d")
        await tmux.ended()
        tmux.run("respawn-pane", "-k", *command(*arguments))
        await tmux.until("2 turns (--new")
        tmux.type("再见")
        await tmux.until("再见。")
        said = [each["content"] for each in asked(server)[-1] if each["role"] == "user"]
        assert said[0] == "你好吗？"
