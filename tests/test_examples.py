"""The README and the examples are what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py"))


def run(tmp_path: Path, *command: str) -> str:
    """A program of its own, in a folder of its own, with nothing configured."""
    kept = {"PATH", "HOME", "PYTHONPATH", "SYSTEMROOT", "VIRTUAL_ENV"}
    environment = {name: value for name, value in os.environ.items() if name in kept}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(tmp_path: Path, example: Path) -> None:
    """Each is at most 60 lines, runs with nothing configured and prints something."""
    assert len(example.read_text(encoding="utf-8").splitlines()) <= 60
    assert run(tmp_path, str(example)).strip()


def test_the_own_tool_example_says_what_the_tool_said(tmp_path: Path) -> None:
    """80 °C is 176 °F."""
    assert "80 °C is 176 °F" in run(tmp_path, str(ROOT / "examples" / "own_tool.py"))


def blocks(marker: str) -> list[str]:
    """The README's code blocks under a marker comment."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"<!-- {marker} -->\n```\w+\n(.*?)```", text, re.DOTALL)


def test_the_readme_has_exactly_two_set_up_commands() -> None:
    """One runs the main job, one runs the tests."""
    assert [len(blocks(f"command: {name}")) for name in ("research", "tests")] == [1, 1]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("pip install") == 2


def test_the_readmes_library_block_runs(tmp_path: Path) -> None:
    """As printed, from the top of the repository."""
    (code,) = blocks("test: library")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert run(tmp_path, "-c", code).strip()


def test_the_readmes_first_command_prints_a_cited_report(tmp_path: Path) -> None:
    """The part after the installation, with nothing configured, ends in references."""
    (command,) = blocks("command: research")
    question = re.search(r'research "(.+?)"', command)
    assert question is not None
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    code = "import sys; from orchestra.cli.main import main; main(sys.argv[1:])"
    out = run(tmp_path, "-c", code, "research", question[1], "--docs", "examples/library")
    assert "## References" in out
    assert "No language model wrote this report" in out
