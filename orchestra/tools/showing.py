"""How a tool's output stands in a prompt: passages labelled and fenced, text as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import anyio.to_thread

from orchestra.context.fence import fence
from orchestra.context.results import show as shorten
from orchestra.context.returned import Result
from orchestra.context.tokens import Counter
from orchestra.tools.port import ToolOutput
from orchestra.tools.toolbox import ToolResult
from orchestra.values.sources import Document, Passage

# Longer results are counted and cut in a worker thread: 100,000 characters take about 10 ms of tokenising.
THREAD_CHARACTERS = 100_000


def show(output: ToolOutput, label: Callable[[Document], str]) -> str:
    """The output as text; `label` names a document for this agent ("s1"), the same one each time."""
    parts = [output.text] if output.text else []
    for passage in output.passages:
        parts.append(fence(passage_label(passage, label(passage.document)), passage.text))
    return "\n\n".join(parts)


async def as_result(
    result: ToolResult, label: Callable[[Document], str], cap: int, counter: Counter
) -> Result:
    """A tool's result that went well, as a context takes it, shown in at most about `cap` tokens."""
    output = result.output
    text = show(output, label)
    fenced = bool(output.passages)
    shown = None
    if len(text) > THREAD_CHARACTERS:
        shown = await anyio.to_thread.run_sync(partial(shorten, text, cap, counter, passages=fenced))
    return Result(
        call=result.call,
        text=text,
        passages=fenced,
        ephemeral=output.ephemeral,
        archived=result.call.name != "recall",
        shown=shown,
    )


def passage_label(passage: Passage, label: str) -> str:
    """`[s1] path | title | section`, each folded to one line, a bar inside one shown as a slash."""
    document = passage.document
    return f"[{label}] {_line(document.locator)} | {_line(document.title)} | {_line(passage.section)}"


@lru_cache(maxsize=1 << 12)  # of locators, titles and headings
def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")
