"""From blocks to one prompt: pure, the same each time, never over its budget."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct

from orchestra.context.blocks import Block, Entry, Zone
from orchestra.context.budget import Budget
from orchestra.context.levels import Compaction
from orchestra.context.manifest import Manifest
from orchestra.context.tokens import MESSAGE_TOKENS, REPLY_TOKENS, Counter
from orchestra.context.toolsheet import NO_TOOLS, ToolSheet
from orchestra.context.trimming import Kept, fit, without_unpaired
from orchestra.values.messages import Message, OutputSpec, ToolSpec

Joins = dict[tuple[int, ...], Message]


class Piece(Struct, frozen=True, gc=False):
    """A text that is made anew for each prompt and stands at its end: state, reminder, output format."""

    zone: Zone
    name: str
    text: str
    tokens: int
    why: str = ""

    def entry(self, turn: int) -> Entry:
        return Entry(self.name, self.zone, self.name, self.tokens, self.tokens, "kept", self.why, turn)


class Frame(Struct, frozen=True, kw_only=True, gc=False):
    """What stands around the blocks of one prompt.

    `before`: pieces in front of the current input when that is the last thing said, at the end otherwise.
    `after`: pieces that stand last. `beside`: what is sent with the messages and stands in none of them.
    `gone`: what left the context since the last prompt.
    """

    agent: str = ""
    turn: int = 1
    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    beside: tuple[Piece, ...] = ()
    tools: ToolSheet = NO_TOOLS
    output: OutputSpec | None = None
    gone: tuple[Entry, ...] = ()
    compaction: Compaction | None = None


class Prompt(Struct, frozen=True, kw_only=True, gc=False):
    """One model call, assembled. `tokens` is all of it: messages, tool schemas and what a chat format adds.

    `cache_until`: the number of leading messages that the next prompt shares unless room has to be made.
    `output_tokens`: kept free for the reply. `compaction`: what left to make room for this prompt.
    `blocks`: what it shows, in order. `squeezed`: not everything fitted.
    """

    messages: tuple[Message, ...]
    sheet: ToolSheet
    output: OutputSpec | None
    manifest: Manifest
    blocks: tuple[Block, ...]
    tokens: int
    output_tokens: int
    cache_until: int
    compaction: Compaction | None = None
    squeezed: bool = False

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self.sheet.specs


_place = attrgetter("place")
_tokens = attrgetter("tokens")
_entry = attrgetter("entry")


def around_of(frame: Frame, counter: Counter) -> int:
    """Tokens of what stands around the blocks, but for what a chat format adds to the reply."""
    after = frame.after or (_last_word(frame, counter),)
    return frame.tools.tokens + sum(piece.tokens for piece in (*frame.before, *after, *frame.beside))


def assemble(
    blocks: Sequence[Block], budget: Budget, counter: Counter, frame: Frame, joins: Joins | None = None
) -> Prompt:
    """The prompt of these blocks, given in the order of their arrival.

    `joins` remembers neighbouring blocks that were put into one message, so that it stays the same object and
    is encoded once; it changes nothing in the result. Raises ContextOverflow when what may never be cut
    does not fit.
    """
    ordered, gone = without_unpaired(sorted(blocks, key=_place))
    after = frame.after or (_last_word(frame, counter),)
    around = REPLY_TOKENS + sum(map(_tokens, (*frame.before, *after, *frame.beside)))
    if around + frame.tools.tokens + sum(map(_tokens, ordered)) <= budget.usable:
        kept = Kept(ordered, frame.tools, ())
    else:
        names = {piece.name: piece.tokens for piece in (*frame.before, *after, *frame.beside)}
        kept = fit(ordered, budget, counter, frame.tools, {**names, "reply": REPLY_TOKENS})
    if not frame.after and not _ends_with_model(kept.blocks):
        after = ()
    messages, shared = _weave(kept.blocks, frame.before, after, {} if joins is None else joins)
    entries = (
        Entry("reply", "fixed", "chat format", REPLY_TOKENS),
        *kept.tools.entries,
        *map(_entry, kept.blocks),
        *(piece.entry(frame.turn) for piece in (*frame.before, *after, *frame.beside)),
        *kept.gone,
        *gone,
        *frame.gone,
    )
    return Prompt(
        messages=messages,
        sheet=kept.tools,
        output=frame.output,
        manifest=_manifest(frame, budget, entries),
        blocks=tuple(kept.blocks),
        tokens=sum(map(_tokens, entries)),
        output_tokens=budget.output,
        cache_until=shared,
        compaction=frame.compaction,
        squeezed=bool(kept.gone) or kept.tools is not frame.tools or kept.cut,
    )


def _manifest(frame: Frame, budget: Budget, entries: tuple[Entry, ...]) -> Manifest:
    return Manifest(
        agent=frame.agent,
        turn=frame.turn,
        window=budget.window,
        output=budget.output,
        margin=budget.margin,
        usable=budget.usable,
        entries=entries,
    )


def _last_word(frame: Frame, counter: Counter) -> Piece:
    """For a prompt that would end with the model's own words, which some endpoints would go on writing."""
    text = "Go on." if frame.output is None else "Give your final result now."
    tokens: int = counter.once(text, lambda: counter.count(text))
    return Piece("input", "ask", text, tokens + MESSAGE_TOKENS, "a word of the runtime")


def _ends_with_model(blocks: Sequence[Block]) -> bool:
    said = (block.message.role for block in reversed(blocks) if block.zone in ("history", "input"))
    return next(said, "") == "assistant"


def _weave(
    blocks: Sequence[Block], before: tuple[Piece, ...], after: tuple[Piece, ...], joins: Joins
) -> tuple[tuple[Message, ...], int]:
    """The messages, neighbours of the system and of the user as one each, with the pieces at the end.

    Returns too how many of them the next prompt will begin with.
    """
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
    ending = bool(before or after)
    if run and not (ending and role == "user"):
        messages.append(_joined(run, joins))
        run = []
    shared = len(messages)
    if ending:
        messages.append(Message("user", _tail(run, before, after)))
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


def _tail(run: list[Block], before: tuple[Piece, ...], after: tuple[Piece, ...]) -> str:
    """The last message: what the user said last, with the pieces around it."""
    texts = [block.message.text for block in run]
    at = len(texts) - 1 if run and run[-1].zone == "input" else len(texts)
    texts[at:at] = [piece.text for piece in before]
    texts += [piece.text for piece in after]
    return "\n\n".join(texts)
