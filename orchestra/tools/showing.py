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
_CLOSING = f"\n{_TICKS}\n\n["  # with what opens the next one's label
# What stands around passages that are counted by themselves: behind one its closing and the next one's label,
# before the first a label. All numbers of up to three digits have as many tokens.
_AROUND = (f"{_TICKS}\n\n[s1]", _TICKS, "[s1]")
_LABEL = len("s999")


class Sizes(dict[int, int]):
    """Tokens of what a session's passages show, each counted once, whichever of its agents are shown them.

    From behind the label to the last line end before the usual fence, by the hash of both texts, as the texts
    themselves would be kept twice.
    """

    __slots__ = ()


def show(output: ToolOutput, labels: Sequence[str], sizes: Sizes, counter: Counter) -> tuple[str, int]:
    """The output as text, and its tokens where they are the sum of its parts' and counted already, else 0.

    `labels` name the document of each passage for this agent: "s1", "s2" ...
    """
    passages = output.passages
    if not passages:
        return output.text, 0
    above = f"{output.text}\n\n" if output.text else ""
    parts = [above, "["]
    # What follows a line end here begins with a bracket or a backtick, and what follows a label with a space.
    adds_up = counter.lines_add_up and max(map(len, labels)) <= _LABEL
    tokens, room = 0, THREAD_CHARACTERS  # a long result is counted in a thread
    for passage, label in zip(passages, labels, strict=True):
        document, text, closing = passage.document, passage.text, _CLOSING
        opening = _opening(document.locator, document.title, passage.section)
        size = sizes.get(hash((opening, text)))
        if size is None:
            size, ticks = 0, ticks_for(text)
            room -= len(text)
            adds_up = adds_up and room >= 0 and ticks == _TICKS
            if adds_up:
                size = sizes[hash((opening, text))] = counter.count(f"{opening[1:]}{text}\n")
            elif ticks != _TICKS:
                opening, closing = opening.replace(f"{_TICKS}\n", f"{ticks}\n"), f"\n{ticks}\n\n["
        tokens += size
        parts += (label, opening, text, closing)
    parts[-1] = parts[-1].removesuffix("\n\n[")
    if not adds_up:
        return "".join(parts), 0
    between, last, first = counter.once(_AROUND, lambda: tuple(map(counter.count, _AROUND)))
    tokens += first + (len(passages) - 1) * between + last
    return "".join(parts), tokens + counter.count(above) if above else tokens


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
def _opening(locator: str, title: str, section: str) -> str:
    """What stands between a passage's label and its text: ` path | title | section` and the usual fence.

    Each is folded to one line, a bar inside one shown as a slash.
    """
    return f"] {fold_label(f'{field(locator)} | {field(title)} | {field(section)}')}\n{_TICKS}\n"
