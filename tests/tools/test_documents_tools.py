"""What an agent sees of documents: passages with their sources, notes on what is left out, clear refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from orchestra.errors import ToolArguments, ToolFailed
from orchestra.tools.documents.index import DocumentIndex
from orchestra.tools.documents.tools import READ_CHARS, document_tools
from orchestra.tools.port import Tool

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def tools(folder: Path) -> AsyncIterator[tuple[Tool, Tool]]:
    long = "\n\n".join(f"## Part {part}\n\n" + f"Sentence {part} of many words. " * 30 for part in range(30))
    (folder / "long.md").write_text(f"# Long\n\n{long}\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "short.md").write_text(
        "# Short\n\nTidal power.\n\n## Costs > and prices\n\nThey are high.\n"
    )
    async with DocumentIndex(folder) as index:
        search, read = document_tools(index)
        yield search, read


async def test_a_search_returns_passages_with_their_documents(folder: Path) -> None:
    """Every passage carries its whole document and stands in it."""
    async with tools(folder) as (search, _):
        output = await search.call({"query": "tidal power", "limit": 3})
    (passage,) = output.passages
    assert passage.document.locator == "sub/short.md"
    assert passage.document.title == "Short"
    assert passage.document.text[passage.start : passage.end] == passage.text


async def test_a_search_without_hits_says_so(folder: Path) -> None:
    """In words, since an empty result reads like a fault."""
    async with tools(folder) as (search, _):
        output = await search.call({"query": "narwhal"})
    assert output.passages == ()
    assert output.text == "No passage matches 'narwhal'."


async def test_a_short_document_is_read_whole(folder: Path) -> None:
    """Without a note; neighbours of one section are one passage."""
    async with tools(folder) as (_, read):
        output = await read.call({"path": "sub/short.md"})
    assert output.text == ""
    assert [passage.section for passage in output.passages] == ["", "Costs > and prices"]


async def test_a_long_document_is_read_in_parts_that_join(folder: Path) -> None:
    """Each part says how to go on, and together they are the whole."""
    read_text, start, parts = "", 0, 0
    async with tools(folder) as (_, read):
        while True:
            output = await read.call({"path": "long.md", "start": start})
            whole = output.passages[0].document.text
            assert sum(len(passage.text) for passage in output.passages) <= READ_CHARS
            read_text += " ".join(["", *(passage.text for passage in output.passages)])
            parts += 1
            if "Go on with" not in output.text:
                break
            start = int(output.text.partition("start=")[2].partition(")")[0])
    assert parts > 2
    assert read_text.split() == whole.split()


async def test_a_section_is_read_by_its_heading(folder: Path) -> None:
    """By its path, its own name, in any case, or as a label shows it."""
    async with tools(folder) as (_, read):
        for section in ("Part 7", "part 7", "Costs > and prices", "prices"):
            path = "long.md" if "art" in section else "sub/short.md"
            output = await read.call({"path": path, "section": section})
            assert output.passages[0].text.casefold().startswith(("## part 7\n", "## costs"))
        with pytest.raises(
            ToolFailed, match=r"long\.md has no section 'Missing'\. Its sections: Part 0; Part 1"
        ):
            await read.call({"path": "long.md", "section": "Missing"})


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("../secret.md", "lies outside the documents"),
        ("sub/../../secret.md", "lies outside the documents"),
        ("/etc/passwd", "lies outside the documents"),
        ("C:\\secret.md", "lies outside the documents"),
        ("shrt.md", r"There is no document 'shrt\.md'\. Nearest: sub/short\.md\."),
        ("nothing like it", r"There are 2 documents, among them long\.md, sub/short\.md\."),
        ("", "There is no document ''"),
    ],
)
async def test_a_path_that_leads_nowhere_is_refused_with_near_names(
    folder: Path, path: str, says: str
) -> None:
    """The model can mend its call."""
    async with tools(folder) as (_, read):
        with pytest.raises(ToolFailed, match=says):
            await read.call({"path": path})


async def test_a_path_is_understood_as_models_write_it(folder: Path) -> None:
    """With ./ in front, a backslash, another case, or the file's name alone."""
    async with tools(folder) as (_, read):
        for path in ("./sub/short.md", "sub\\short.md", "Sub/Short.md", "short.md", " sub/short.md "):
            assert (await read.call({"path": path})).passages[0].document.locator == "sub/short.md"


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("search", {}, "'query' must be a text and is missing"),
        ("search", {"query": "  "}, "needs a query that is not empty"),
        ("search", {"query": "x", "limit": 0}, "'limit' must be a whole number of at least 1"),
        ("search", {"query": "x", "limit": "many"}, "'limit' must be a whole number"),
        ("search", {"query": "x", "top": 3}, "has no parameter 'top'; it takes query, limit"),
        ("read", {"path": 3}, "'path' must be a text"),
        ("read", {"path": "long.md", "start": -1}, "'start' must be a whole number of at least 0"),
    ],
)
async def test_arguments_that_do_not_fit_are_refused(
    folder: Path, name: str, arguments: dict[str, Any], says: str
) -> None:
    """Each with what would fit."""
    async with tools(folder) as (search, read):
        with pytest.raises(ToolArguments, match=says):
            await (search if name == "search" else read).call(arguments)


async def test_reading_past_the_end_is_refused(folder: Path) -> None:
    """With where the end is."""
    async with tools(folder) as (_, read):
        with pytest.raises(ToolFailed, match=r"ends at character \d+; start before it"):
            await read.call({"path": "sub/short.md", "start": 10_000})
