"""`orchestra eval context`: tables, JSON, exit codes, and mistakes in one sentence."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from orchestra.cli.main import run
from orchestra.eval.find import shipped_folder

ROOT = Path(__file__).parent.parent.parent
GOOD = """name: good
title: Good
turns:
  - {user: "Never write to Oslo.", reply: Understood, needs: []}
  - {user: "And now?", reply: "Not to Oslo.", shows: [Never write to Oslo]}
"""
BAD = GOOD.replace("good", "bad").replace("shows: [Never write to Oslo]", "shows: [Bergen]")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "good.yaml").write_text(GOOD, encoding="utf-8")
    return tmp_path


def test_what_passes_ends_with_zero(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for the scenario, a row for all, and a sentence."""
    assert run(["eval", "context", "good.yaml"]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split() == (
        "scenario recall wrong peak used prefix tokens turns compactions".split()
    )
    assert "all pass under chat" in shown


def test_what_fails_ends_with_one_and_says_where(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file and the line of the expectation that did not hold."""
    (folder / "bad.yaml").write_text(BAD, encoding="utf-8")
    assert run(["eval", "context", ".", "--policy", "tools"]) == 1
    shown = capsys.readouterr().out
    assert 'bad.yaml:5: bad under tools, turn 2: "Bergen" is not in the prompt' in shown
    assert "1 scenario of 2 fail under tools" in shown


def test_two_policies_are_compared_in_one_object(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has both, the differences by scenario and of all; the exit code is the first policy's."""
    names = ["--only", "peanut-allergy", "--only", "zh-预算更正"]
    assert run(["eval", "context", "--against", "naive", "--json", *names]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["policy"], found["against"]) == ("chat", "naive")
    assert [each["name"] for each in found["scenarios"]] == ["peanut-allergy", "zh-预算更正"]
    for each in found["scenarios"]:
        mine, other = each["under"]["chat"], each["under"]["naive"]
        assert each["difference"]["tokens"] == other["tokens"] - mine["tokens"]
        assert mine["success"] == 1.0
        assert not mine["problems"]
        assert other["problems"]
    assert found["difference"]["success"] == found["all"]["naive"]["success"] - 1.0


def test_a_table_of_two_policies_has_the_differences(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In brackets in each row, and in a row of their own for all."""
    assert run(["eval", "context", "good.yaml", "--against", "naive"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert "(" in rows[1]
    assert [row.split("  ")[0] for row in rows[3:6]] == ["all under chat", "all under naive", "difference"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.yaml"], "missing.yaml: There is no such file or folder."),
        (["empty"], "There are no scenarios (*.yaml) in this folder."),
        (["broken.yaml"], "broken.yaml:1: This is not valid YAML"),
        (["good.yaml", "--policy", "chta"], '--policy: there is no policy "chta". Did you mean "chat"?'),
        (["good.yaml", "--against", "chat-facs"], '--against: there is no mechanism "facs"'),
        (["good.yaml", "--against", "chat"], "--against: 'chat' is the policy itself."),
        (["good.yaml", "--only", "goood"], 'There is no scenario "goood". Did you mean "good"?'),
        (["good.yaml", "--live", "--tier", "huge"], "No tier and no model is called 'huge'"),
    ],
)
def test_a_mistake_is_one_sentence(
    folder: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error, with exit code 2."""
    (folder / "empty").mkdir()
    (folder / "broken.yaml").write_text("name: [", encoding="utf-8")
    assert run(["eval", "context", *arguments]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert "Traceback" not in shown.err
    assert not shown.out


def test_live_asks_the_configured_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a key that is the built-in one, which is said; prompts are checked all the same."""
    assert run(["eval", "context", "good.yaml", "--live"]) == 0
    assert "extractive" in capsys.readouterr().err


def test_interrupted_it_says_so(folder: Path) -> None:
    """Ctrl-C while a model is asked ends it with one line and 130."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        (folder / "orchestra.toml").write_text(
            f'[endpoints.here]\nurl = "{url}"\n[tiers.small]\nmodel = "m"\nwindow = 8000\n', encoding="utf-8"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-m", "orchestra", "eval", "context", "good.yaml", "--live"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        with process, server.accept()[0]:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().splitlines()[-1] == "orchestra: interrupted"
    assert "Traceback" not in out + err


def test_the_suite_ships() -> None:
    """Its files lie in the package, so that they are there when it is installed."""
    assert len(list(shipped_folder().glob("*.yaml"))) >= 30
