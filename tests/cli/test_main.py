"""What the program says to a call that it does not understand."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from orchestra.cli.main import main, run


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["chekc"], 'orchestra: No such command "chekc". Did you mean "check"? See: orchestra --help'),
        (["research"], "orchestra research: Missing argument 'QUESTION'. See: orchestra research --help"),
        (["research", "?", "--docz", "x"], "orchestra research: No such option '--docz'."),
        (["store", "chek"], "orchestra store: No such command 'chek'."),
    ],
)
def test_a_mistake_in_a_call_is_one_line(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong, the nearest right word, where to look."""
    assert run(arguments) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(sentence)
    assert shown.count("\n") == 1


def test_the_package_runs_as_a_module() -> None:
    """For when the script is not on the path."""
    done = subprocess.run([sys.executable, "-m", "orchestra", "--help"], capture_output=True, check=True)
    assert b"research" in done.stdout


@pytest.mark.parametrize(("said", "threads"), [(None, "1"), ("4", "4")])
def test_numpy_gets_one_thread_unless_somebody_says_otherwise(
    said: str | None, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine its threads take ten times the CPU."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", said or "")  # which puts it back when the test is over
    if said is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    with pytest.raises(SystemExit):
        main(["--help"])
    assert os.environ["OPENBLAS_NUM_THREADS"] == threads
