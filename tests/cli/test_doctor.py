"""`orchestra doctor`: every prompt of a session examined, with an exit code for scripts."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from orchestra.cli import main as commands
from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.tokens import counter_for
from orchestra.errors import InputError
from orchestra.journal.journal import Journal
from orchestra.journal.prompts import Moment, PromptTrail, Sent
from orchestra.journal.rows import SessionStart
from orchestra.values.messages import Reply

SICK = "20261130-074205-k3f9x0qm"
HEALTHY = "20261201-000000-abcdefgh"


async def record(store: Path) -> None:
    """A healthy session, and one whose second agent is asked about nothing it was told of."""
    async with Journal.open(store) as journal:
        for session, said in ((HEALTHY, "When do you open?"), (SICK, "把它取消吧。")):
            await journal.begin(SessionStart(id=session, question="?", created=100.0))
            for agent, text in (("helper.1", "Do you sell desks?"), ("helper.2", said)):
                await talk(journal, session, agent, text)


async def talk(journal: Journal, session: str, agent: str, text: str) -> None:
    context = Context(
        agent,
        "You help customers.",
        policy=policy_for("chat"),
        window=8_000,
        counter=counter_for("gpt-4o"),
    )
    trail = PromptTrail()
    put = journal.record
    context.add_input(text)
    for turn in (1, 2):
        prompt = context.prompt()
        sent = Sent(prompt.messages, prompt.tools, prompt.manifest)
        await trail.record(put, Moment(session, agent, turn, 100.0 + turn), sent)
        context.record_reply(Reply(text="One moment."))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    anyio.run(partial(record, path))
    return path


def call(store: Path, *arguments: str, width: int = 100) -> Result:
    environment = {"COLUMNS": str(width), "ORCHESTRA_CONFIG": "", "OPENAI_API_KEY": ""}
    return CliRunner(env=environment).invoke(commands.group, ["doctor", *arguments, "--store", str(store)])


def test_a_healthy_session_is_told_in_a_line(store: Path) -> None:
    """All prompts of all agents, exit code 0."""
    result = call(store, HEALTHY)
    assert (result.exit_code, result.output) == (0, f"{HEALTHY}: nothing found in 4 prompts\n")


@pytest.mark.parametrize("width", [60, 100])
def test_a_finding_names_agent_turn_block_and_mend(store: Path, width: int) -> None:
    """Exit code 1; no line is wider than the terminal."""
    result = call(store, SICK, width=width)
    assert result.exit_code == 1
    assert "helper.2 · turn 1\n  absence · b2\n" in result.output
    assert "它" in result.output
    assert "→ Bring back" in result.output
    assert "helper.1" not in result.output
    assert max(map(cell_len, result.output.splitlines())) <= width


def test_one_agent_and_one_turn(store: Path) -> None:
    """What is not asked for is not examined."""
    assert call(store, SICK, "--agent", "helper.1").exit_code == 0
    assert "in 1 of 1 prompt" in call(store, SICK, "--agent", "helper.2", "--turn", "1").output
    assert "of 2 prompts" in call(store, SICK, "--turn", "1").output


def test_findings_as_json(store: Path) -> None:
    """A row a finding, for programs."""
    result = call(store, SICK, "--turn", "1", "--json")
    told = json.loads(result.output)
    assert (result.exit_code, told["session"], told["prompts"]) == (1, SICK, 2)
    (row,) = told["findings"]
    assert (row["agent"], row["turn"], row["disease"], row["block"]) == ("helper.2", 1, "absence", "b2")
    assert row["sentence"]
    assert row["mend"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("20270101",), "the nearest: "),
        ((SICK, "--agent", "writer"), "there are: helper.1, helper.2."),
        ((SICK, "--turn", "9"), "has a turn 9"),
        ((SICK, "--agent", "helper.1", "--turn", "9"), "it has 1 to 2."),
    ],
)
def test_a_mistake_is_named(store: Path, arguments: tuple[str, ...], sentence: str) -> None:
    """One sentence; `main` makes it exit code 2."""
    found = call(store, *arguments).exception
    assert isinstance(found, InputError)
    assert sentence in str(found)


def test_a_mistake_ends_with_two(store: Path) -> None:
    """As everywhere, and not with the code of a finding."""
    assert commands.run(["doctor", "20270101", "--store", str(store)]) == 2
    assert commands.run(["doctor", SICK, "--store", str(store)]) == 1
    assert commands.run(["doctor", HEALTHY, "--store", str(store)]) == 0
