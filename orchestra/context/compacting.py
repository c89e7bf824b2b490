"""An agent's record that makes room for itself: what leaves, and what stands for it."""

from __future__ import annotations

from collections.abc import Collection
from operator import attrgetter

from msgspec import structs

from orchestra.context.blocks import NEVER_CUT, Entry, Zone
from orchestra.context.budget import Budget, budget_of
from orchestra.context.endings import PINNED, PINNED_LABEL, Endings, Pieces
from orchestra.context.keeping import Compacted, Draft, numbers, report_of
from orchestra.context.labels import data
from orchestra.context.ledger import SOURCE, carry_out
from orchestra.context.levels import WORTH, Compaction, Held, due
from orchestra.context.policy import Policy
from orchestra.context.recall.embedding import Embedder
from orchestra.context.record import Record
from orchestra.context.state import EMPTY
from orchestra.context.summary.schema import SummaryTask, Version
from orchestra.context.tokens import Counter
from orchestra.context.toolsheet import NO_TOOLS, ToolSheet, sheet_of, slimmed
from orchestra.context.weaving import Joins
from orchestra.values.messages import Message, OutputSpec, ToolSpec

_tokens = attrgetter("tokens")
_used = attrgetter("used")
BINDING_TOKENS = 120
"""What constraints may take where the share of pins in a small budget is less, up to a fifth of it."""
_FIXED_MOST = 0.8
"""Of the budget, what may never be cut may take with the pinned facts; the rest is for the turns."""


