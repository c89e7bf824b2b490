"""Are the needed tools among the chosen? `python benchmarks/tools.py [FILE]`.

Without FILE: BFCL live_multiple (1,032 tools pooled), MetaTool single and two-tool (199 tools), and MetaTool
single after 200, 1,000 and 3,000 earlier requests. FILE: {"tools": [{"name", "description", "parameters"}],
"requests": [{"text", "tools": [names]}], "past": [requests that were asked before]} or a list of such; tools
may come as OpenAI's functions or MCP's tools. Weights were chosen on every second request of live_multiple
and on MetaTool requests 3,001 to 5,000 of the shuffled list, which are not asked here.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from recall import COUNTER, Remembered  # the file beside this one

from orchestra.context.recall.embedding import Embedder, embedder_for
from orchestra.context.tokens import TOOLS_TOKENS
from orchestra.errors import UserError
from orchestra.tools.choosing import Chooser, Choosing
from orchestra.tools.finding import Choice, TaskTools
from orchestra.tools.port import Effects, ToolOutput
from orchestra.tools.subset import AT_ONCE
from orchestra.tools.toolbox import Toolbox
from orchestra.values.messages import ToolSpec

DATA = Path(__file__).parents[2] / "shared/data"
HISTORY = (200, 1_000, 3_000)


class Case(NamedTuple):
    """Tools, and requests with the names of the tools that each needs; `past` was asked before."""

    name: str
    tools: list[ToolSpec]
    requests: list[tuple[str, list[str]]]
    chosen: int
    past: tuple[tuple[str, list[str]], ...] = ()
    notes: tuple[str, ...] = ()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("-k", type=int, help="tools chosen for a request; each set's own number without it")
    parser.add_argument("--embedding", default="none", help="none, auto, or a model's name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command `orchestra` does
    if options.k is not None and options.k < 1:
        sys.exit("-k is a whole number above 0.")
    try:
        model = embedder_for(options.embedding)
    except UserError as error:
        sys.exit(str(error))
    embedder = Remembered(model) if model else None
    cases = read_file(options.file) if options.file else known_cases()
    rows = [measure(case, options.k or case.chosen, embedder) for case in cases]
    figures = {"embedding": embedder.name if embedder else "none", "rows": rows}
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"needed tools among the chosen k, in %, embedding: {figures['embedding']}")
    print(
        f"{'':<44}{'tools':>6}{'asked':>6}{'k':>4}{'recall':>8}{'all':>7}{'tokens':>8}{'of':>8}{'ms CPU':>8}"
    )
    for row in rows:
        print(
            f"{row['set']:<44}{row['tools']:>6}{row['requests']:>6}{row['k']:>4}{row['recall']:>8.1f}{row['all']:>7.1f}"
            f"{row['tokens']:>8,}{row['all tokens']:>8,}{row['ms']:>8.2f}"
        )
    for note in (note for row in rows for note in row["notes"]):
        print(note)


def measure(case: Case, count: int, embedder: Embedder | None) -> dict[str, Any]:
    """Recall and completeness of what an agent with these tools is offered, its tokens, and CPU without the
    embedding.
    """
    pool = Toolbox(map(Named, case.tools))
    chooser = Chooser(Choosing(chosen=count), embedder=embedder)
    for text, used in case.past:
        for name in used:
            chooser.used("", text, name)
    if embedder:
        embedder.embed([text for text, _ in case.requests])
    anyio.run(offered, chooser, pool, [("ready", ())] * (1 + len(pool) // AT_ONCE))
    started = time.process_time()
    chosen = anyio.run(offered, chooser, pool, case.requests)
    seconds = time.process_time() - started
    recall = complete = 0.0
    tokens = 0
    specs = {spec.name: spec for spec in pool.specs}
    for (_, needed), names in zip(case.requests, chosen, strict=True):
        there = sum(name in names for name in needed)
        recall += there / len(needed)
        complete += there == len(needed)
        tokens += TOOLS_TOKENS + sum(COUNTER.tool(specs[name]) for name in names)
    asked = max(1, len(case.requests))
    return {
        "set": case.name,
        "tools": len(case.tools),
        "requests": len(case.requests),
        "k": count,
        "recall": round(100 * recall / asked, 1),
        "all": round(100 * complete / asked, 1),
        "tokens": tokens // asked,
        "all tokens": TOOLS_TOKENS + sum(map(COUNTER.tool, case.tools)),
        "ms": round(1000 * seconds / asked, 2),
        "notes": list(case.notes),
    }


async def offered(
    chooser: Chooser, pool: Toolbox, requests: Sequence[tuple[str, Sequence[str]]]
) -> list[tuple[str, ...]]:
    """What the product chooses for each request, as an agent begins a task; nothing is learnt from it."""
    return [await TaskTools(pool, Choice(chooser=chooser)).begin(text) for text, _ in requests]


class Named:
    """A tool to be chosen and not to be called."""

    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    async def call(self, arguments: Any) -> ToolOutput:
        raise NotImplementedError


def known_cases() -> Iterator[Case]:
    yield live_multiple()
    tools, single, pairs = metatool()
    yield Case("MetaTool single", tools, single[:3_000], 5)
    yield Case("MetaTool two tools", tools, pairs, 10)
    past = single[3_000:9_000]
    random.Random(1).shuffle(past)
    for known in HISTORY:
        yield Case(f"MetaTool single after {known:,} requests", tools, single[:1_500], 5, tuple(past[:known]))


def live_multiple() -> Case:
    """The functions of four BFCL sets as one library, one entry a name; the requests of live_multiple."""
    library: dict[str, ToolSpec] = {}
    requests: list[tuple[str, list[str]]] = []
    for part in ("multiple", "parallel_multiple", "live_multiple", "live_parallel_multiple"):
        answers = {
            row["id"]: row["ground_truth"] for row in rows_of(f"bfcl/possible_answer/BFCL_v4_{part}.json.gz")
        }
        for row in rows_of(f"bfcl/BFCL_v4_{part}.json.gz"):
            for function in row["function"]:
                spec = ToolSpec(
                    function["name"], function.get("description", ""), function.get("parameters", {})
                )
                library.setdefault(spec.name, spec)
            named = {function["name"] for function in row["function"]}
            needed = list(
                dict.fromkeys(name for call in answers.get(row["id"], ()) for name in call if name in named)
            )
            if part == "live_multiple" and needed:
                text = " ".join(turn["content"] for turn in row["question"][0] if turn["role"] == "user")
                requests.append((text, needed))
    return Case("BFCL live_multiple", list(library.values()), requests, 5)


def metatool() -> tuple[list[ToolSpec], list[tuple[str, list[str]]], list[tuple[str, list[str]]]]:
    """199 tools, the requests for one of them in a fixed random order, the requests for two."""
    described: dict[str, str] = {}
    for name in ("plugin_des.json", "big_tool_des.json"):
        described |= json.loads((DATA / "metatool" / name).read_text("utf-8"))
    tools = [ToolSpec(name, text, {}) for name, text in described.items()]
    with gzip.open(DATA / "metatool/all_clean_data.csv.gz", "rt", encoding="utf-8") as stream:
        rows = list(csv.DictReader(io.StringIO(stream.read())))
    random.Random(0).shuffle(rows)
    single = [(row["Query"], [row["Tool"]]) for row in rows if row["Tool"] in described]
    pairs = [
        (row["query"], list(dict.fromkeys(row["tool"])))
        for row in rows_of("metatool/multi_tool_query_golden.json.gz")
        if all(tool in described for tool in row["tool"])
    ]
    return tools, single, pairs


def rows_of(name: str) -> list[dict[str, Any]]:
    """A JSON list, or one JSON object a line."""
    with gzip.open(DATA / name, "rt", encoding="utf-8") as stream:
        text = stream.read()
    if text.lstrip().startswith("["):
        rows: list[dict[str, Any]] = json.loads(text)
        return rows
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def read_file(file: Path) -> Iterator[Case]:
    """The cases of a file. Exits with one sentence where it is none."""
    try:
        data = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        sys.exit(f"{file} cannot be read as JSON: {error}.")
    for number, case in enumerate(data if isinstance(data, list) else [data], 1):
        where = f"{file.name}, case {number}"
        if not isinstance(case, dict) or not isinstance(case.get("tools"), list):
            sys.exit(f'{where}: a case is an object with lists "tools" and "requests".')
        if not isinstance(case.get("requests"), list):
            sys.exit(f'{where}: there is no list "requests".')
        yield read_case(case, f"{case.get('id') or f'{file.stem} {number}'}", where)


def read_case(case: dict[str, Any], name: str, where: str) -> Case:
    tools: dict[str, ToolSpec] = {}
    for number, one in enumerate(case["tools"], 1):
        spec = spec_of(one)
        if spec is None:
            sys.exit(f"{where}: tool {number} has no name.")
        tools.setdefault(spec.name, spec)
    twice = len(case["tools"]) - len(tools)
    asked = [
        read_request(one, f"{where}, request {number}") for number, one in enumerate(case["requests"], 1)
    ]
    past = [
        read_request(one, f"{where}, past {number}") for number, one in enumerate(case.get("past") or (), 1)
    ]
    known = [(text, [tool for tool in needed if tool in tools]) for text, needed in asked]
    lost = sum(len(before[1]) != len(after[1]) for before, after in zip(asked, known, strict=True))
    empty = sum(not needed for _, needed in known)
    notes = (
        (twice, "tools have a name that an earlier one has, and are left out"),
        (lost, "requests need tools that are not in the set; they are judged by the others"),
        (empty, "requests need no tool of the set, and are not asked"),
    )
    return Case(
        name,
        list(tools.values()),
        [one for one in known if one[1]],
        5,
        tuple(past),
        tuple(f"{name}: {count} {what}" for count, what in notes if count),
    )


def spec_of(tool: Any) -> ToolSpec | None:
    """A tool as it comes: plain, as OpenAI's functions, as MCP's tools; None without a name."""
    if isinstance(tool, dict) and isinstance(tool.get("function"), dict):
        tool = tool["function"]
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str) or not tool["name"].strip():
        return None
    schemas = (tool.get(key) for key in ("parameters", "inputSchema", "input_schema"))
    schema = next((each for each in schemas if isinstance(each, dict)), {})
    described = tool.get("description")
    return ToolSpec(tool["name"], described if isinstance(described, str) else "", schema)


def read_request(one: Any, where: str) -> tuple[str, list[str]]:
    text = one.get("text") if isinstance(one, dict) else None
    needed = one.get("tools") if isinstance(one, dict) else None
    needed = [needed] if isinstance(needed, str) else needed
    if (
        not isinstance(text, str)
        or not isinstance(needed, list)
        or not all(isinstance(n, str) for n in needed)
    ):
        sys.exit(f'{where}: a request has a "text" and a list "tools" of names.')
    return text, list(dict.fromkeys(needed))


if __name__ == "__main__":
    main()
