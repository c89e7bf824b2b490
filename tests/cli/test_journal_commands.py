"""sessions, show and context: what a person sees of the journal."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from orchestra.cli import main as commands
from orchestra.context.blocks import Entry
from orchestra.context.manifest import Manifest
from orchestra.errors import InputError, StoreError
from orchestra.journal.journal import Journal
from orchestra.journal.prompts import Moment, PromptTrail, Sent, reply_event
from orchestra.journal.rows import SessionStart
from orchestra.values.events import Event
from orchestra.values.messages import Message, Reply, ToolCall, ToolSpec
from orchestra.values.usage import Usage

SESSION = "20261130-074205-k3f9x0qm"
OTHER = "20261201-000000-abcdefgh"
QUESTION = "龙井茶和普洱茶有什么不同？ How do green teas differ from dark teas when they are old?"
RESULT = "\n".join(f"Line {number} of the passage about tea. \x1b[31m" for number in range(40))
AGENT = "researcher.1"


def manifest(turn: int, *entries: Entry) -> Manifest:
    return Manifest(agent=AGENT, turn=turn, window=1_000, output=50, margin=50, usable=900, entries=entries)


async def record(store: Path) -> None:
    async with Journal.open(store) as journal:
        await journal.begin(SessionStart(id=SESSION, question=QUESTION, created=100.0))
        put = journal.record
        await put(Event(session=SESSION, agent="", turn=0, kind="started", at=100.0, data={"workflow": "w"}))
        await put(
            Event(
                session=SESSION,
                agent=AGENT,
                turn=0,
                kind="started",
                at=100.5,
                data={},
                texts={"task": QUESTION},
            )
        )
        trail = PromptTrail()
        call = ToolCall("c1", "search_documents", '{"query": "龙井"}')
        first = (Message("system", "Answer from sources."), Message("user", QUESTION))
        fixed = Entry("b1", "fixed", "instructions", 20, 20, why="the role's instructions")
        task = Entry("b2", "input", "input", 30, 30, why="the task")
        tools = (ToolSpec("search_documents", "Finds.", {"type": "object"}),)
        sent = Sent(first, tools, manifest(1, fixed, task))
        await trail.record(put, Moment(SESSION, AGENT, 1, 101.0), sent)
        reply = Reply(calls=(call,), model="m", usage=Usage(1, 1_200, 30, cost=0.25), seconds=1.5)
        await put(reply_event(Moment(SESSION, AGENT, 1, 102.5), reply, {"tier": "small"}))
        said = (Message("assistant", calls=(call,)), Message("tool", RESULT, call_id="c1"))
        asked = Entry("b3", "history", "reply", 9, 9)
        cut = Entry("b4", "history", "search_documents", 100, 400, "trimmed", "room was needed", ref="r1")
        gone = Entry("b5", "history", "read_document", 0, 90, "offloaded", "over 75 %", ref="r2")
        await trail.record(
            put,
            Moment(SESSION, AGENT, 2, 103.0),
            Sent((*first, *said), tools, manifest(2, fixed, task, asked, cut, gone)),
        )
        await put(
            Event(
                session=SESSION,
                agent=AGENT,
                turn=2,
                kind="failed",
                at=104.0,
                data={"reason": "The model is gone."},
            )
        )
        await journal.finish(SESSION, "partial", at=105.0)
        await journal.begin(SessionStart(id=OTHER, question="Why?", created=200.0))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    anyio.run(partial(record, path))
    return path


def call(store: Path, *arguments: str, width: int = 100) -> Result:
    environment = {"COLUMNS": str(width), "ORCHESTRA_CONFIG": "", "OPENAI_API_KEY": ""}
    return CliRunner(env=environment).invoke(commands.group, [*arguments, "--store", str(store)])


def printed(store: Path, *arguments: str, width: int = 100) -> str:
    result = call(store, *arguments, width=width)
    assert result.exit_code == 0, result.exception
    return result.output


def test_sessions_are_listed_newest_first(store: Path) -> None:
    """With what they used, in a table where there is room for one."""
    head, newest, older = printed(store, "sessions", width=120).splitlines()
    assert head.split() == ["session", "when", "status", "agents", "calls", "tokens", "cost", "question"]
    assert newest.startswith(OTHER)
    assert older.split()[:8] == [SESSION, *older.split()[1:3], "partial", "1", "1", "1,230", "$0.2500"]
    assert printed(store, "sessions", "--limit", "1").splitlines()[0].startswith(OTHER)


def test_sessions_as_json_hold_the_whole_question(store: Path) -> None:
    """Programs read numbers and the question as it was asked."""
    [_, found] = json.loads(printed(store, "sessions", "--json"))
    assert (found["question"], found["tokens"], found["cost"]) == (QUESTION, 1_230, 0.25)


@pytest.mark.parametrize("width", [60, 100, 160])
@pytest.mark.parametrize(
    "command",
    [("sessions",), ("show", SESSION), ("context", SESSION), ("context", SESSION, "--diff", "1", "2")],
)
def test_no_line_is_wider_than_the_terminal(store: Path, command: tuple[str, ...], width: int) -> None:
    """Chinese characters take two columns; text from documents brings no escape sequences along."""
    output = printed(store, *command, width=width)
    assert max(map(cell_len, output.splitlines())) <= width
    assert "\x1b" not in output


def test_show_tells_the_story(store: Path) -> None:
    """Agents as branches, an event a line with its time and numbers, failures with their reason."""
    output = printed(store, "show", SESSION[:10], width=140)
    assert f"├─ {AGENT}" in output
    assert "+1.00 s  prompt        1: 2 messages" in output
    assert "1,200 in, 30 out · $0.2500 · 1.50 s · search_documents" in output
    assert "failed        The model is gone." in output


def test_show_as_json_has_every_event(store: Path) -> None:
    """In order, with texts; prompts are left to `context`."""
    story = json.loads(printed(store, "show", SESSION, "--json"))
    assert [event["seq"] for event in story["events"]] == list(range(1, 7))
    assert story["events"][1]["texts"] == {"task": QUESTION}
    assert story["status"] == "partial"


def test_context_prints_the_prompt_zone_by_zone(store: Path) -> None:
    """Tokens by zone, messages under their blocks with reasons, what is not in it with its reference."""
    output = printed(store, "context", SESSION, width=120)
    assert f"{AGENT} · turn 2 of 2" in output
    assert "history     109   12.1%  ████▉░" in output
    assert "[fixed] b1 · instructions · 20 tokens · the role's instructions" in output
    assert (
        '[history] b4 · search_documents · 100 of 400 tokens · trimmed · room was needed · recall("r1")'
        in output
    )
    assert "→ search_documents" in output
    assert "29 lines more (--full)" in output
    assert (
        "not in the prompt\n[history] b5 · read_document · 0 of 90 tokens · offloaded · over 75 %" in output
    )
    assert output.rstrip().endswith('recall("r2")')
    assert "Line 20 of" not in output
    assert "Line 20 of" in printed(store, "context", SESSION, "--full")


def test_context_of_a_turn_as_json(store: Path) -> None:
    """The messages, tools and manifest as they were."""
    found = json.loads(printed(store, "context", SESSION, "--agent", "res", "--turn", "1", "--json"))
    assert [message["text"] for message in found["messages"]] == ["Answer from sources.", QUESTION]
    assert found["tools"][0]["name"] == "search_documents"
    assert [entry["block"] for entry in found["manifest"]["entries"]] == ["b1", "b2"]
    assert {entry["fate"] for entry in found["manifest"]["entries"]} == {"kept"}


def test_context_shows_what_changed(store: Path) -> None:
    """Blocks that came, and the messages with them."""
    output = printed(store, "context", SESSION, "--diff", "1", "2", width=120)
    assert "50 → 159 tokens (+109)" in output
    assert "+ [history] b4 · search_documents" in output
    assert "messages that came: 2" in output
    assert "Answer from sources." not in output


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (("show", "20270101"), InputError, "the nearest: "),
        (("context", SESSION, "--agent", "writer"), InputError, f"there are: {AGENT}."),
        (("context", SESSION, "--turn", "9"), InputError, "it has 1 to 2."),
        (("context", OTHER), InputError, "No prompt is recorded"),
    ],
)
def test_what_is_not_there_is_named(
    store: Path, arguments: tuple[str, ...], error: type[Exception], sentence: str
) -> None:
    """One sentence with the nearest that is there; `main` makes it exit code 2."""
    found = call(store, *arguments).exception
    assert isinstance(found, error)
    assert sentence in str(found)


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """Reading commands create nothing."""
    found = call(tmp_path / "none.db", "sessions").exception
    assert isinstance(found, StoreError)
    assert not list(tmp_path.iterdir())


def test_a_terminal_that_claims_ascii_ends_nothing(store: Path) -> None:
    """UTF-8 is written whatever the terminal says."""
    code = "from orchestra.cli.main import main; main()"
    environment = {"PYTHONIOENCODING": "ascii", "COLUMNS": "60"}

    async def run() -> bytes:
        command = [sys.executable, "-c", code, "show", SESSION, "--store", str(store)]
        done = await anyio.run_process(command, env={**os.environ, **environment})
        return done.stdout

    assert "龙井茶" in anyio.run(run).decode("utf-8")