class Compacting(Record):
    """The record of one agent under a budget of tokens."""

    __slots__ = (
        "_due", "_ends", "_gone", "_joins", "_schema", "_sheet", "_slim", "_views", "budget", "reports",
    )  # fmt: skip

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
        super().__init__(agent, instructions, counter, policy, embedder)
        self.budget: Budget = budget_of(window, policy)
        self.reports: tuple[Compacted, ...] = ()
        self._due: tuple[object, Compaction | None] = (None, None)
        self._gone: tuple[Entry, ...] = ()  # what left since the last prompt
        self._joins = Joins()
        self._ends: Endings | None = None  # most agents have none
        self._schema: tuple[OutputSpec | None, Pieces] = (None, ())
        self._sheet: ToolSheet = NO_TOOLS
        self._slim = False
        self._views = bool(policy.recall_share) or "window" in policy.without  # prompts are recalled views

    @property
    def _endings(self) -> Endings:
        """The pieces at the end of a prompt."""
        if self._ends is None:
            self._ends = Endings(self.counter, self.policy.without)
        return self._ends

    def due(self, tools: tuple[ToolSpec, ...] = (), *, critical: bool = False) -> Compaction | None:
        """What should leave before the next prompt; whoever can summarise does so and calls `compact`.

        `critical`: nothing above the light level is due in this step.
        """
        tokens = self.occupied(tools)
        levels, usable = self.policy.levels, self.budget.usable
        if tokens < levels.light * usable:
            return None
        if not critical and tokens >= levels.medium * usable:
            tokens = self._thinned(tools)
        if self._answered:
            self._blocks = self.keeping.settle(self._blocks, self._answered)
        if (critical or tokens < levels.medium * usable) and not any(map(_used, self._blocks)):
            return None  # the light level lets go of what is used
        keeping = self.keeping
        importance = None if critical else keeping.importance
        held = Held(tokens, keeping.growth(self.policy, usable))
        # Asked before a summary is made and again when the prompt is: the same blocks, the same answer.
        asked = (held, self.budget, self.policy, self.turn, critical, self._blocks)
        if self._due[0] != asked:
            found = due(self.blocks, held, self.budget, self.policy, self.turn, importance)
            self._due = ((*asked[:-1], self._blocks[:]), found)
        return self._due[1]

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
        self._gone += tuple(gone)
        self._note_gone(compaction)
        if task and draft and verdict and verdict.summary:
            covers = tuple(part.id for part in task.parts)
            keeping.versions.add(verdict.summary, covers, draft.by, self.turn, at)
        self._joins = Joins()
        self._stand_in(pins, at)
        self._slim = self._slim or compaction.level != "light"
        report = report_of(compaction, verdict, draft if verdict else None, keeping)
        report = structs.replace(report, after=self.occupied(self._sheet.asked), unpinned=out)
        self.reports += (report,)
        return report

    def take_reports(self) -> tuple[Compacted, ...]:
        """What the compactions since the last time did, oldest first."""
        self.reports, taken = (), self.reports
        return taken

    def _note_gone(self, compaction: Compaction) -> None:
        """Data given to the agent that is no longer shown whole can be found by its words from now on."""
        for block in (*compaction.blocks, *compaction.cut):
            if block.zone in ("memory", "knowledge") and block.number not in self.keeping.made:
                self.recollector.note_gone(block, self.archive)

    def restore_summary(self, number: int, *, at: float = 0.0) -> Version:
        """Make an earlier version of the summary the current one; raises InputError for an unknown number."""
        version = self.keeping.versions.restore(number, self.turn, at)
        tokens, binding = self._pins_room(())
        pins, _ = self.keeping.pins.text(tokens, {block.number for block in self._blocks}, binding)
        self._blocks = [block for block in self._blocks if block.number not in self.keeping.made]
        self._joins = Joins()
        self._stand_in(pins, at)
        return version

    def occupied(self, tools: tuple[ToolSpec, ...]) -> int:
        """Tokens of the blocks, the state and the tools."""
        sheet = self._sheet
        if self._slim or sheet.asked is not tools:
            sheet = self._tools(tools)
        tokens: int = sum(map(_tokens, self._blocks), sheet.tokens)
        if self._keeping is not None and (state := self._keeping.state.now) is not EMPTY:
            tokens += sum(map(_tokens, self._endings.state(state)))
        return tokens

    def _pinned(self, compaction: Compaction) -> tuple[str, int]:
        """The text of the pinned facts whose own words are not in the prompt, and how many had no room."""
        leaving = {block.number for block in compaction.blocks}
        tokens, binding = self._pins_room(leaving)
        return self.keeping.pins.text(tokens, {b.number for b in self._blocks} - leaving, binding)

    def _pins_room(self, leaving: Collection[int]) -> tuple[int, int]:
        """Their share of the budget or what the rest that is never cut leaves of it; and for constraints."""
        usable = self.budget.usable if "pins" not in self.policy.without else 0
        made = self.keeping.made
        fixed = sum(
            block.tokens
            for block in self._blocks
            if (block.pinned or block.zone in NEVER_CUT)
            and block.number not in leaving
            and block.number not in made
        )
        most = max(int(_FIXED_MOST * usable) - fixed, 0)
        tokens = min(int(self.policy.pins_share * usable), most)
        return tokens, max(tokens, min(BINDING_TOKENS, usable // 5, most))

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
            self._make("memory", PINNED, text, at, "said once and binding", pinned=True)
        if (current := keeping.versions.current) is not None:
            text = data(f"summary v{current.number} | stands for what was said before", current.text)
            self._make("knowledge", "summary", text, at, f"made by {current.by}", ref=current.ref)
        if left := keeping.ledger.text(min(40, 5 + self.budget.usable // 400)):  # a line: about 20 tokens
            text = data("left out of this prompt | recall brings it back", left)
            self._make("knowledge", SOURCE, text, at, "what left and how to get it")
        self._settled = True

    def _make(self, zone: Zone, source: str, text: str, at: float, why: str, **fields: object) -> None:
        made = self._add(zone, source, Message("user", text), at, why, "never")
        self._blocks[-1] = structs.replace(made, priority=90, **fields)
        self.keeping.made.add(made.number)

    def _thinned(self, tools: tuple[ToolSpec, ...]) -> int:
        """The prompt's tokens; its schemas are slim from now on if that is worth it, before words leave."""
        thin = slimmed(self._tools(tools), self.counter)
        if self._sheet.tokens - thin.tokens >= WORTH * self.budget.usable:
            self._slim, self._sheet = True, thin
        return self.occupied(tools)

    def _tools(self, specs: tuple[ToolSpec, ...]) -> ToolSheet:
        if self._sheet.asked is not specs and self._sheet.asked != specs:
            self._sheet = sheet_of(specs, self.counter)
        if self._slim:
            self._sheet = slimmed(self._sheet, self.counter)
        return self._sheet
