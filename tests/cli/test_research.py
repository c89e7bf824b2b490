"""`orchestra research` as a person calls it, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.abc
import pytest

from orchestra.cli.research import Run
from orchestra.config.load import load_settings
from orchestra.errors import StoreError
from orchestra.load.behaviour import Behaviour, Faults
from orchestra.load.research_script import Research
from orchestra.load.simulated import simulated
from orchestra.runtime import Runtime
from orchestra.values.report import Report
from tests.models.opened import all_closed

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parent.parent.parent
CODE = "import sys; from orchestra.cli.main import main; main(sys.argv[1:])"
QUESTION = "How many steps does the lighthouse of Wexler have?"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder to call the program in, with documents beside it."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        "# Wexler\n\nThe lighthouse of Wexler has 214 steps.\n", encoding="utf-8"
    )
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


async def call(home: Path, *arguments: str, **env: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    command: Sequence[str] = [sys.executable, "-c", CODE, *arguments]
    done = await anyio.run_process(command, cwd=home, env=environment(**env), check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


async def test_a_compatible_endpoint_runs_the_whole_workflow(home: Path) -> None:
    """Small and large each do their part; the JSON has what was promised."""
    async with simulated(Behaviour(scripts=(Research(),))) as endpoint:
        code, out, err = await call(
            home, "research", QUESTION, "--docs", "docs", "--format", "json",
            "--endpoint", endpoint.url, "--small", "tiny", "--large", "big",
        )  # fmt: skip
        await all_closed(endpoint)
    assert code == 0, err
    report = json.loads(out)
    keys = "session question title summary sections references gaps supported_share words usage seconds"
    assert set(keys.split()) <= set(report)
    assert report["usage"]["large"]["calls"] == 1
    assert report["usage"]["small"]["calls"] >= 4
    quote = report["references"][0]["quotes"][0]
    text = (home / "docs" / "a.md").read_text(encoding="utf-8")
    assert text[quote["start"] : quote["end"]] == quote["text"]
    assert "models: " in err, "the choice is printed, never silent"


@pytest.mark.parametrize("stops", [1, 2])
async def test_ctrl_c_leaves_a_partial_report_and_a_journal(home: Path, stops: int) -> None:
    """130; the report says why it is partial; the session is listed as interrupted."""
    arguments = ["research", QUESTION, "--docs", "docs", "--out", "r.md", "--small", "m", "--large", "m"]
    async with simulated(Behaviour(scripts=(Research(),), faults=Faults(hang=1.0))) as endpoint:
        command = [sys.executable, "-c", CODE, *arguments, "--endpoint", endpoint.url]
        async with await anyio.open_process(command, cwd=home, env=environment()) as process:
            await line_with(process, "asks m")
            for _ in range(stops):
                process.send_signal(signal.SIGINT)
            with anyio.fail_after(20):
                code = await process.wait()
    assert code == 130
    if stops == 1:
        assert "interrupted" in (home / "r.md").read_text(encoding="utf-8")
    _, listed, _ = await call(home, "sessions", "--json")
    assert '"interrupted"' in listed


async def line_with(process: anyio.abc.Process, words: str) -> None:
    """Wait until the program has said this."""
    assert process.stderr is not None
    said = b""
    with anyio.fail_after(30):
        while words.encode() not in said:
            said += await process.stderr.receive()


async def test_a_wrong_key_is_one_sentence_and_the_key_is_nowhere(home: Path) -> None:
    """Exit code 1; endpoint, status and what to change are named."""
    key = "sk-wrong-0123456789abcdef"
    async with simulated(Behaviour(key="right")) as endpoint:
        code, out, err = await call(
            home, "research", QUESTION, "--docs", "docs", OPENAI_API_KEY=key, OPENAI_BASE_URL=endpoint.url
        )
    assert code == 1
    assert "401" in err
    assert "key" in err
    assert "Traceback" not in err
    assert (key in out + err, holding(home, key)) == (False, [])


def holding(folder: Path, text: str) -> list[Path]:
    """The files below a folder that hold a text."""
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


async def test_a_report_that_cannot_be_written_is_printed(home: Path) -> None:
    """Nothing is lost: the text goes to standard output and the sentence names the place."""
    (home / "taken").write_text("a file", encoding="utf-8")
    code, out, err = await call(
        home, "research", QUESTION, "--docs", "docs", "--models", "extractive", "--out", "taken/r.md"
    )
    assert code == 2
    assert "214 steps" in out
    assert "taken/r.md" in err


async def test_a_report_outlives_its_store(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The disk is full when all is done: the report is written, and what the record lost is said."""
    resolved = load_settings({"models": "extractive"}, environ={}, folder=home)
    options = {"quiet": False, "form": "md", "out": home / "r.md"}

    class Full(Run):
        async def _work(self, host: Runtime) -> None:
            self.report = Report(
                session="s",
                question="How many?",
                title="How many steps?",
                summary=(),
                sections=(),
                references=(),
            )
            raise StoreError("The disk that holds the store is full.")

    with pytest.raises(StoreError):
        await Full("How many?", None, resolved, options).run()
    assert "How many steps?" in (home / "r.md").read_text(encoding="utf-8")
    assert "report: " in capsys.readouterr().err


async def test_whatever_the_terminal_says_it_speaks_utf8(home: Path) -> None:
    """Chinese questions and reports survive a terminal that claims ASCII."""
    (home / "docs" / "灯塔.md").write_text("韦克斯勒灯塔有214级台阶。\n", encoding="utf-8")
    code, out, _ = await call(
        home,
        "research",
        "韦克斯勒灯塔有多少级台阶？",
        "--docs",
        "docs",
        "--quiet",
        PYTHONIOENCODING="ascii",
        LC_ALL="C",
    )
    assert code == 0
    assert "214级台阶" in out


async def test_limits_are_flags(home: Path) -> None:
    """A run ends within its tokens, its money and its time; what is wrong with a limit is one sentence."""
    arguments = ["research", QUESTION, "--docs", "docs", "--models", "extractive"]
    code, out, err = await call(home, *arguments, "--tokens", "200k", "--deadline", "5m", "--budget", "0.50")
    assert (code, "214 steps" in out) == (0, True), err
    code, _, err = await call(home, *arguments, "--tokens", "500")
    assert code == 1
    assert "of 500 are left; raise the token limit" in err
    code, _, err = await call(home, *arguments, "--budget", "nothing")
    assert (code, err) == (
        2,
        'orchestra: --budget: must be a number above 0 or "unlimited", not "nothing".\n',
    )


async def test_help_and_unknown_commands(home: Path) -> None:
    """Help lists the commands; a word that is none is a mistake of one line."""
    code, out, _ = await call(home, "--help")
    assert code == 0
    assert "research" in out
    code, _, err = await call(home, "reserch")
    assert code == 2
    assert "reserch" in err
