"""One agent's context: what of its record the next call sees."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from operator import attrgetter

from msgspec import structs

from orchestra.context.assembly import Frame, Joins, Piece, Prompt, around_of, assemble
from orchestra.context.blocks import Block, Entry, Zone
from orchestra.context.budget import Budget, budget_of
from orchestra.context.endings import PINNED, PINNED_LABEL, Endings
from orchestra.context.keeping import Compacted, Draft, numbers, report_of
from orchestra.context.labels import data
from orchestra.context.ledger import SOURCE, carry_out
from orchestra.context.levels import Compaction, due
from orchestra.context.pins import Pin
from orchestra.context.policy import Policy
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.recollector import Recollector, View
from orchestra.context.record import Record
from orchestra.context.squeeze import kept_findable, squeeze
from orchestra.context.summary.schema import SummaryTask, Version
from orchestra.context.tokens import Counter
from orchestra.context.toolsheet import NO_TOOLS, ToolSheet, sheet_of, slimmed
from orchestra.errors import ContextOverflow
from orchestra.values.messages import Message, OutputSpec, ToolSpec

_tokens = attrgetter("tokens")
_FIXED_MOST = 0.8
"""Of the budget, what may never be cut may take with the pinned facts; the rest is for the turns."""

LOWER_WINDOW_SHARE = 0.75
"""Of the window that was too large for an endpoint which does not say how large it may be."""


class Context(Record):
    """Everything one agent may see, nothing of any other, and the prompt of its next call."""

    __slots__ = ("_endings", "_gone", "_joins", "_sheet", "_slim", "budget", "policy", "reports")

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
        super().__init__(agent, instructions, counter, policy)
        self.recollector = Recollector(counter, embedder)
        self.policy = policy
        self.budget: Budget = budget_of(window, policy)
        self.reports: list[Compacted] = []
        self._gone: list[Entry] = []
        self._joins: Joins = {}
        self._endings = Endings(counter, policy.without)
        self._sheet: ToolSheet = NO_TOOLS
        self._slim = False

    def narrow(self, window: int) -> None:
        """From now on prompts are made for a context window of so many tokens."""
        self.budget = budget_of(window, self.policy)

    def too_long(self, told: int | None) -> None:
        """An endpoint refused the last prompt; `told`: the window it named, None for none."""
        window = self.budget.window
        self.narrow(told if told is not None and told < window else int(window * LOWER_WINDOW_SHARE))

    def due(self, tools: tuple[ToolSpec, ...] = (), *, critical: bool = False) -> Compaction | None:
        """What should leave before the next prompt; whoever can summarise does so and calls `compact`.

        `critical`: nothing above the light level is due in this step.
        """
        self._begin()
        tokens = self._occupied(tools)
        if tokens < self.policy.levels.light * self.budget.usable:
            return None
        keeping = self.keeping
        if self._answered:
            self._blocks = keeping.settle(self._blocks, self._answered)
        importance = None if critical else keeping.importance
        return due(self.blocks, tokens, self.budget, self.policy, self.turn, importance)

    def summary_task(self, compaction: Compaction) -> SummaryTask | None:
        """What a summary of this compaction has to cover; None where used calls leave and none is wanted."""
        if compaction.level == "light":
            return None
        task = self.keeping.task(compaction, self.policy, self.budget.usable)
        return task if task.parts else None

    def compact(self, compaction: Compaction, draft: Draft | None = None, *, at: float = 0.0) -> Compacted:
        """Move what leaves to the archive; pinned facts, a summary and a line in the ledger stay.

        `draft`: from whoever can summarise; None: what was said is summarised by rule. A draft that does not
        hold is refused, and what it would have stood for leaves without.
        """
        keeping = self.keeping
        keeping.hear(self._blocks)
        keeping.read_leaving(compaction, self._blocks)
        pins, out = self._pinned(compaction)
        task = verdict = None
        if compaction.level != "light":
            task = keeping.task(compaction, self.policy, self.budget.usable, spoken=draft is None)
            if task.parts:
                draft = draft or keeping.by_rule(task)
                verdict = keeping.judge(draft, task, compaction, (pins, *self._held()))
        covered = numbers(task) if task and verdict and verdict.summary else ()
        self._blocks, gone = carry_out(
            compaction, self._blocks, self.archive, keeping.ledger, keeping.made, covered
        )
        self._gone += gone
        if task and draft and verdict and verdict.summary:
            covers = tuple(part.id for part in task.parts)
            keeping.versions.add(verdict.summary, covers, draft.by, self.turn, at)
        self._joins.clear()
        self._stand_in(pins, at)
        self._slim = self._slim or compaction.level != "light"
        report = report_of(compaction, verdict, draft if verdict else None, keeping)
        report = structs.replace(report, after=self._occupied(self._sheet.asked), unpinned=len(out))
        self.reports.append(report)
        return report

    def take_reports(self) -> list[Compacted]:
        """What the compactions since the last time did, oldest first."""
        self.reports, taken = [], self.reports
        return taken

    def restore_summary(self, number: int, *, at: float = 0.0) -> Version:
        """Make an earlier version of the summary the current one; raises InputError for an unknown number."""
        version = self.keeping.versions.restore(number, self.turn, at)
        pins, _ = self.keeping.pins.text(self._pins_room(()), {block.number for block in self._blocks})
        self._blocks = [block for block in self._blocks if block.number not in self.keeping.made]
        self._joins.clear()
        self._stand_in(pins, at)
        return version

    def _occupied(self, tools: tuple[ToolSpec, ...]) -> int:
        held = (*self._blocks, *self._endings.state(self.state))
        return int(self._tools(tools).tokens + sum(map(_tokens, held)))

    def _pinned(self, compaction: Compaction) -> tuple[str, tuple[Pin, ...]]:
        """The text of the pinned facts whose own words are not in the prompt, and those without room."""
        leaving = {block.number for block in compaction.blocks}
        return self.keeping.pins.text(self._pins_room(leaving), {b.number for b in self._blocks} - leaving)

    def _pins_room(self, leaving: Collection[int]) -> int:
        """Their share of the budget, or what else may never be cut leaves of most of it."""
        usable = self.budget.usable if "pins" not in self.policy.without else 0
        fixed = sum(
            block.tokens
            for block in self._blocks
            if block.protected and block.number not in leaving and block.number not in self.keeping.made
        )
        return max(min(int(self.policy.pins_share * usable), int(_FIXED_MOST * usable) - fixed), 0)

    def _held(self) -> tuple[str, ...]:
        """What stands in every prompt word for word."""
        state = (piece.text for piece in self._endings.state(self.state))
        return (*state, *(block.message.text for block in self._blocks if block.zone in ("fixed", "input")))

    def _stand_in(self, pins: str, at: float) -> None:
        """Put pinned facts, summary and ledger where the stable part of the prompt ends."""
        keeping = self.keeping
        keeping.made.clear()
        self._settled = False
        if pins:
            text = data(PINNED_LABEL, pins)
            self._make("memory", PINNED, text, why="said once and binding", pinned=True, at=at)
        if (current := keeping.versions.current) is not None:
            text = data(f"summary v{current.number} | stands for what was said before", current.text)
            self._make("knowledge", "summary", text, why=f"made by {current.by}", ref=current.ref, at=at)
        if left := keeping.ledger.text(min(40, 5 + self.budget.usable // 400)):  # a line: about 20 tokens
            text = data("left out of this prompt | recall brings it back", left)
            self._make("knowledge", SOURCE, text, why="what left and how to get it", at=at)
        self._settled = True

    def _make(self, zone: Zone, source: str, text: str, **fields: object) -> None:
        block = self._add(zone, source, Message("user", text), priority=90, leaves="never", **fields)
        self.keeping.made.add(block.number)

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
        self.close_calls("the call did not return", at=at)
        compaction = self.due(tools, critical=critical)
        if compaction is not None:
            self.compact(compaction, at=at)
        frame = Frame(
            agent=self.agent,
            turn=self.turn,
            before=self._before(),
            after=self._after(output, bool(tools), enforced=enforced, ask=ask),
            beside=self._endings.schema(output) if enforced and output is not None else (),
            tools=self._tools(tools),
            output=output,
            gone=tuple(self._gone),
            compaction=compaction,
        )
        view = self._view(frame)
        if view is not None:
            before = (*view.pieces, *self._before(view.blocks, view.pieces))
            frame = structs.replace(frame, before=before, gone=(*frame.gone, *view.gone))
            self._settled = True
            self._gone.clear()
            return assemble(view.blocks, self.budget, self.counter, frame, self._joins)
        try:
            made = assemble(self._blocks, self.budget, self.counter, frame, self._joins)
        except ContextOverflow:
            if not self._unpin():
                raise
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
        whole = structs.replace(frame, gone=tuple(self._gone), compaction=compaction)
        return assemble(self._blocks, self.budget, self.counter, whole, self._joins)

    def _view(self, frame: Frame) -> View | None:
        """The recalled view of the past, with the pinned facts of all that it does not show."""
        around = around_of(frame, self.counter)
        view = self.recollector.view(self.blocks, self.budget, self.policy, around)
        blocks = [block for block in self.blocks if block.source != PINNED or not block.pinned]
        pins, missing = tuple[Piece, ...](), True
        # What pins take, recall has less of, so that more may have to be pinned, until nothing changes.
        while view is not None and missing:
            shown = {block.number for block in view.blocks}
            pins = self._endings.pinned(self.keeping.pins.text(self._pins_room(()), shown)[0])
            view = self.recollector.view(blocks, self.budget, self.policy, around + sum(map(_tokens, pins)))
            missing = view is not None and not shown <= {*(b.number for b in view.blocks), *self.keeping.made}
            blocks = [b for b in blocks if b.number in shown] if missing else blocks
        return view if view is None else structs.replace(view, pieces=(*pins, *view.pieces))

    def fork(self) -> Context:
        """A context with the same past that goes its own way; what is frozen is shared."""
        frozen = (self.counter, self.policy, self.budget, self.state, self._sheet, self._endings)
        return copy.deepcopy(self, {id(part): part for part in (*frozen, *self._blocks, *self.archive)})

    def _unpin(self) -> bool:
        """Give up the pinned facts for a task that needs the room; they can be recalled, and come back."""
        before = len(self._blocks)
        self._blocks = [b for b in self._blocks if not (b.number in self.keeping.made and b.pinned)]
        return len(self._blocks) < before

    def _before(
        self, blocks: Sequence[Block] | None = None, recalled: tuple[Piece, ...] = ()
    ) -> tuple[Piece, ...]:
        """The state, the constraints once more, and marks at values that hold no longer."""
        pieces = self._endings.state(self.state)
        if (keeping := self._keeping) is None:
            return pieces
        blocks = self._blocks if blocks is None else blocks
        pieces += self._endings.constraints(reversed(keeping.pins.constraints()), blocks, self.policy)
        texts = [(block.number, block.message.text) for block in blocks]
        texts += [(0, piece.text) for piece in recalled]
        marks = keeping.pins.marks(texts) if keeping.pins.superseded else ""
        return pieces + self._endings.superseded(marks)

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
