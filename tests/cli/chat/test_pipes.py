"""The chat through a pipe: plain lines in, plain lines out."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from _pytest.capture import CaptureFixture

from orchestra.cli.main import run
from tests.cli.chat.terminal import command, environment, piped
from tests.resume.cut import write_documents


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own to be in, and nothing of the person who runs the tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OPENAI_API_KEY", "ORCHESTRA_STORE", "ORCHESTRA_MODELS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def chat(capsys: CaptureFixture[str], typed: str, *arguments: str, code: int = 0) -> str:
    """The same in this process, which costs no start; the built-in model."""
    capsys.readouterr()
    reads, writes = os.pipe()
    os.write(writes, typed.encode())
    os.close(writes)
    with pytest.MonkeyPatch.context() as patch, open(reads, encoding="ascii") as lines:
        patch.setattr("sys.stdin", lines)
        assert run(["chat", "--models", "extractive", *arguments]) == code
    said = capsys.readouterr()
    return said.out if code == 0 else said.err


def test_questions_and_commands_through_a_pipe(here: Path, capsys: CaptureFixture[str]) -> None:
    """Answers cite the documents; every command works; the next call goes on with the talk."""
    write_documents(here / "docs")
    typed = ["How long do cats sleep?", "/context", "/tokens", "/why b2", "/pin b2", "/recall cats", "/nope"]
    said = chat(capsys, "\n".join(typed), "--docs", "docs")
    first = said.splitlines()[0]
    assert (
        first == "extractive (built in, no language model) answers with sentences of the 2 documents in docs."
    )
    assert "> How long do cats sleep?" in said
    assert "- Cats sleep 13 hours a day. [s1]" in said
    assert "[s1] cats.md, Cats" in said
    assert "history" in said
    assert "█" in said or "▏" in said
    assert "the task as first stated" in said
    assert "this turn" in said
    assert "b2 stays whatever happens" in said
    assert 'Did you mean "/' in said or "Valid:" in said
    again = chat(
        capsys,
        "/unpin b2\n/compact\n/restore\n/diff\n/save talk.md\n/clear\n/help\n/quit\nnever",
        "--docs",
        "docs",
    )
    assert "going on with the talk" in again
    assert "1 turn (--new begins another)" in again
    assert "- Cats sleep 13 hours a day. [s1]" in again
    assert "b2 may leave again" in again
    assert "messages that came" in again
    assert "never" not in again.splitlines()
    saved = (here / "talk.md").read_text(encoding="utf-8")
    assert "## You\n\nHow long do cats sleep?" in saved
    assert "- s1: cats.md, Cats" in saved
    new = chat(capsys, "", "--docs", "docs", "--new")
    assert "going on" not in new
    (here / "docs").rename(here / "elsewhere")
    assert "--docs says where it is now" in chat(capsys, "/context", "--session", "last")
    moved = chat(capsys, "Do dogs need it?", "--session", "last", "--docs", "elsewhere")
    assert "the 2 documents in elsewhere" in moved
    assert "They need it." in moved


def test_without_documents_it_says_what_is_needed(here: Path, capsys: CaptureFixture[str]) -> None:
    """In its first line and in its answer, in the question's language."""
    said = chat(capsys, "hi\n你好\n")
    assert "name a folder with --docs" in said.splitlines()[0]
    assert "Name a folder with --docs" in said
    assert "请用 --docs 指定一个文件夹" in said


def test_any_bytes_are_input(tmp_path: Path) -> None:
    """What is no UTF-8, escape sequences and a NUL: they are data, and reach no terminal."""
    said = piped(tmp_path, "a\udcff \x1b[31mred\x00 你好 b?\n/why b2\n", "--models", "extractive", LC_ALL="C")
    assert "\x1b" not in said
    assert "\x00" not in said
    assert "red" in said
    assert "你好" in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--agent", "char"], "nearest: chat"),
        (["--agent", "researcher"], "name their folder with --docs"),
        (["--docs", "nowhere"], "nowhere"),
        (["--session", "zzz"], "zzz"),
        (["--new", "--session", "x"], "leave one of them out"),
    ],
)
def test_mistakes_are_one_sentence(
    arguments: list[str], sentence: str, here: Path, capsys: CaptureFixture[str]
) -> None:
    """And the exit code says so."""
    assert sentence in chat(capsys, "", *arguments, code=2)


def test_a_role_to_be_mended_ends_the_program(here: Path, capsys: CaptureFixture[str]) -> None:
    """It names what is wrong, once, whatever else is said."""
    (here / "agents").mkdir()
    (here / "agents" / "odd.md").write_text("---\nname: odd\ndescription: d\ntools: [fly_away]\n---\nFly.\n")
    said = chat(capsys, "up\nand away\n", "--agent", "odd", code=2)
    assert "fly_away" in said


def test_other_commands_know_talks(here: Path, capsys: CaptureFixture[str]) -> None:
    """sessions lists one, show tells it, replay runs it with no model, resume says how to go on."""
    chat(capsys, "hello there\n")

    def called(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        assert run(list(arguments)) == code
        said = capsys.readouterr()
        return said.out + said.err

    assert "hello there" in called("sessions")
    shown = called("show", "last")
    assert "hello there" in shown
    assert "answered" in shown
    assert json.loads(called("replay", "last"))[0]["outcome"]["status"] == "done"
    assert "orchestra chat --session" in called("resume", "last", code=2)


def test_a_reader_that_has_gone_ends_the_talk_in_order(tmp_path: Path) -> None:
    """As behind `| head`: no traceback, and the session is done."""
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        command("--models", "extractive"),
        input=b"hello\n/context\nhello\n",
        stdout=writes,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(tmp_path),
        check=False,
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (0, b"")
