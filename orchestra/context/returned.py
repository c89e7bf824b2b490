"""A tool's result as a block of the context."""

from __future__ import annotations

from msgspec import Struct, structs

from orchestra.context.archive import Original, packed
from orchestra.context.blocks import Block
from orchestra.context.fence import fence, ticks_for
from orchestra.context.labels import label_of
from orchestra.context.results import Shown, kind_of, mark, show
from orchestra.context.tokens import MESSAGE_TOKENS, Counter, joins_cleanly, surely_fits
from orchestra.values.messages import Message, ToolCall

_CHARACTERS_A_TOKEN = 8
"""Hardly any text has more; a longer one will not fit, and is counted without its label first."""


class Result(Struct, frozen=True, kw_only=True, gc=False):
    """What came back for one call. `text` is all of it, as it came.

    `passages`: it is fenced passages under labels of their own. `failed`: it is an error, written for the
    model. `ephemeral`: it leaves once the model has answered. `archived` False: what it holds is in the
    archive already (a recall). `tokens`: of the text, 0 where nobody has counted.
    `shown`: it was already prepared by `results.show`, for instance in a thread.
    """

    call: ToolCall
    text: str
    passages: bool = False
    failed: bool = False
    ephemeral: bool = False
    archived: bool = True
    tokens: int = 0
    shown: Shown | None = None


class Spot(Struct, frozen=True, gc=False):
    """Where a result comes in: its block's number, place and turn, when, and its original's reference."""

    number: int
    place: int
    turn: int
    at: float
    ref: str


def result_block(result: Result, spot: Spot, counter: Counter, cap: int) -> tuple[Block, Original | None]:
    """The result's block, at most about `cap` tokens of data, and its original where that has a reference.

    What the message shows whole is kept in that message alone.
    """
    call, at, ref = result.call, spot.at, spot.ref
    text, tokens, start, whole = _body_of(result, ref, at, counter, cap)
    original = None
    if ref:
        held, first = (text, start) if start >= 0 else (packed(result.text), 0)
        end = first + len(result.text)
        original = Original(ref, call.name, held, first, end, call.arguments, spot.turn, at)
    made = Block(
        number=spot.number,
        zone="history",
        source=call.name,
        message=Message("tool", text, (), call.id),
        tokens=tokens,
        place=spot.place,
        born=spot.turn,
        at=at,
        why="an error" if result.failed else "a result of the last step",
        leaves="turn" if result.ephemeral else "full",
        ref=ref,
        whole=whole,
        key=f"{call.name}({call.arguments})",
        used=result.failed or not result.text,
    )
    return made, original


_Body = tuple[str, int, int, int]
"""A result's message: its text, and its tokens with what the chat format adds.

Then where in it the original stands, to whose end but for a closing fence it then goes; -1: it is shown in
part, and the original has as many tokens as the last of these says.
"""


def _body_of(result: Result, ref: str, at: float, counter: Counter, cap: int) -> _Body:
    """How a result is shown: labelled, fenced, at most about `cap` tokens of data."""
    said = result.text
    if not said:
        return _counted("(nothing came back)", -1, counter)
    if result.shown is None and len(said) <= _CHARACTERS_A_TOKEN * cap:
        passages = result.passages
        if passages or kind_of(said) != "html":
            text, start = _labelled(result, said, at)
            if passages and result.tokens and counter.lines_add_up and joins_cleanly(said):
                tokens = MESSAGE_TOKENS + counter.count(text[:start]) + result.tokens
            else:
                tokens = MESSAGE_TOKENS + counter.count(text)
            # What fits with its label fits without; the usual result is counted this once.
            if tokens <= cap or surely_fits(said, cap):
                return text, tokens, start, 0
    shown = result.shown or show(said, cap, counter, passages=result.passages)
    text, start = _labelled(result, shown.text, at)
    if not shown.cut:
        return _counted(text, start, counter)
    return _counted(f"{text}\n{mark(shown.tokens, shown.whole, ref)}", -1, counter, shown.whole)


def _counted(text: str, start: int, counter: Counter, whole: int = 0) -> _Body:
    return text, MESSAGE_TOKENS + counter.count(text), start, whole


def _labelled(result: Result, text: str, at: float) -> tuple[str, int]:
    """The text as the message has it, and where in it the text itself begins."""
    if result.failed:
        return f"error: {text}", 7
    call = result.call
    label = label_of(call.name, call.arguments, at)
    if result.passages:  # they are fenced already, each under a label of its own
        return f"{label}\n{text}", len(label) + 1
    whole = fence(label, text)
    return whole, len(whole) - 1 - len(ticks_for(text)) - len(text)


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
