"""From blocks to one prompt: pure, the same each time, never over its budget."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct

from orchestra.context.blocks import Block, Entry, Zone
from orchestra.context.budget import Budget
from orchestra.context.levels import Compaction
from orchestra.context.manifest import Manifest
from orchestra.context.tokens import REPLY_TOKENS, Counter
from orchestra.context.toolsheet import NO_TOOLS, ToolSheet
from orchestra.context.trimming import Kept, fit, without_unpaired
from orchestra.values.messages import Message, OutputSpec, ToolSpec

Joins = dict[tuple[int, ...], Message]


class Piece(Struct, frozen=True):
    """A text that is made anew for each prompt and stands at its end: state, reminder, output format."""

    zone: Zone
    name: str
    text: str
    tokens: int
    why: str = ""


class Frame(Struct, frozen=True, kw_only=True):
    """What stands around the blocks of one prompt.

    `before`: pieces in front of the current input when that is the last thing said, at the end otherwise.
    `after`: pieces that stand last. `gone`: what left the context since the last prompt.
    """

    agent: str = ""
    turn: int = 1
    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    tools: ToolSheet = NO_TOOLS
    output: OutputSpec | None = None
    gone: tuple[Entry, ...] = ()
    compaction: Compaction | None = None


class Prompt(Struct, frozen=True, kw_only=True):
    """One model call, assembled. `tokens` is all of it: messages, tool schemas and what a chat format adds.

    `cache_until`: the number of leading messages that the next prompt shares unless room has to be made.
    `output_tokens`: kept free for the reply. `compaction`: what left to make room for this prompt.
    """

    messages: tuple[Message, ...]
    sheet: ToolSheet
    output: OutputSpec | None
    manifest: Manifest
    tokens: int
    output_tokens: int
    cache_until: int
    compaction: Compaction | None = None

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self.sheet.specs


_place = attrgetter("place")
_tokens = attrgetter("tokens")
_entry = attrgetter("entry")


def assemble(
    blocks: Sequence[Block], budget: Budget, counter: Counter, frame: Frame, joins: Joins | None = None
) -> Prompt:
    """The prompt of these blocks, given in the order of their arrival.

    `joins` remembers neighbouring blocks that were put into one message, so that it stays the same object and
    is encoded once; it changes nothing in the result. Raises ContextOverflow when what may never be cut
    does not fit.
    """
    ordered, gone = without_unpaired(sorted(blocks, key=_place))
    pieces = (*frame.before, *frame.after)
    around = REPLY_TOKENS + sum(map(_tokens, pieces))
    if around + frame.tools.tokens + sum(map(_tokens, ordered)) <= budget.usable:
        kept = Kept(ordered, frame.tools, ())
    else:
        overhead = (*pieces, Piece("fixed", "reply", "", REPLY_TOKENS))
        kept = fit(ordered, budget, counter, frame.tools, {piece.name: piece.tokens for piece in overhead})
    messages, shared = _weave(kept.blocks, frame, {} if joins is None else joins)
    entries = (
        Entry("reply", "fixed", "chat format", REPLY_TOKENS),
        *kept.tools.entries,
        *map(_entry, kept.blocks),
        *(Entry(p.name, p.zone, p.name, p.tokens, p.tokens, "kept", p.why, frame.turn) for p in pieces),
        *kept.gone,
        *gone,
        *frame.gone,
    )
    manifest = Manifest(
        agent=frame.agent,
        turn=frame.turn,
        window=budget.window,
        output=budget.output,
        margin=budget.margin,
        usable=budget.usable,
        entries=entries,
    )
    return Prompt(
        messages=messages,
        sheet=kept.tools,
        output=frame.output,
        manifest=manifest,
        tokens=around + kept.tools.tokens + sum(map(_tokens, kept.blocks)),
        output_tokens=budget.output,
        cache_until=shared,
        compaction=frame.compaction,
    )


def _weave(blocks: Sequence[Block], frame: Frame, joins: Joins) -> tuple[tuple[Message, ...], int]:
    """The messages, neighbours of the system and of the user as one each, with the pieces at the end."""
    messages: list[Message] = []
    run: list[Block] = []
    role = ""
    for block in blocks:
        message = block.message
        if message.role == role:
            run.append(block)
            continue
        if run:
            messages.append(_joined(run, joins))
            run, role = [], ""
        if message.role == "user" or message.role == "system":
            run, role = [block], message.role
        else:
            messages.append(message)
    if run and role == "system":
        messages.append(_joined(run, joins))
        run = []
    if not frame.before and not frame.after:
        if run:
            messages.append(_joined(run, joins))
        return tuple(messages), len(messages)
    shared = len(messages)
    messages.append(Message("user", _tail(run, frame)))
    return tuple(messages), shared


def _joined(run: list[Block], joins: Joins) -> Message:
    if len(run) == 1:
        return run[0].message
    key = tuple(block.number for block in run)
    known = joins.get(key)
    text = "\n\n".join(block.message.text for block in run)
    if known is None or known.text != text:
        known = joins[key] = Message(run[0].message.role, text)
    return known


def _tail(run: list[Block], frame: Frame) -> str:
    """The last message: what the user said last, with the pieces around it."""
    texts = [block.message.text for block in run]
    before = [piece.text for piece in frame.before]
    if run and run[-1].zone == "input":
        texts[-1:-1] = before
    else:
        texts += before
    texts += [piece.text for piece in frame.after]
    return "\n\n".join(texts)
