"""From blocks to one prompt: pure, the same each time, never over its budget."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct, structs

from orchestra.context.blocks import BLANK, Block, Entry, Zone
from orchestra.context.budget import Budget
from orchestra.context.levels import Compaction
from orchestra.context.manifest import Manifest
from orchestra.context.tokens import MESSAGE_TOKENS, REPLY_TOKENS, Counter
from orchestra.context.toolsheet import NO_TOOLS, ToolSheet
from orchestra.context.trimming import fit
from orchestra.context.weaving import Joins
from orchestra.journal.prompts import Sent
from orchestra.values.messages import Message, OutputSpec, ToolSpec

GO_ON = "Go on."
FINISH = "Give your final result now."
_WORD_MOST = len(FINISH) + MESSAGE_TOKENS  # what the longer of the two can have at most
_REPLY = Entry("reply", "fixed", "chat format", REPLY_TOKENS)


class Piece(Struct, frozen=True, gc=False):
    """A text that belongs to one prompt and stands at its end: state, reminder, output format.

    `entry`: its line in a manifest, the same as long as the piece is.
    """

    zone: Zone
    name: str
    text: str
    tokens: int
    why: str = ""
    entry: Entry = BLANK

    def __post_init__(self) -> None:
        entry = Entry(self.name, self.zone, self.name, self.tokens, self.tokens, "kept", self.why)
        structs.force_setattr(self, "entry", entry)  # nobody else has seen it yet


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


class Prompt(Sent, frozen=True, kw_only=True, gc=False):
    """One model call, assembled: what is sent, and what is known of it.

    `tokens` is all of it: messages, tool schemas and what a chat format adds.
    `cache_until`: the number of leading messages that the next prompt shares unless room has to be made.
    `output_tokens`: kept free for the reply. `compaction`: what left to make room for this prompt.
    `blocks`: what it shows, in order. `squeezed`: not everything fitted.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    manifest: Manifest
    sheet: ToolSheet
    output: OutputSpec | None
    blocks: tuple[Block, ...]
    tokens: int
    output_tokens: int
    cache_until: int
    compaction: Compaction | None = None
    squeezed: bool = False


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

    `joins` remembers the last prompt, so that only what is new in this one is looked at; it changes nothing
    in the result. Raises ContextOverflow when what may never be cut does not fit.
    """
    woven, before, after, sheet = (joins or Joins()).weave(blocks), frame.before, frame.after, frame.tools
    gone, cut, usable = woven.unpaired, False, budget.usable
    ending = (*before, *after, *frame.beside)
    around = REPLY_TOKENS + sheet.tokens + sum(map(_tokens, ending))
    if around + woven.tokens > usable - _WORD_MOST:
        word = () if after else (_last_word(frame, counter),)  # for which there has to be room
        if around + woven.tokens + sum(map(_tokens, word)) > usable:
            names = {piece.name: piece.tokens for piece in (*ending, *word)}
            kept = fit(woven.blocks, budget, counter, sheet, {**names, "reply": REPLY_TOKENS})
            around += kept.tools.tokens - sheet.tokens
            sheet, gone, cut = kept.tools, (*kept.gone, *gone), kept.cut or bool(kept.gone)
            woven = woven.apart(kept.blocks)  # pairs were kept
    if not after and _ends_with_model(woven.blocks):
        after = (_last_word(frame, counter),)
        ending = (*before, *after, *frame.beside)
        around += after[0].tokens
    messages, shared = _ended(woven, before, after)
    manifest = Manifest(
        agent=frame.agent,
        turn=frame.turn,
        window=budget.window,
        output=budget.output,
        margin=budget.margin,
        usable=usable,
        entries=(_REPLY, *sheet.entries, *woven.entries, *map(_entry, ending), *gone, *frame.gone),
    )
    return Prompt(
        messages=messages,
        tools=sheet.specs,
        sheet=sheet,
        output=frame.output,
        manifest=manifest,
        blocks=woven.blocks,
        tokens=around + woven.tokens,
        output_tokens=budget.output,
        cache_until=shared,
        compaction=frame.compaction,
        squeezed=cut or sheet is not frame.tools,
    )


def _last_word(frame: Frame, counter: Counter) -> Piece:
    """For a prompt that would end with the model's own words, which some endpoints would go on writing."""
    text = GO_ON if frame.output is None else FINISH
    piece: Piece = counter.once(text, _word)
    return piece


def _word(text: str, counter: Counter) -> Piece:
    return Piece("input", "ask", text, counter.count(text) + MESSAGE_TOKENS, "a word of the runtime")


def _ends_with_model(blocks: Sequence[Block]) -> bool:
    for block in reversed(blocks):
        if block.zone == "history" or block.zone == "input":
            return block.message.role == "assistant"
    return False


def _ended(
    woven: Joins, before: tuple[Piece, ...], after: tuple[Piece, ...]
) -> tuple[tuple[Message, ...], int]:
    """The messages with the pieces at the end, and how many of them the next prompt will begin with."""
    messages, run = woven.messages, woven.run
    if not (before or after):
        whole = (*messages, woven.joined(run)) if run else tuple(messages)
        return whole, len(whole)
    if run and run[0].message.role != "user":
        messages, run = [*messages, woven.joined(run)], []
    return (*messages, Message("user", _tail(run, before, after))), len(messages)


def _tail(run: Sequence[Block], before: tuple[Piece, ...], after: tuple[Piece, ...]) -> str:
    """The last message: what the user said last, with the pieces around it."""
    texts = [block.message.text for block in run]
    at = len(texts) - 1 if run and run[-1].zone == "input" else len(texts)
    texts[at:at] = [piece.text for piece in before]
    texts += [piece.text for piece in after]
    return "\n\n".join(texts)
