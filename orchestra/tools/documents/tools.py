"""The two tools by which an agent sees documents: `search_documents` and `read_document`."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from orchestra.errors import InputError, ToolArguments, ToolFailed
from orchestra.tools.documents.index import DocumentIndex
from orchestra.tools.port import Effects, Tool, ToolOutput
from orchestra.values.messages import ToolSpec
from orchestra.values.sources import Document, Passage

MOST_HITS = 20
READ_CHARS = 8_000
"""Of a document that are shown at once; a listing of its sections stands in for the rest."""

SECTIONS_NAMED = 30
NAMES_SUGGESTED = 5
CALL_SECONDS = 30.0

SEARCH = ToolSpec(
    "search_documents",
    "Find passages in the documents that answer a question or hold some words.",
    {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "A question or keywords, names and code exactly as written.",
            },
            "limit": {
                "type": "integer",
                "description": "How many passages.",
                "minimum": 1,
                "maximum": MOST_HITS,
                "default": 8,
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
READ = ToolSpec(
    "read_document",
    "Read a document, or one section of it, from its beginning or from a character on.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The document's path as search_documents shows it."},
            "section": {
                "type": "string",
                "description": "A heading of it; empty for the whole.",
                "default": "",
            },
            "start": {
                "type": "integer",
                "description": "The character to start from, as the last reading said.",
                "minimum": 0,
                "default": 0,
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


class DocumentTool:
    """A tool over an index; it holds nothing of any session."""

    effects: Effects = "read"
    seconds: float | None = CALL_SECONDS

    def __init__(self, spec: ToolSpec, work: Callable[[Mapping[str, Any]], Awaitable[ToolOutput]]) -> None:
        self.spec = spec
        self._work = work

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        known = self.spec.parameters["properties"]
        unknown = sorted(set(arguments) - set(known))
        if unknown:
            raise ToolArguments(
                f"{self.spec.name} has no parameter {unknown[0]!r}; it takes {', '.join(known)}."
            )
        return await self._work(arguments)


def document_tools(index: DocumentIndex) -> tuple[Tool, ...]:
    """`search_documents` and `read_document` over an open index."""

    async def search(arguments: Mapping[str, Any]) -> ToolOutput:
        query = _text(arguments, "query").strip()
        if not query:
            raise ToolArguments("search_documents needs a query that is not empty.")
        limit = min(_number(arguments, "limit", 8, least=1), MOST_HITS)
        found = await index.search(query, limit)
        return (
            ToolOutput(passages=found) if found else ToolOutput(text=f"No passage matches {_short(query)!r}.")
        )

    async def read(arguments: Mapping[str, Any]) -> ToolOutput:
        locator = await _locator(index, _text(arguments, "path"))
        start = _number(arguments, "start", 0, least=0)
        return await _read(index, locator, _text(arguments, "section", "").strip(), start)

    return (DocumentTool(SEARCH, search), DocumentTool(READ, read))


def _text(arguments: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ToolArguments(f"{name!r} must be a text" + (" and is missing." if value is None else "."))
    return value


def _number(arguments: Mapping[str, Any], name: str, default: int, *, least: int) -> int:
    value = arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ToolArguments(f"{name!r} must be a whole number of at least {least}.")
    return value


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"


async def _locator(index: DocumentIndex, path: str) -> str:
    """The document meant by `path`: its locator, or a file name or an ending that only one has."""
    names = await index.locators()
    wanted = path.strip().replace("\\", "/").removeprefix("./")
    if wanted in names:
        return wanted
    parts = PurePosixPath(wanted).parts
    if wanted.startswith("/") or ".." in parts or (parts and parts[0].endswith(":")):
        raise ToolFailed(f"{_short(path)!r} lies outside the documents.{_nearest(wanted, names)}")
    ending = [name for name in names if wanted and f"/{name}".casefold().endswith(f"/{wanted}".casefold())]
    folded = [name for name in names if " ".join(name.split()) == wanted]
    if len(ending or folded) == 1:
        return (ending or folded)[0]
    raise ToolFailed(f"There is no document {_short(path)!r}.{_nearest(wanted, names)}")


def _nearest(wanted: str, names: Sequence[str]) -> str:
    """A sentence with the names that are most like the wanted one."""
    by_file = {PurePosixPath(name).name.casefold(): name for name in names}
    file = PurePosixPath(wanted).name.casefold()
    near = [by_file[name] for name in difflib.get_close_matches(file, by_file, NAMES_SUGGESTED, 0.5)]
    if near:
        return f" Nearest: {', '.join(near)}."
    some = ", ".join(names[:NAMES_SUGGESTED])
    return f" There are {len(names)} documents, among them {some}." if names else " There are no documents."


async def _read(index: DocumentIndex, locator: str, section: str, start: int) -> ToolOutput:
    try:
        passages = await index.passages(locator)
    except InputError as error:
        raise ToolFailed(f"{locator!r} was removed while you were reading.") from error
    wanted = _of_section(passages, section) if section else passages
    if not wanted:
        raise ToolFailed(
            f"{locator} has no section {_short(section)!r}. Its sections: {_sections(passages)}."
        )
    rest = [passage for passage in wanted if passage.end > start]
    if not rest:
        raise ToolFailed(f"{locator} ends at character {wanted[-1].end}; start before it.")
    shown: list[Passage] = []
    for passage in rest:
        if shown and passage.end - shown[0].start > READ_CHARS:
            break
        shown.append(passage)
    return ToolOutput(text=_note(passages, wanted, shown, section), passages=_merged(shown))


def _of_section(passages: Sequence[Passage], section: str) -> tuple[Passage, ...]:
    """Passages whose section is the wanted one or lies below it; else those whose section holds its words."""
    wanted = _fold(section)
    paths = [_fold(passage.section) for passage in passages]
    for fits in (
        lambda path: path == wanted or path.startswith(wanted + " > "),
        lambda path: f" > {path} > ".find(f" > {wanted} > ") >= 0,
        lambda path: wanted in path,
    ):
        found = tuple(passage for passage, path in zip(passages, paths, strict=True) if fits(path))
        if found:
            return found
    return ()


def _fold(text: str) -> str:
    return " ".join(text.replace("/", "|").split()).casefold()


def _sections(passages: Sequence[Passage]) -> str:
    names = list(dict.fromkeys(passage.section for passage in passages if passage.section))
    more = f" and {len(names) - SECTIONS_NAMED} more" if len(names) > SECTIONS_NAMED else ""
    return ("; ".join(names[:SECTIONS_NAMED]) + more) or "none"


def _note(
    passages: Sequence[Passage], wanted: Sequence[Passage], shown: Sequence[Passage], section: str
) -> str:
    """What was left out and how to get it; "" where everything is shown."""
    document: Document = passages[0].document
    whole = len(document.text)
    if len(shown) == len(passages):
        return ""
    note = f"Shown: characters {shown[0].start:,} to {shown[-1].end:,} of {whole:,} of {document.locator}."
    left = [passage for passage in wanted if passage.start > shown[-1].start]
    if left:
        same = f', section="{section}"' if section else ""
        note += f' Go on with read_document(path="{document.locator}"{same}, start={left[0].start}).'
    if not section:
        note += f" Sections: {_sections(passages)}."
    return note


def _merged(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Neighbours of one section as one passage."""
    merged: list[Passage] = []
    for passage in passages:
        last = merged[-1] if merged else None
        text = passage.document.text
        if last and last.section == passage.section and not text[last.end : passage.start].strip():
            merged[-1] = Passage(
                passage.document, text[last.start : passage.end], last.start, passage.end, last.section
            )
        else:
            merged.append(passage)
    return tuple(merged)
