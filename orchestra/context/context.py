"""One agent's context: what of its record the next call sees."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from operator import attrgetter

from msgspec import structs

from orchestra.context.assembly import Frame, Piece, Prompt, around_of, assemble
from orchestra.context.blocks import Block
from orchestra.context.budget import Budget, budget_of
from orchestra.context.compacting import Compacting
from orchestra.context.endings import schema_pieces
from orchestra.context.levels import Compaction
from orchestra.context.recall.turns import Recalled
from orchestra.context.recall.window import asking
from orchestra.context.squeeze import kept_findable, squeeze
from orchestra.context.tokens import REPLY_TOKENS, Counter
from orchestra.errors import ContextOverflow
from orchestra.values.messages import OutputSpec, ToolSpec

_tokens = attrgetter("tokens")
_VIEWS = 3
"""Tries at a recalled view that fits with the marks at what it shows."""

LOWER_WINDOW_SHARE = 0.75
"""Of the window that was too large for an endpoint which does not say how large it may be."""


class Context(Compacting):
    """Everything one agent may see, nothing of any other, and the prompt of its next call."""

    __slots__ = ()

    def narrow(self, window: int) -> None:
        """From now on prompts are made for a context window of so many tokens."""
        self.budget = budget_of(window, self.policy)

    def too_long(self, told: int | None) -> None:
        """An endpoint refused the last prompt; `told`: the window it named, None for none."""
        window = self.budget.window
        self.narrow(told if told is not None and told < window else int(window * LOWER_WINDOW_SHARE))

    def prompt(
        self,
        tools: tuple[ToolSpec, ...] = (),
        output: OutputSpec | None = None,
        *,
        enforced: bool = False,
        ask: str = "",
        critical: bool = False,
        at: float = 0.0,
    ) -> Prompt:
        """The next call. `enforced`: the endpoint itself holds the reply to the schema, so it is not shown.

        `ask`: a last word to the model, such as that it has to finish now. Raises ContextOverflow.
        """
        if self._calls is not None:
            self.close_calls("the call did not return", at=at)
        compaction = self.due(tools, critical=critical)
        if compaction is not None:
            self.compact(compaction, at=at)
        return self.as_it_is(tools, output, enforced=enforced, ask=ask, at=at, compaction=compaction)

    def as_it_is(
        self,
        tools: tuple[ToolSpec, ...],
        output: OutputSpec | None,
        *,
        enforced: bool,
        ask: str,
        at: float,
        compaction: Compaction | None = None,
    ) -> Prompt:
        """As `prompt`, where `due` has just said that nothing has to leave; `compaction`: what just has."""
        if self._calls is not None:
            self.close_calls("the call did not return", at=at)
        blocks, sheet = self._blocks, self._sheet
        after = self._reminder(blocks) if blocks and blocks[-1].zone != "input" else ()
        if ask:
            after += self._endings.ask(ask)
        beside: tuple[Piece, ...] = ()
        if enforced and output is not None:
            beside = self._schema[1] if self._schema[0] is output else self._beside(output)
        elif output is not None:
            after += self._endings.output(output, tools=bool(tools))
        frame = Frame(
            agent=self.agent,
            turn=self.turn,
            before=self._before() if self._keeping is not None else (),
            after=after,
            beside=beside,
            tools=self._tools(tools) if self._slim or sheet.asked is not tools else sheet,
            output=output,
            gone=self._gone,
            compaction=compaction,
        )
        viewed = self._viewed(frame) if self._views or self._recollector is not None else None
        if viewed is not None:
            made = assemble(*viewed, self._joins)
        else:
            try:
                made = assemble(self._blocks, self.budget, self.counter, frame, self._joins)
            except ContextOverflow:
                if not self._unpin():
                    raise
                made = assemble(self._blocks, self.budget, self.counter, frame, self._joins)
            if made.squeezed:
                made = self._squeezed(made, frame, at)
        self._settled = True
        self._gone = ()
        return made

    def _squeezed(self, made: Prompt, frame: Frame, at: float) -> Prompt:
        """The same prompt with room to grow: what does not fit leaves for good and not for this call only."""
        self._sheet = made.sheet  # tools that had to leave stay away, or the prefix would change to and fro
        frame = structs.replace(frame, tools=made.sheet)
        self._blocks = kept_findable(self._blocks, self.archive)
        compaction = squeeze(self._blocks, self.budget, self.counter, frame, self.policy.levels.heavy_to)
        self.compact(compaction, at=at)
        if frame.compaction is not None:
            both = (*frame.compaction.leaving, *compaction.leaving)
            compaction = structs.replace(compaction, before=frame.compaction.before, leaving=both)
        whole = structs.replace(frame, gone=self._gone, compaction=compaction)
        return assemble(self._blocks, self.budget, self.counter, whole, self._joins)

    def _viewed(self, frame: Frame) -> tuple[Sequence[Block], Budget, Counter, Frame] | None:
        """The recalled view of the past, with the pinned facts of what it does not show; None for none."""
        if not self._views:
            self.recollector.last = None
            return None
        around = around_of(frame, self.counter)
        tokens, binding = self._pins_room(())

        def pinned(shown: Collection[int]) -> tuple[Piece, ...]:
            return self._endings.pinned(self.keeping.pins.text(tokens, shown, binding)[0])

        for _ in range(_VIEWS):
            view = self.recollector.view(self.blocks, self.budget, self.policy, around, pinned)
            if view is None:
                break
            before = (*view.pieces, *self._before(view.blocks, view.pieces))
            framed = structs.replace(frame, before=before, gone=(*frame.gone, *view.gone))
            tokens = around_of(framed, self.counter) + REPLY_TOKENS + sum(map(_tokens, view.blocks))
            if tokens <= self.budget.usable:
                return view.blocks, self.budget, self.counter, framed
            around += tokens - self.budget.usable  # marks at old values that were recalled
        return None

    @property
    def recalled(self) -> Recalled | None:
        """What the newest prompt recalled, None when nothing had to be."""
        return None if self._recollector is None else self._recollector.last

    @property
    def recalls(self) -> bool:
        """Whether the next prompt will have to bring something back, as far as can be told before it."""
        if not self.policy.recall_share:
            return False
        blocks = self.blocks
        if not any(block.zone == "input" for block in blocks):
            return False
        nearly = 0.9 * self.budget.usable  # the tools and what stands at the end are not counted here
        return sum(map(_tokens, blocks)) > nearly or not self.recollector.is_all_in(
            blocks, whole=bool(self.policy.values_share)
        )

    @property
    def asks(self) -> tuple[str, str]:
        """The id of the current input, "" for none, and what it makes the agent look for."""
        blocks = self.blocks
        question = next((block for block in reversed(blocks) if block.zone == "input"), None)
        return (question.id, asking(blocks, question)) if question is not None else ("", "")

    def fork(self) -> Context:
        """A context with the same past that goes its own way; what is frozen is shared, and so are models."""
        shared = (self.counter, self.policy, self.budget, self.state, self._ends, self._due)
        return copy.deepcopy(
            self,
            {
                id(part): part
                for part in (
                    *shared,
                    self._sheet,
                    self._schema,
                    self._embedder,
                    *self._blocks,
                    *self._unnoted,
                    *self.archive,
                )
            },
        )

    def _unpin(self) -> bool:
        """Give up the pinned facts for a task that needs the room; they can be recalled, and come back."""
        before = len(self._blocks)
        self._blocks = [b for b in self._blocks if not (b.number in self.keeping.made and b.pinned)]
        return len(self._blocks) < before

    def _before(
        self, blocks: Sequence[Block] | None = None, recalled: tuple[Piece, ...] = ()
    ) -> tuple[Piece, ...]:
        """The state, the constraints once more, and marks at values that hold no longer."""
        keeping = self.keeping
        pieces = self._endings.state(self.state)
        blocks = self._blocks if blocks is None else blocks
        pieces += self._endings.constraints(keeping.pins, blocks, self.policy)
        texts = [(block.number, block.message.text) for block in blocks]
        texts += [(0, piece.text) for piece in recalled]
        marks = keeping.pins.marks(texts) if keeping.pins.superseded else ""
        return pieces + self._endings.superseded(marks)

    def _beside(self, output: OutputSpec) -> tuple[Piece, ...]:
        """The schema that the endpoint holds the reply to."""
        self._schema = (output, schema_pieces(output, self.counter))
        return self._schema[1]

    def _reminder(self, blocks: Sequence[Block]) -> tuple[Piece, ...]:
        """The current input once more, where much stands behind it."""
        if sum(map(_tokens, blocks)) <= self.policy.restate_after:
            return ()
        return self._endings.reminder(blocks, self.policy)
