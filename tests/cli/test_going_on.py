"""resume, fork, replay, stop, approvals and store, as a person calls them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import anyio
import pytest
from _pytest.capture import CaptureFixture

from orchestra.cli.main import run
from orchestra.journal.journal import Journal
from orchestra.journal.rows import SessionStart
from orchestra.values.events import Event
from tests.pages import change_events, with_data
from tests.resume.cut import GONE, cut, events, write_documents

QUESTION = "How long do cats sleep?"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: CaptureFixture[str]) -> Path:
    """A folder in which a session was recorded with the built-in model."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write_documents(folder / "docs")
    store = str(folder / "store.db")
    monkeypatch.setenv("ORCHESTRA_STORE", store)
    assert run(["research", QUESTION, "--docs", "docs", "--models", "extractive", "--format", "json"]) == 0
    (folder / "report.json").write_text(capsys.readouterr().out, encoding="utf-8")
    return folder


def called(capsys: CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run(list(arguments)) == code, capsys.readouterr().err
    said = capsys.readouterr()
    return said.out if code == 0 else said.err


def test_a_killed_session_is_resumed_and_replayed(
    home: Path, tmp_path: Path, capsys: CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report is the undisturbed one's but for its time, and the replay is the resumed one's."""
    half = cut(home, len(events(home)) // 2, tmp_path / "half")
    monkeypatch.chdir(half)
    monkeypatch.setenv("ORCHESTRA_STORE", str(half / "store.db"))
    resumed = called(capsys, "resume", "last", "--models", "extractive", "--format", "json", "--quiet")
    undisturbed = json.loads((home / "report.json").read_text(encoding="utf-8"))
    assert {**json.loads(resumed), "seconds": 0} == {**undisturbed, "seconds": 0}
    assert json.loads(called(capsys, "replay", "last", "--format", "json")) == json.loads(resumed)
    assert "resumed" in called(capsys, "show", "last")


def test_another_model_is_said_in_one_sentence(home: Path, capsys: CaptureFixture[str]) -> None:
    """Which agent, which turn, what differs; and the session is left as it was."""
    change_events(
        home / "store.db", lambda event: with_data(event, model="other") if event.kind == "call" else event
    )
    error = called(capsys, "resume", "last", "--models", "extractive", code=2)
    assert "planner.1 differs from the record" in error
    assert "in turn 1: its model, which was other and is extractive" in error
    assert json.loads(called(capsys, "sessions", "--json"))[0]["status"] == "done"
    called(capsys, "resume", "last", "--models", "extractive", "--from-here", "--quiet")
    assert called(capsys, "store", "check").strip() == "The store is whole."


def test_a_fork_answers_another_question(home: Path, capsys: CaptureFixture[str]) -> None:
    """From its point on; the first session is left alone."""
    question = "How far do dogs walk?"
    command = ("fork", "last", "--at", "1", "--question", question, "--models", "extractive", "--quiet")
    assert "Dogs walk 5 km" in called(capsys, *command)
    found = json.loads(called(capsys, "sessions", "--json"))
    assert [each["question"] for each in found] == [question, QUESTION]
    assert "no event 999" in called(capsys, "fork", "last", "--at", "999", "--models", "extractive", code=2)


def test_a_session_is_a_file_and_comes_back(home: Path, capsys: CaptureFixture[str]) -> None:
    """Exported, replayed from the file, pruned, imported; the same each time."""
    called(capsys, "store", "export", "last", "cats.jsonl")
    first = called(capsys, "replay", "cats.jsonl")
    assert "1 session would go" in called(capsys, "store", "prune", "--keep", "0", "--dry-run")
    assert "Gone: 1 session" in called(capsys, "store", "prune", "--keep", "0")
    assert "texts:    0" in called(capsys, "store", "info")
    called(capsys, "store", "import", "cats.jsonl")
    assert called(capsys, "replay", "last") == first
    assert "is in the store already" in called(capsys, "store", "import", "cats.jsonl", code=2)
    assert json.loads(called(capsys, "store", "info", "--json"))["sessions"] == {"done": 1}


def test_what_is_missing_in_a_store_is_named(home: Path, capsys: CaptureFixture[str]) -> None:
    """Each fault on a line of its own, and an exit code."""
    change_events(home / "store.db", lambda event: event if event.seq != 3 else None)
    with sqlite3.connect(home / "store.db") as database:
        database.execute("DELETE FROM blobs WHERE hash = (SELECT hash FROM blobs ORDER BY size DESC LIMIT 1)")
    assert run(["store", "check"]) == 1
    said = capsys.readouterr().out
    assert "its events are not numbered" in said
    assert "is missing." in said


def test_who_is_asked_is_listed_and_answered(home: Path, capsys: CaptureFixture[str]) -> None:
    """What was answered is not asked any more; what is not asked cannot be answered."""
    name = "20261130-074205-k3f9x0qm"

    async def ask() -> None:
        async with Journal.open(home / "store.db") as journal:
            await journal.begin(SessionStart(id=name, question="May I?", created=9e9))
            for number, tool in enumerate(("pay_bill", "send_letter")):
                data = {
                    "key": f"clerk.1/1/{number}",
                    "what": f"clerk.1 wants to call {tool}",
                    "state": "asked",
                }
                asked = Event(
                    session=name,
                    agent="clerk.1",
                    turn=1,
                    kind="approval",
                    at=9e9,
                    data=data,
                    texts={"detail": "{}"},
                )
                await journal.record(asked)
            await journal.change(name, "waiting")

    anyio.run(ask)
    with sqlite3.connect(home / "store.db") as database:
        database.execute("UPDATE sessions SET owner = ? WHERE id = ?", (GONE, name))
    assert "clerk.1 wants to call pay_bill" in called(capsys, "approvals")
    assert "clerk.1/1/1: clerk.1 wants to call send_letter" in called(capsys, "approve", name, code=2)
    assert "asked to approve" in called(capsys, "approve", name, "clerk.1/1/0")
    assert "asked to refuse" in called(capsys, "refuse", name, "--reason", "not today")
    assert "Nobody is asked anything." in called(capsys, "approvals")
    assert "asks nothing" in called(capsys, "approve", name, code=2)


def test_a_session_that_is_not_at_work_is_not_stopped(home: Path, capsys: CaptureFixture[str]) -> None:
    """It is said what it is."""
    assert "is not at work: it is done" in called(capsys, "stop", "last")
