"""`orchestra memory`: list, show, forget; and that forgotten is gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner

from orchestra.cli.main import group, run
from tests.memory.remembering import kept, talked

ROOT = Path(__file__).parents[2]
SAID = ["My budget is $1,200.", "Never book hotels without BREAKFAST-CANARY."]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in which Ada and Bob have said something, Ada twice."""
    monkeypatch.chdir(tmp_path)
    anyio.run(partial(talked, tmp_path, SAID, user="ada"))
    anyio.run(partial(talked, tmp_path, ["Actually, my budget is $1,500."], user="ada"))
    anyio.run(partial(talked, tmp_path, ["My budget is $9,000."], user="bob"))
    return tmp_path / "store.db"


def said(store: Path, *arguments: str) -> str:
    result = CliRunner().invoke(group, ["memory", *arguments, "--store", str(store)], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.output


def refused(store: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["memory", *arguments, "--store", str(store)]) == 2
    return capsys.readouterr().err.strip()


def test_list_and_show(store: Path) -> None:
    """What holds, and of one thing what it was before and where it was said."""
    listed = said(store, "list", "--user", "ada")
    assert listed.splitlines() == [
        "m2     constraint Never book hotels without BREAKFAST-CANARY.",
        "m3     fact       budget: Actually, my budget is $1,500.",
    ]
    shown = said(store, "show", "budget", "--user", "ada")
    assert "My budget is $1,200." in shown
    assert ", until " in shown
    assert "$9,000" not in listed + shown
    assert said(store, "list", "--project", "tea") == "Nothing is kept of project tea.\n"
    values = json.loads(said(store, "list", "--user", "bob", "--json"))
    assert [(value["id"], value["key"], value["value"]) for value in values] == [("m4", "budget", "$9,000")]


def test_forget_one(store: Path) -> None:
    """With its history; the other things and the other users stay."""
    done = said(store, "forget", "budget", "--user", "ada")
    assert done.startswith(
        "Forgotten: 2 memories of user ada.\nThe words still stand in the records of 2 sessions"
    )
    assert "orchestra store prune --session" in done
    left = anyio.run(partial(kept, store.parent, "ada"))
    assert [memory.id for memory in left] == ["m2"]
    assert len(anyio.run(partial(kept, store.parent, "bob"))) == 1


def test_forgotten_is_gone_from_the_file(store: Path) -> None:
    """Once the records that it names are pruned too, its words are nowhere in the store."""
    gone = json.loads(said(store, "forget", "m2", "--user", "ada", "--json"))
    for name in gone["sessions"]:
        assert run(["store", "prune", "--session", name, "--store", str(store)]) == 0
    files = b"".join(path.read_bytes() for path in store.parent.glob("store.db*"))
    assert b"BREAKFAST-CANARY" not in files
    (prompt,) = anyio.run(partial(talked, store.parent, ["Where do I sleep?"], user="ada"))
    assert "BREAKFAST" not in prompt


def test_forget_everything(store: Path) -> None:
    """Of one user, not of the other."""
    assert said(store, "forget", "--all", "--user", "ada").startswith("Forgotten: 3 memories of user ada.")
    assert anyio.run(partial(kept, store.parent, "ada")) == ()
    assert said(store, "forget", "--all", "--user", "ada") == "Forgotten: 0 memories of user ada.\n"


def test_a_mistake_is_one_sentence(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what to do."""
    assert refused(store, capsys, "list") == (
        "orchestra: Say whose memory: --user ID, --project ID, or both."
    )
    assert refused(store, capsys, "forget", "budgte", "--user", "ada") == (
        "orchestra: Nothing is kept of user ada under 'budgte'; nearest: budget."
    )
    assert refused(store, capsys, "show", "x", "--user", "eve") == "orchestra: Nothing is kept of user eve."
    assert "a KEY that `orchestra memory list` shows, or --all" in refused(
        store, capsys, "forget", "--user", "a"
    )
    assert "The user's id is empty" in refused(store, capsys, "list", "--user", " ")


def test_a_chat_remembers(tmp_path: Path) -> None:
    """What is said to the chat's agent in one talk is shown to it in the next, of the same user only."""
    environ = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    program = "from orchestra.cli.main import main; main()"

    def orchestra(*arguments: str, typed: str = "") -> str:
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(
            command, input=typed, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
        )
        return done.stdout

    chat = ("chat", "--models", "extractive", "--new")
    orchestra(*chat, "--user", "ada", typed="My locker is C-117.\nNever tell anybody.\n")
    assert "locker: My locker is C-117." in orchestra("memory", "list", "--user", "ada")
    for user, there in (("ada", True), ("bob", False)):
        orchestra(*chat, "--user", user, typed="Where is my locker?\n")
        prompt = orchestra("context", "last", "--agent", "chat.1", "--full")
        assert ("C-117" in prompt) is there
        assert ("Never tell anybody." in prompt) is there
