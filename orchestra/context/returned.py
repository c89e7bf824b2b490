"""A tool's result as a block of the context."""

from __future__ import annotations

from msgspec import Struct, structs

from orchestra.context.blocks import LATE, Block
from orchestra.context.labels import data, label_of
from orchestra.context.results import Shown, kind_of, mark, show
from orchestra.context.tokens import Counter
from orchestra.values.messages import Message, ToolCall


class Result(Struct, frozen=True, kw_only=True, gc=False):
    """What came back for one call. `text` is all of it, as it came.

    `passages`: it is fenced passages under labels of their own. `failed`: it is an error, written for the
    model. `ephemeral`: it leaves once the model has answered. `archived` False: what it holds is in the
    archive already (a recall). `shown`: it was already prepared by `results.show`, for instance in a thread.
    """

    call: ToolCall
    text: str
    passages: bool = False
    failed: bool = False
    ephemeral: bool = False
    archived: bool = True
    shown: Shown | None = None


def result_block(result: Result, ref: str, at: float, counter: Counter, cap: int) -> Block:
    """The result's block, without number and turn: labelled, fenced, at most about `cap` tokens of data."""
    call = result.call
    text, whole = _body(result, ref, at, counter, cap)
    message = Message("tool", text, call_id=call.id)
    return Block(
        number=0,
        zone="history",
        source=call.name,
        message=message,
        tokens=counter.message(message),
        place=LATE,
        at=at,
        why="an error" if result.failed else "a result of the last step",
        leaves="turn" if result.ephemeral else "full",
        ref=ref,
        whole=whole,
        key=f"{call.name}({call.arguments})",
        used=result.failed or not result.text,
    )


def stub(block: Block, counter: Counter) -> Block:
    """What stays of an ephemeral result: its call must keep an answer."""
    rest = f'; recall("{block.ref}") brings it back' if block.ref else ""
    message = structs.replace(block.message, text=f"(shown for one turn{rest})", wire=b"")
    return structs.replace(
        block,
        message=message,
        tokens=counter.message(message),
        whole=max(block.whole, block.tokens),
        why="ephemeral: left after its turn",
        leaves="used",
        used=True,
    )


def _body(result: Result, ref: str, at: float, counter: Counter, cap: int) -> tuple[str, int]:
    """The message's text, and the original's tokens if not all of it is shown."""
    if not result.text:
        return "(nothing came back)", 0
    shown = result.shown
    if shown is None and _surely_fits(result, cap):
        if result.failed:
            return f"error: {result.text}", 0
        return _labelled(result, result.text, at), 0
    shown = shown or show(result.text, cap, counter, passages=result.passages)
    text = f"error: {shown.text}" if result.failed else _labelled(result, shown.text, at)
    if not shown.cut:
        return text, 0
    return f"{text}\n{mark(shown.tokens, shown.whole, ref)}", shown.whole


def _surely_fits(result: Result, cap: int) -> bool:
    """A token has at least one byte, so a text this short need not be counted to know that it fits."""
    return 4 * len(result.text) <= cap and kind_of(result.text) != "html"


def _labelled(result: Result, text: str, at: float) -> str:
    return data(label_of(result.call.name, result.call.arguments, at), text, passages=result.passages)
