"""`orchestra check`: one line a problem, a summary, and an exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from orchestra.cli.check import SHIPPED_TOOLS, check
from orchestra.cli.main import run
from orchestra.roles.load import load_roles

GOOD = "---\nname: {name}\ndescription: b\n---\nDo it.\n"


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder and no settings of the person who runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ORCHESTRA_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def checked(*arguments: str) -> tuple[Result, list[str], int]:
    result = CliRunner().invoke(check, arguments, standalone_mode=False)
    assert result.exception is None, result.exception
    return result, result.output.splitlines(), result.return_value


def test_without_a_folder(tmp_path: Path) -> None:
    """The roles that ship are clean; with roles and a configuration of one's own, those are checked too."""
    _, lines, code = checked()
    shipped = len(load_roles(None))
    assert (lines, code) == ([f"checked {shipped} role files, no orchestra.toml: nothing wrong"], 0)
    (tmp_path / "orchestra.toml").write_text("")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "mine.md").write_text(GOOD.format(name="mine"))
    _, lines, code = checked()
    assert (lines, code) == ([f"checked {shipped + 1} role files, orchestra.toml: nothing wrong"], 0)


def test_errors_of_roles_and_configuration(tmp_path: Path) -> None:
    """Each with file, line and key; the exit code is 2."""
    (tmp_path / "orchestra.toml").write_text("[limits]\nagentz = 1\n")
    roles = tmp_path / "roles"
    roles.mkdir()
    (roles / "a.md").write_text(
        "---\nname: a\ndescription: b\ntools: [serch_documents]\noutput: x\n---\nDo it."
    )
    (roles / "b.md").write_text(GOOD.format(name="same"))
    (roles / "c.md").write_text(GOOD.format(name="same"))
    _, lines, code = checked("roles")
    assert code == 2
    assert lines == [
        'orchestra.toml:2: limits.agentz: is not a setting. Did you mean "agents"?',
        'roles/a.md:4: tools: there is no tool "serch_documents". Did you mean "search_documents"?',
        'roles/a.md:5: output: there is no output "x". Valid: Draft, Findings, Plan, Review.',
        'roles/c.md: name: "same" is also the name of the role in roles/b.md.',
        "checked 3 role files, orchestra.toml: 4 errors",
    ]


def test_findings_are_not_errors(tmp_path: Path) -> None:
    """Lint findings end with 0, with --strict with 1."""
    (tmp_path / "a.md").write_text(
        "---\nname: a\ndescription: b\nmodel: gpt-none\ncolor: red\n---\nAnswer in English.\n用中文回答。\n"
    )
    _, lines, code = checked(str(tmp_path))
    assert code == 0
    assert [line.split(": ")[0:2] for line in lines[:-1]] == [
        ["a.md:5", "color"], ["a.md:8", "instructions"], ["a.md:4", "model"]
    ]  # fmt: skip
    assert all(line.endswith(" [lint]") for line in lines[:-1])
    assert checked(str(tmp_path), "--strict")[2] == 1


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("none", "There is no such folder"),
        ("file.md", "This is a file"),
        ("empty", "There are no role files"),
    ],
)
def test_a_folder_that_is_none(tmp_path: Path, place: str, words: str) -> None:
    """Not there, a file, or nothing in it: one sentence, exit code 2."""
    (tmp_path / "file.md").write_text(GOOD.format(name="a"))
    (tmp_path / "empty").mkdir()
    _, lines, code = checked(place)
    assert code == 2
    assert lines[0].startswith(f"{place}: {words}")


def test_a_missing_key_is_a_warning(tmp_path: Path) -> None:
    """Files are checked where keys are seldom set."""
    (tmp_path / "c.toml").write_text(
        '[endpoints.x]\nurl = "http://h"\nkey_env = "K"\n[tiers.small]\nmodel = "m"\n'
    )
    _, lines, code = checked("--config", "c.toml")
    assert code == 0
    assert lines[0].startswith('c.toml:3: endpoints.x.key_env: the endpoint "x" reads its key from K')
    assert lines[0].endswith("[warning]")


def test_own_tools_are_known_and_linted(tmp_path: Path) -> None:
    """--tools finds them from the current folder; a role may name them."""
    (tmp_path / "own_tools.py").write_text(
        "from types import SimpleNamespace\n"
        "from orchestra.values.messages import ToolSpec\n"
        "schema = {'type': 'object', 'properties': {'id': {'type': 'string'}}}\n"
        "ALL = [SimpleNamespace(spec=ToolSpec('weather', 'The weather.', schema))]\n"
    )
    (tmp_path / "a.md").write_text("---\nname: a\ndescription: b\ntools: weather\n---\nDo it.")
    _, lines, code = checked(".", "--tools", "own_tools:ALL")
    assert code == 0
    assert [line.partition(":")[0] for line in lines[1:3]] == ["weather", "weather.id"]
    assert lines[-1] == "checked 1 role file, 1 tool, no orchestra.toml: 3 findings"


@pytest.mark.parametrize("place", ["own", "nowhere_at_all:ALL", "json:none", "json:__name__", "json:dumps"])
def test_tools_that_cannot_be_found(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence that repeats what was asked for; exit code 2."""
    assert run(["check", "--tools", place]) == 2
    assert f'--tools: "{place}"' in capsys.readouterr().err


def test_the_default_roles_name_tools_that_ship() -> None:
    """What `check` takes for granted is what the roles need."""
    for role in load_roles().values():
        assert set(role.tools or ()) <= set(SHIPPED_TOOLS)
