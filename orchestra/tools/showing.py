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
from orchestra.values.sources import Passage

# Longer results are counted and cut in a worker thread: 100,000 characters take about 10 ms of tokenising.
THREAD_CHARACTERS = 100_000

_TICKS = "```"
_CLOSING = f"\n{_TICKS}\n\n["  # with what opens the next one's label
# What stands around passages that are counted by themselves: behind one its closing and the next one's label,
# before the first a label. All numbers of up to three digits have as many tokens.
_AROUND = (f"{_TICKS}\n\n[s1]", _TICKS, "[s1]")
_LABEL = len("s999")

Frame = tuple[str, str, int]
"""What stands behind a passage's label and before its text, and behind that; and the tokens of all three.

Up to the text's line end, without the fence that closes; 0 where they are not those of its parts.
"""


class Sizes(dict[int, Frame]):
    """Frames of what a session's passages show, each made once, whichever of its agents are shown them.

    By the hash of what makes them, as the texts themselves would be kept twice.
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
    adds_up = counter.lines_add_up and max(map(len, labels)) <= _LABEL
    tokens, room = 0, THREAD_CHARACTERS  # a long result is counted in a thread
    for passage, label in zip(passages, labels, strict=True):
        document, text = passage.document, passage.text
        key = hash((document.locator, document.title, passage.section, text))
        frame = sizes.get(key)
        if frame is None:
            room -= len(text)
            frame = _frame(passage, counter if room >= 0 and counter.lines_add_up else None)
            if room >= 0:
                sizes[key] = frame
        opening, closing, size = frame
        if size:
            tokens += size
        else:
            adds_up = False
        parts += (label, opening, text, closing)
    parts[-1] = parts[-1].removesuffix("\n\n[")
    if not adds_up:
        return "".join(parts), 0
    between, last, first = _around(counter)
    tokens += first + (len(passages) - 1) * between + last
    return "".join(parts), tokens + counter.count(above) if above else tokens


@lru_cache(maxsize=16)  # of the encodings
def _around(counter: Counter) -> tuple[int, int, int]:
    """The tokens of what stands between two passages, behind the last, and before the first."""
    between, last, first = map(counter.count, _AROUND)
    return between, last, first


def _frame(passage: Passage, counter: Counter | None) -> Frame:
    """The frame of one passage, not counted without a counter.

    What follows a line end there begins with a bracket or a backtick, and what follows a label with a space,
    so that behind the usual fence all has the tokens that it has by itself.
    """
    document, text = passage.document, passage.text
    opening, ticks = _opening(document.locator, document.title, passage.section), ticks_for(text)
    if ticks != _TICKS:
        return opening.replace(f"{_TICKS}\n", f"{ticks}\n"), f"\n{ticks}\n\n[", 0
    return opening, _CLOSING, counter.count(f"{opening[1:]}{text}\n") if counter is not None else 0


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
