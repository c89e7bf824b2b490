"""Tools are chosen by meaning too, where a model is; what it made of them is kept, what was asked is not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from orchestra.tools.choosing import Chooser, Choosing, named_in
from orchestra.tools.history import KEPT, History, request_terms
from orchestra.tools.port import Effects, ToolOutput
from orchestra.tools.subset import AT_ONCE, ToolIndex
from orchestra.tools.toolbox import Toolbox
from orchestra.tools.vectors import Kept
from orchestra.values.messages import ToolSpec

ROOT = Path(__file__).parents[2]


class Letters:
    """A model whose vectors are how often each letter stands in a text."""

    name = "letters"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [
            [text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts
        ]


class Idle:
    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, name: str, description: str = "", parameters: Any = None) -> None:
        self.spec = ToolSpec(name, description, parameters or {})

    async def call(self, arguments: Any) -> ToolOutput:
        return ToolOutput()


SPECS = [ToolSpec(f"tool_{n}", f"{'abcdefghijklmnopqrstuvwxyz'[n % 26] * 5} {n}", {}) for n in range(300)]


def test_vectors_of_tools_are_made_once_ever(tmp_path: Path) -> None:
    """Another process finds them in the file; what people ask is not in it."""
    file = tmp_path / "vectors.db"
    first = Letters()
    index = ToolIndex(SPECS[:50], first, keeper=Kept(first, file))
    before = index.ranked("a secret request")
    second = Letters()
    again = ToolIndex(SPECS[:50], second, keeper=Kept(second, file))
    assert again.ranked("a secret request") == before
    assert second.asked == ["a secret request"]
    assert b"secret" not in file.read_bytes()


def test_a_file_that_is_none_costs_only_time(tmp_path: Path) -> None:
    """Damaged, or where nothing can be written."""
    broken = tmp_path / "vectors.db"
    broken.write_text("no database at all, but long enough to look like something")
    for file in (broken, tmp_path / "nowhere" / "vectors.db"):
        model = Letters()
        assert len(Kept(model, file).embed(["one", "two", "one"])) == 3


def test_very_many_tools_are_embedded_bit_by_bit() -> None:
    """Those first that the words speak for; after some choices all are there."""
    model = Letters()
    index = ToolIndex(SPECS, model)
    index.ranked("zzzzz 25")
    assert len(model.asked) == AT_ONCE + 1
    assert any("zzzzz 25" in text for text in model.asked)
    for _ in range(len(SPECS) // AT_ONCE):
        index.ranked("x")
    assert len([text for text in model.asked if text.startswith("tool")]) == len(SPECS)


def test_history_forgets_the_oldest() -> None:
    """It never grows beyond twice its measure, and knows the newest."""
    history = History(Letters())
    for number in range(2 * KEPT + 1):
        history.learn(f"request about thing{number}", [f"tool_{number % 300}"])
    assert len(history) == KEPT
    newest, oldest = (request_terms(f"request about thing{n}") for n in (2 * KEPT, 1))
    assert max(history.votes(newest, None, ["tool_100"]).values()) > 0.4
    assert history.votes({"thing1": 1.0}, None, [f"tool_{n}" for n in range(300)]) == {}
    assert oldest


@pytest.mark.anyio
async def test_tools_of_any_shape_are_chosen_from() -> None:
    """Three thousand of them, with schemas that are none, and requests in any language."""
    odd: list[Any] = [
        {},
        {"properties": []},
        {"properties": {"a": None, "b": {"enum": "abc", "description": 7, "items": [1]}}},
        {"properties": {"c": {"properties": {"d": {"properties": {"e": {}}}}}}},
    ]
    tools = [Idle(f"tool-{n}", "查询天气" if n == 77 else "", odd[n % len(odd)]) for n in range(3_000)]
    chooser = Chooser(Choosing(chosen=5))
    box = Toolbox(tools)
    assert "tool-77" in await chooser.choose("明天北京的天气怎么样", box)
    for request in ("", "   ", "\ud800", "🦀" * 50, "x" * 100_000):
        assert len(await chooser.choose(request, box)) == 5


def test_plain_words_name_no_tool() -> None:
    """Only what nobody would say by chance."""
    box = Toolbox([Idle(name) for name in ("search", "read_file", "getWeather", "files.list")])
    text = "search it with read_file, getWeather and files.list. Search!"
    assert named_in(text, box) == ("read_file", "getWeather", "files.list")


def measured(folder: Path, case: Any, *more: str) -> subprocess.CompletedProcess[str]:
    file = folder / "case.json"
    file.write_text(case if isinstance(case, str) else json.dumps(case, ensure_ascii=False), encoding="utf-8")
    command = [sys.executable, str(ROOT / "benchmarks" / "tools.py"), str(file), *more]
    environ = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, capture_output=True, text=True, env=environ, check=False)


def test_the_benchmark_takes_any_set(tmp_path: Path) -> None:
    """Functions, MCP's tools, no parameters, a name twice, a Chinese request, a tool that is not there."""
    case = {
        "tools": [
            {"name": "get_weather", "description": "天气预报 weather forecast"},
            {"name": "get_weather", "description": "again"},
            {"type": "function", "function": {"name": "book_hotel", "description": "Book a hotel room."}},
            {"name": "find_train", "inputSchema": {"type": "object", "properties": {"station": {}}}},
        ],
        "requests": [
            {"text": "北京天气怎么样", "tools": ["get_weather"]},
            {"text": "a room in a hotel", "tools": ["book_hotel", "no_such"]},
            {"text": "nothing", "tools": []},
        ],
        "past": [{"text": "get me home", "tools": ["find_train"]}],
    }
    done = measured(tmp_path, case, "-k", "1", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["tools"], row["requests"], row["recall"]) == (3, 2, 100.0)
    assert 0 < row["tokens"] < row["all tokens"]
    assert len(row["notes"]) == 3


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("{", "cannot be read as JSON"),
        ("[3]", "a case is an object"),
        ('{"tools": [], "requests": 3}', 'no list "requests"'),
        ('{"tools": [{"description": "x"}], "requests": []}', "tool 1 has no name"),
        ('{"tools": [], "requests": [{"text": 3}]}', 'a request has a "text"'),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, case: str, said: str) -> None:
    """It names the place."""
    done = measured(tmp_path, case)
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
