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

_TICKS = "```"
_FENCES = ("```\n\n", "```")  # what closes a passage before another one, and the last


class Sizes:
    """Tokens of what a session's passages show, each counted once, whichever of its agents are shown them.

    By the hash of what is counted, as the texts themselves would be kept twice. `heads`: of labels with their
    line end. `texts`: of passages behind the usual fence, with both their line ends.
    """

    __slots__ = ("heads", "texts")

    def __init__(self) -> None:
        self.heads: dict[int, int] = {}
        self.texts: dict[int, int] = {}


def show(output: ToolOutput, labels: Sequence[str], sizes: Sizes, counter: Counter) -> tuple[str, int]:
    """The output as text, and its tokens where they are the sum of its parts' and counted already, else 0.

    `labels` name the document of each passage for this agent ("s1").
    """
    passages = output.passages
    if not passages:
        return output.text, 0
    parts: list[str] = []
    tokens = 0
    if output.text:
        parts.append(output.text)
        tokens = counter.count(f"{output.text}\n\n")
    # What follows a line end here begins with a bracket or a backtick; a long result is counted in a thread.
    usual = counter.lines_add_up and sum([len(each.text) for each in passages]) <= THREAD_CHARACTERS
    heads, texts = sizes.heads, sizes.texts
    for passage, label in zip(passages, labels, strict=True):
        document, text = passage.document, passage.text
        head = f"[{label}] {_head(document.locator, document.title, passage.section)}\n"
        ticks, key = _TICKS, hash(text)
        inside = texts.get(key) if usual else None
        if inside is None:
            if "`" in text and _TICKS in text:  # one letter is found several times as fast
                ticks, usual = ticks_for(text), False
            elif usual:
                inside = texts[key] = counter.count(f"{_TICKS}\n{text}\n")
        if inside is not None:
            tokens += inside
            key = hash(head)
            above = heads.get(key)
            if above is None:
                above = heads[key] = counter.count(head)
            tokens += above
        parts.append(f"{head}{ticks}\n{text}\n{ticks}")
    if usual:
        between, last = counter.once(_FENCES, lambda: tuple(map(counter.count, _FENCES)))
        tokens += (len(passages) - 1) * between + last
    return "\n\n".join(parts), tokens if usual else 0


def as_result(result: ToolResult, labels: Sequence[str], sizes: Sizes, counter: Counter) -> Result:
    """A tool's result that went well, as a context takes it."""
    output = result.output
    text, tokens = show(output, labels, sizes, counter)
    return Result(
        call=result.call,
        text=text,
        tokens=tokens,
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
