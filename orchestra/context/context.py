"""One agent's context: what of its record the next call sees."""

from __future__ import annotations

import copy
from operator import attrgetter

from msgspec import structs

from orchestra.context.assembly import Frame, Joins, Piece, Prompt, assemble
from orchestra.context.blocks import (
    Entry,
)
from orchestra.context.budget import Budget, budget_of
from orchestra.context.endings import Endings
from orchestra.context.labels import data
from orchestra.context.ledger import SOURCE, Ledger, carry_out
from orchestra.context.levels import Compaction, due
from orchestra.context.policy import Policy
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.recollector import Recollector
from orchestra.context.record import Record
from orchestra.context.squeeze import kept_findable, squeeze
from orchestra.context.tokens import Counter
from orchestra.context.toolsheet import NO_TOOLS, ToolSheet, sheet_of, slimmed
from orchestra.values.messages import Message, OutputSpec, ToolSpec

_tokens = attrgetter("tokens")


class Context(Record):
    """Everything one agent may see, nothing of any other, and the prompt of its next call."""

    __slots__ = ("_endings", "_gone", "_joins", "_ledger", "_sheet", "_slim", "budget", "policy")

    def __init__(
        self,
        agent: str,
        instructions: str,
        *,
        policy: Policy,
        window: int,
        counter: Counter,
        embedder: Embedder | None = None,
    ) -> None:
        super().__init__(agent, instructions, counter, policy.result_tokens)
        self.recollector = Recollector(counter, embedder)
        self.policy = policy
        self.budget: Budget = budget_of(window, policy)
        self._ledger = Ledger()
        self._gone: list[Entry] = []
        self._joins: Joins = {}
        self._endings = Endings(counter)
        self._sheet: ToolSheet = NO_TOOLS
        self._slim = False

    def due(self, tools: tuple[ToolSpec, ...] = ()) -> Compaction | None:
        """What should leave before the next prompt; whoever can summarise does so and calls `compact`."""
        self._begin()
        pieces = self._endings.state(self.state)
        tokens = self._tools(tools).tokens + sum(map(_tokens, (*self._blocks, *pieces)))
        if tokens < self.policy.levels.light * self.budget.usable:
            return None
        return due(self.blocks, tokens, self.budget, self.policy, self.turn)

    def compact(self, compaction: Compaction, *, summary: str = "", at: float = 0.0) -> None:
        """Move what leaves to the archive; a line in the ledger, or the summary that covers it, stays."""
        self._blocks, gone = carry_out(
            compaction, self._blocks, self.archive, self._ledger, summarised=bool(summary)
        )
        self._gone += gone
        self._joins.clear()
        self._settled = False
        if summary:
            self.add_data("knowledge", "summary", summary, why="stands for older turns", at=at)
        left = self._ledger.text(min(40, 5 + self.budget.usable // 400))  # a line has about 20 tokens
        if left:
            message = Message("user", data("left out of this prompt | recall brings it back", left))
            self._add("knowledge", SOURCE, message, why="what left and how to get it", priority=90)
        self._settled = True
        self._slim = self._slim or compaction.level != "light"

    def prompt(
        self,
        tools: tuple[ToolSpec, ...] = (),
        output: OutputSpec | None = None,
        *,
        enforced: bool = False,
        ask: str = "",
        at: float = 0.0,
    ) -> Prompt:
        """The next call. `enforced`: the endpoint itself holds the reply to the schema, so it is not shown.

        `ask`: a last word to the model, such as that it has to finish now. Raises ContextOverflow.
        """
        self.close_calls("the call did not return", at=at)
        compaction = self.due(tools)
        if compaction is not None:
            self.compact(compaction, at=at)
        frame = Frame(
            agent=self.agent,
            turn=self.turn,
            before=self._before(tools),
            after=self._after(output, bool(tools), enforced=enforced, ask=ask),
            tools=self._tools(tools),
            output=output,
            gone=tuple(self._gone),
            compaction=compaction,
        )
        made = assemble(self._blocks, self.budget, self.counter, frame, self._joins)
        if made.squeezed:
            made = self._squeezed(made, frame, at)
        self._settled = True
        self._gone.clear()
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
        frame = structs.replace(frame, gone=tuple(self._gone), compaction=compaction)
        return assemble(self._blocks, self.budget, self.counter, frame, self._joins)

    def fork(self) -> Context:
        """A context with the same past that goes its own way; what is frozen is shared, the index at first."""
        frozen = (self.counter, self.policy, self.budget, self.state, self._sheet, self._endings)
        return copy.deepcopy(self, {id(part): part for part in (*frozen, *self._blocks, *self.archive)})

    def _before(self, tools: tuple[ToolSpec, ...]) -> tuple[Piece, ...]:
        pieces = self._endings.state(self.state)
        around = self._tools(tools).tokens + sum(map(_tokens, pieces))
        return (*self.recollector.piece(self.blocks, self.budget, self.policy, around), *pieces)

    def _after(
        self, output: OutputSpec | None, tools: bool, *, enforced: bool, ask: str
    ) -> tuple[Piece, ...]:
        pieces = self._endings.reminder(self._blocks, self.policy) + self._endings.ask(ask)
        return pieces if output is None or enforced else pieces + self._endings.output(output, tools=tools)

    def _tools(self, specs: tuple[ToolSpec, ...]) -> ToolSheet:
        if self._sheet.asked != specs:
            self._sheet = sheet_of(specs, self.counter)
        if self._slim:
            self._sheet = slimmed(self._sheet, self.counter)
        return self._sheet
