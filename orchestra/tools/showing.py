"""How a tool's output stands in a prompt: passages labelled and fenced, text as it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import anyio.to_thread
from msgspec import structs

from orchestra.context.fence import field, fold_label, ticks_for
from orchestra.context.results import show as shorten
from orchestra.context.returned import Result
from orchestra.context.tokens import Counter
from orchestra.tools.port import ToolOutput
from orchestra.tools.toolbox import ToolResult

# Longer results are counted and cut in a worker thread: 100,000 characters take about 10 ms of tokenising.
THREAD_CHARACTERS = 100_000


def show(output: ToolOutput, labels: Sequence[str]) -> str:
    """The output as text; `labels` name the document of each passage for this agent ("s1")."""
    parts = [output.text] if output.text else []
    for passage, label in zip(output.passages, labels, strict=True):
        document, text = passage.document, passage.text
        ticks = ticks_for(text) if "```" in text else "```"
        head = _head(document.locator, document.title, passage.section)
        parts.append(f"[{label}] {head}\n{ticks}\n{text}\n{ticks}")
    return "\n\n".join(parts)


def as_result(result: ToolResult, labels: Sequence[str]) -> Result:
    """A tool's result that went well, as a context takes it."""
    output = result.output
    return Result(
        call=result.call,
        text=show(output, labels),
        passages=bool(output.passages),
        ephemeral=output.ephemeral,
        archived=result.call.name != "recall",
    )


async def cut_in_thread(result: Result, cap: int, counter: Counter) -> Result:
    """A long result, shown in at most about `cap` tokens."""
    cut = partial(shorten, result.text, cap, counter, passages=result.passages)
    return structs.replace(result, shown=await anyio.to_thread.run_sync(cut))


@lru_cache(maxsize=1 << 12)  # of a library's passages
def _head(locator: str, title: str, section: str) -> str:
    """`path | title | section`, each folded to one line, a bar inside one shown as a slash."""
    return fold_label(f"{field(locator)} | {field(title)} | {field(section)}")
