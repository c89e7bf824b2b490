"""The laws of the house: layers, sizes, public names, the error tree."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import orchestra
from orchestra import errors

ROOT = Path(__file__).parent.parent
# Imports point up this list only (docs/decisions.md says where it differs from the design's list).
ROOMS = """
    errors shapes redact log config values text roles journal context models tools memory evidence spend agent
    session workflow resume runtime serve load cluster testing eval cli
""".split()
BANNED = {"asyncio.create_task", "asyncio.gather", "asyncio.wait_for", "asyncio.ensure_future"}


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT / "orchestra").parts[0].removesuffix(".py")


def imported_rooms(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every room a module imports, inside functions and under TYPE_CHECKING too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "orchestra" else [module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "orchestra" and len(parts) > 1:
                yield node.lineno, parts[1]


def test_imports_point_up_only() -> None:
    """A room uses the rooms above it and no other."""
    wrong = []
    for path in sources("orchestra"):
        room = room_of(path)
        if room in ("__init__", "__main__"):
            continue
        assert room in ROOMS, f"{path} is in no room"
        for line, other in imported_rooms(parsed(path)):
            if other in ROOMS and other != room and ROOMS.index(other) > ROOMS.index(room):
                wrong.append(f"{path.relative_to(ROOT)}:{line} {room} imports {other}")
    assert not wrong, "\n".join(wrong)


def test_no_room_is_empty() -> None:
    """A room that is not needed yet does not stand there empty."""
    for folder in (ROOT / "orchestra").iterdir():
        if folder.is_dir() and folder.name not in ("__pycache__", "agents"):
            assert [path for path in folder.glob("*.py") if path.name != "__init__.py"], folder


def test_files_and_functions_stay_small() -> None:
    """A source file has under 300 lines, a test file under 400, a function at most 50."""
    wrong = []
    for path in sources("orchestra", "tests", "benchmarks", "examples"):
        limit = 400 if "tests" in path.relative_to(ROOT).parts[:1] else 300
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines >= limit:
            wrong.append(f"{path.relative_to(ROOT)} has {lines} lines")
        if path.is_relative_to(ROOT / "orchestra"):
            wrong += [f"{path.relative_to(ROOT)}:{problem}" for problem in large_functions(parsed(path))]
    assert not wrong, "\n".join(wrong)


def large_functions(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > 50:
                yield f"{node.lineno} {node.name} has {length} lines"


def test_no_stray_tasks() -> None:
    """No task is started outside a group, in any spelling."""
    for path in sources("orchestra"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert f"{node.value.id}.{node.attr}" not in BANNED, f"{path}:{node.lineno}"


def test_error_tree_is_as_told() -> None:
    """The tree in the docstring of errors.py is the tree of the classes."""
    told: dict[str, str] = {}
    stack: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^(    [\s│├└─]*)([A-Z]\w+)(\s|$)", line)
        if match is None:
            continue
        depth = len(match[1])
        while stack and stack[-1][0] >= depth:
            stack.pop()
        told[match[2]] = stack[-1][1] if stack else "Exception"
        stack.append((depth, match[2]))
    real = {
        name: value.__bases__[0].__name__
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Exception) and value.__module__ == errors.__name__
    }
    assert told == real


def test_public_names_are_few_and_there() -> None:
    """At most 30 names are public, and each can be imported."""
    assert len(orchestra.__all__) <= 30
    for name in orchestra.__all__:
        assert getattr(orchestra, name) is not None


def test_dependencies_have_reasons() -> None:
    """Every dependency of the core stands in docs/dependencies.md with its reason, and nothing else does."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {re.split(r"[\[>=<~!; ]", line)[0].lower() for line in project["dependencies"]}
    table = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8").split("## Optional")[0]
    explained = {match.lower() for match in re.findall(r"^\| `([\w.-]+)`", table, re.MULTILINE)}
    assert named == explained


def test_top_level_holds_nothing_else() -> None:
    """What lies at the top is what the house rules name, and what tools require."""
    import subprocess

    listed = (
        subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
        .stdout.rstrip("\0")
        .split("\0")
    )
    files = {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore"}
    allowed = files | {"orchestra", "agents", "tests", "examples", "benchmarks", "docs", ".ci"}
    assert {path.split("/")[0] for path in listed} <= allowed
