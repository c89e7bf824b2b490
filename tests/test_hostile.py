"""What people really hand in: each ends in a correct result or one clear sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestra import Runtime, Scripted, tool
from orchestra.cli.main import run
from orchestra.tools.decorator import FunctionTool
from orchestra.values.messages import Reply, Request, ToolCall
from orchestra.values.roles import Role
from tests.team import seen, settings

FACT = "The lighthouse of Wexler has 214 steps and was built in 1887."
QUESTION = "How many steps does the lighthouse of Wexler have?"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of documents; the program runs beside it, with nothing configured."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ORCHESTRA_MODELS", "ORCHESTRA_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    made = tmp_path / "docs"
    made.mkdir()
    return made


def report(folder: Path, capsys: pytest.CaptureFixture[str], question: str = QUESTION) -> dict[str, object]:
    code = run(["research", question, "--docs", str(folder), "--format", "json", "--models", "extractive"])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    found: dict[str, object] = json.loads(captured.out)
    return found


def quoted(found: dict[str, object]) -> str:
    return json.dumps(found["references"], ensure_ascii=False)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("windows.txt", FACT.replace(" and", "\r\nand").encode()),
        ("utf16.txt", FACT.encode("utf-16")),
        ("utf8-bom.md", b"\xef\xbb\xbf" + FACT.encode()),
        ("invalid.txt", b"\xff\xfe\xfa broken \x80 bytes.\n\n".replace(b"\xff\xfe", b"\xfa") + FACT.encode()),
        ("🗼 lighthouse.md", FACT.encode()),
        ("מגדלור.md", FACT.encode()),
        ("灯塔.md", FACT.encode()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_encodings_line_ends_and_names(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, data: bytes
) -> None:
    """The fact is found and quoted whatever the bytes and the file's name are."""
    (folder / name).write_bytes(data)
    found = report(folder, capsys)
    assert "214 steps" in quoted(found)
    assert name in quoted(found)
    assert found["supported_share"] == 1.0


def test_a_chinese_question_on_a_difference(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Words that only compare are no subject, and headings above a short text are no program."""
    (folder / "茶.md").write_text(
        "# 茶的制作\n\n## 概述\n\n同一片鲜叶，先杀青就成为绿茶，先萎凋再烘干就成为红茶。\n", encoding="utf-8"
    )
    assert "先杀青就成为绿茶" in quoted(report(folder, capsys, "红茶和绿茶的制作有什么不同？"))


def test_five_megabytes_on_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A document without a line end is searched like any other."""
    filler = "Gulls cry over the harbour and the tide comes in twice a day. " * 41_000
    (folder / "long.txt").write_text(filler + FACT + " " + filler, encoding="utf-8")
    assert "214 steps" in quoted(report(folder, capsys))


def test_a_question_of_fifty_thousand_characters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody pastes a document and asks at the end."""
    (folder / "a.md").write_text(FACT, encoding="utf-8")
    pasted = "The harbour master wrote a long letter about ropes and tides. " * 800
    assert "214 steps" in quoted(report(folder, capsys, f"{pasted}\n\n{QUESTION}"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["", "--docs", "docs"], "The question is empty"),
        ([QUESTION, "--docs", "docs"], "holds no document that can be read"),
        ([QUESTION, "--docs", "missing"], "no folder 'missing'"),
        ([QUESTION, "--docs", "docs", "--models", "extractve"], "extractive"),
    ],
)
def test_a_mistake_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    """Exit code 2, one line that says what to do, no traceback, nothing on standard output."""
    assert run(["research", *arguments, "--quiet"]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""
    assert len(captured.err.strip().splitlines()) == 1


def test_one_empty_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder with nothing in it but an empty file has nothing to read."""
    (folder / "empty.md").write_text("", encoding="utf-8")
    assert run(["research", QUESTION, "--docs", "docs", "--quiet"]) == 2
    assert "empty.md" in capsys.readouterr().err


ROLE = Role(
    name="clerk", description="Calls a tool.", instructions="Call the tool, then answer.", context="tools"
)


def big_tools(text: str) -> list[FunctionTool]:
    async def read_ledger() -> str:
        """Read the ledger."""
        return text

    return [tool(read_ledger)]


@pytest.mark.anyio
async def test_a_tool_result_of_a_megabyte(tmp_path: Path) -> None:
    """The model sees a capped part with a mark, can recall the rest, and no prompt exceeds its window."""
    text = "\n".join(f"row {number}: nothing" for number in range(60_000)) + f"\n{FACT}"
    prompts: list[Request] = []

    def clerk(request: Request) -> object:
        prompts.append(request)
        calls = (
            (ToolCall("a", "read_ledger", "{}"),),
            (ToolCall("b", "recall", '{"wanted": "Wexler lighthouse"}'),),
        )
        if len(prompts) <= 2:
            return Reply(calls=calls[len(prompts) - 1], finish="calls")
        return "done"

    model = Scripted(clerk, window=16_000)
    host = Runtime(settings(tmp_path), models={"small": model}, roles=[ROLE], tools=big_tools(text))
    async with host, host.session("steps?") as session:
        handoff = await session.ask("clerk", "How many steps?")
    assert handoff.value == "done"
    assert 'recall("r1") for the rest' in seen(prompts[1])
    assert FACT in seen(prompts[2])
    assert all(len(seen(prompt)) < 16_000 * 4 for prompt in prompts)


@pytest.mark.anyio
async def test_three_hundred_tools(tmp_path: Path) -> None:
    """A step is offered the tools that fit its task, and the prompt stays within its budget."""

    def named(number: int) -> FunctionTool:
        async def body(city: str) -> str:
            return city

        body.__doc__ = f"Report kind {number} of the measures of a city."
        return tool(name=f"report_measure_{number}")(body)

    async def count_steps(building: str) -> str:
        """Count the steps of a lighthouse or a tower."""
        return "214"

    tools = [*(named(number) for number in range(299)), tool(count_steps)]
    model = Scripted(["done"], window=16_000)
    host = Runtime(settings(tmp_path), models={"small": model}, roles=[ROLE], tools=tools)
    async with host, host.session("steps?") as session:
        await session.ask("clerk", "How many steps has the lighthouse?")
    (request,) = model.requests
    offered = [spec.name for spec in request.tools]
    assert "count_steps" in offered
    assert len(offered) < 50
