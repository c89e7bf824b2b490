"""`orchestra endpoints` and `orchestra simulate` from the shell's side."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from orchestra.cli.endpoints import endpoints
from orchestra.cli.simulate import simulate
from orchestra.errors import InputError
from orchestra.models.compatible.memory import InFile
from orchestra.models.compatible.quirks import Quirks

COMMAND = "from orchestra.cli.simulate import simulate; simulate()"


@pytest.fixture
def address() -> Iterator[str]:
    """A simulated endpoint in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", COMMAND, "--port", "0", "--model", "tiny", "--window", "7000"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield process.stdout.readline().removeprefix("Listening at ").strip()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=20)
    assert re.search(r"Served \d+ of \d+ requests \(\d+ streamed\)", rest)


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        endpoints, ["--config", str(folder / "orchestra.toml"), *arguments], standalone_mode=False
    )


def configured(folder: Path, url: str) -> Path:
    store = f'store = "{folder / "store.db"}"\n'
    text = f'[endpoints.mine]\nurl = "{url}"\n[tiers.small]\nendpoint = "mine"\nmodel = "tiny"\n'
    (folder / "orchestra.toml").write_text(store + text, encoding="utf-8")
    return folder


def test_trying_one_out(tmp_path: Path, address: str) -> None:
    """A probe prints what the endpoint can do; the list shows afterwards who uses it."""
    folder = configured(tmp_path, address)
    tried = run(folder, "test", "mine")
    assert tried.return_value == 0, tried.output
    for line in (
        "models     tiny",
        "window     7,000 tokens",
        "streams    yes, with usage",
        "tools      native",
    ):
        assert line in tried.output
    listed = run(folder)
    assert f"mine: {address} (unknown kind, direct, no key)" in listed.output
    assert "  small: tiny, window 8,192 (assumed), free\n    calls tools" in listed.output


def test_forgetting(tmp_path: Path) -> None:
    """What was learnt of an endpoint is gone; where nothing was, the sentence says of which there is."""
    folder = configured(tmp_path, "http://127.0.0.1:9/v1")
    InFile(folder / "endpoints.json").save("mine", "tiny", Quirks(output="json"))
    wrong = run(folder, "forget", "yours")
    assert str(wrong.exception) == "Nothing is remembered of an endpoint 'yours', only of mine."
    assert run(folder, "forget", "mine").output == "Forgot what was learnt of mine (1 model).\n"
    assert InFile(folder / "endpoints.json").load("mine", "tiny") is None


def test_one_that_is_not_there(tmp_path: Path) -> None:
    """A dead endpoint is exit code 1 and one sentence; an unknown name is the person's mistake."""
    folder = configured(tmp_path, "http://127.0.0.1:9/v1")
    dead = run(folder, "test", "mine")
    assert dead.return_value == 1
    assert "cannot be reached" in dead.output
    unknown = run(folder, "test", "yours")
    assert isinstance(unknown.exception, InputError)
    assert "There is no endpoint 'yours'" in str(unknown.exception)


def test_known_ones() -> None:
    """The table is printed with where each is and where its key is kept."""
    known = CliRunner().invoke(endpoints, ["--known"]).output
    assert re.search(r"deepseek +DeepSeek +https://api.deepseek.com/v1 +DEEPSEEK_API_KEY", known)


@pytest.mark.parametrize("fault", ["explode=0.1", "drop=often", "drop=2"])
def test_faults_that_there_are_not(fault: str) -> None:
    """A fault is a known name and a share; anything else is one sentence."""
    result = CliRunner().invoke(simulate, ["--fault", fault])
    assert isinstance(result.exception, InputError)
    assert "\n" not in str(result.exception)


def test_scripts(tmp_path: Path) -> None:
    """A script that cannot be read is named with what is wrong."""
    path = tmp_path / "script.json"
    path.write_text('[{"when": "x"}]')
    result = CliRunner().invoke(simulate, ["--script", str(path)])
    assert isinstance(result.exception, InputError)
    assert "script.json" in str(result.exception)
