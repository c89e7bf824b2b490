"""One agent's context: what it was told, did and found, and the prompt of its next call."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from operator import attrgetter

from msgspec import structs

from orchestra.context.archive import Archive, shelved
from orchestra.context.assembly import Frame, Joins, Piece, Prompt, assemble
from orchestra.context.blocks import (
    LATE,
    Block,
    Entry,
    Fate,
    Zone,
    entry_of,
    first_block,
    resettled,
    settled_place,
)
from orchestra.context.budget import Budget, budget_of
from orchestra.context.calls import OpenCalls
from orchestra.context.endings import Endings
from orchestra.context.labels import data, label_of
from orchestra.context.ledger import Ledger
from orchestra.context.levels import Compaction, due
from orchestra.context.policy import Policy
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.recollector import Recollector
from orchestra.context.returned import Result, result_block, stub
from orchestra.context.state import EMPTY, Patch, TaskState, merge
from orchestra.context.tokens import Counter
from orchestra.context.toolsheet import NO_TOOLS, ToolSheet, sheet_of, slimmed
from orchestra.errors import InputError
from orchestra.values.messages import Message, OutputSpec, Reply, ToolSpec

_tokens = attrgetter("tokens")
_place = attrgetter("place")


class Context:
    """Everything one agent may see, and nothing of any other. Not shared; every method is synchronous.

    `turn` is the coming model call, from 1. `at` is in seconds since the epoch, 0.0 where unknown.
    """

    __slots__ = (
        "_blocks",
        "_calls",
        "_endings",
        "_ephemeral",
        "_gone",
        "_instructions",
        "_joins",
        "_ledger",
        "_numbers",
        "_settled",
        "_sheet",
        "_slim",
        "agent",
        "archive",
        "budget",
        "counter",
        "policy",
        "recollector",
        "state",
        "turn",
    )

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
        self.agent = agent
        self.counter = counter
        self.policy = policy
        self.budget: Budget = budget_of(window, policy)
        self.archive = Archive()
        self.state: TaskState = EMPTY
        self.turn = 1
        self._instructions = instructions
        self._blocks: list[Block] = []
        self._numbers = 1  # the first is for the instructions, which come in with the first use
        self._settled = False
        self._calls = OpenCalls()
        self._ephemeral = False
        self._ledger = Ledger()
        self._gone: list[Entry] = []
        self._joins: Joins = {}
        self._endings = Endings(counter)
        self._sheet: ToolSheet = NO_TOOLS
        self._slim = False
        self.recollector = Recollector(counter, embedder)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks as they stand now, in the order of the prompt."""
        self._begin()
        return tuple(sorted(self._blocks, key=_place))

    def add_input(self, text: str, *, at: float = 0.0) -> str:
        """What the user or the parent agent says; the first is the statement of the task, never cut.

        Returns the block's id. The input before, unless it is the first, becomes a part of the history.
        """
        self.close_calls("the user went on", at=at)
        said = [place for place, block in enumerate(self._blocks) if block.zone == "input"]
        if len(said) > 1:
            last = self._blocks[said[-1]]
            self._blocks[said[-1]] = structs.replace(last, zone="history", why="an earlier input")
        why = "the current input" if said else "the task as first stated"
        return self._add("input", "input", Message("user", text), at=at, why=why, leaves="never").id

    def add_data(
        self, zone: Zone, source: str, text: str, *, query: str = "", why: str = "", at: float = 0.0
    ) -> str:
        """A text the agent knows (`knowledge`) or remembers (`memory`), shown fenced.

        Returns the block's id.
        """
        if zone not in ("knowledge", "memory"):
            raise InputError(f"Data goes into the zones knowledge and memory, not into {zone!r}.")
        message = Message("user", data(label_of(source, query, at), text))
        return self._add(zone, source, message, at=at, why=why or f"given as {zone}").id

    def add_said(self, speaker: str, text: str, *, at: float = 0.0, when: str = "") -> str:
        """What somebody said in a conversation that the agent follows; counts as a turn, returns its block's id.

        `when`: its time in words, where seconds are not known.
        """
        message = Message("user", f"{speaker}: {text}")
        made = self._add("history", speaker, message, at=at, why="said earlier", noted=False)
        self.recollector.note(made, time=when or None)
        self.turn += 1
        return made.id

    def fork(self) -> Context:
        """A context with the same past that goes its own way; what is frozen is shared, the index at first."""
        same = (self.counter, self.policy, self.budget, self.state, self._sheet, self._endings, *self._blocks, *self.archive)
        return copy.deepcopy(self, {id(part): part for part in same})

    def record_reply(self, reply: Reply, *, at: float = 0.0) -> str:
        """The model's answer; ends the turn. Reasoning is kept only with calls, where endpoints want it back.

        Returns the block's id.
        """
        self.close_calls("the call did not return", at=at)
        self._begin()
        self._expire()
        reasoning = reply.reasoning if reply.calls else ""
        message = Message("assistant", reply.text, reply.calls, reasoning=reasoning)
        made = self._add("history", "reply", message, at=at, why="the model's answer")
        self.turn += 1
        self._calls.open(reply.calls, made.place)
        return made.id

    def record_results(self, results: Sequence[Result], *, at: float = 0.0) -> tuple[str, ...]:
        """Results of the last reply's calls; once all are there they stand in the order of the calls.

        A result whose call is unknown or was answered before changes nothing. Returns for each the reference
        of its original, "" for one that is not archived or not taken.
        """
        return tuple(self._record_result(result, at) for result in results)

    def close_calls(self, why: str, *, at: float = 0.0) -> None:
        """Give every call that has no result one that says so."""
        for call in self._calls.missing():
            text = f"no result, {why}"
            self._record_result(Result(call=call, text=text, failed=True, archived=False), at)

    def patch_state(self, *patches: Patch) -> TaskState:
        """Merge changes into the task state, field by field."""
        self.state = merge(self.state, *patches)
        return self.state

    def pin(self, block: str, *, pinned: bool = True) -> None:
        """Keep a block, and with it the call it belongs to, whatever happens; or no longer."""
        at = self._find(block)
        self._blocks[at] = structs.replace(self._blocks[at], pinned=pinned)

    def mark_used(self, block: str) -> None:
        """Say that nothing in a block is needed any more, so that it is the first to leave."""
        at = self._find(block)
        self._blocks[at] = structs.replace(self._blocks[at], used=True)

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
        leaving = {block.number: item.why for item in compaction.leaving for block in item.blocks}
        fate: Fate = "summarised" if summary else "offloaded"
        stay: list[Block] = []
        for block in self._blocks:
            if block.number in leaving:
                moved = shelved(block, self.archive)
                self._ledger.note(moved)
                self._gone.append(entry_of(moved, fate, leaving[block.number]))
            elif block.source != "archive":
                stay.append(resettled(block))
        self._blocks = stay
        self._joins.clear()
        self._settled = False
        if summary:
            self.add_data("knowledge", "summary", summary, why="stands for older turns", at=at)
        left = self._ledger.text(min(40, 5 + self.budget.usable // 400))  # a line has about 20 tokens
        if left:
            message = Message("user", data("left out of this prompt | recall brings it back", left))
            self._add("knowledge", "archive", message, why="what left and how to get it", priority=90)
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
        self._sheet = made.sheet  # tools that had to leave stay away, or the prefix would change to and fro
        self._settled = True
        self._gone.clear()
        return made

    def _before(self, tools: tuple[ToolSpec, ...]) -> tuple[Piece, ...]:
        pieces = self._endings.state(self.state)
        around = self._tools(tools).tokens + sum(map(_tokens, pieces))
        left_out = any(block.source == "archive" for block in self._blocks)
        return (*self.recollector.piece(self.blocks, self.budget, around, left_out=left_out), *pieces)

    def _after(
        self, output: OutputSpec | None, tools: bool, *, enforced: bool, ask: str
    ) -> tuple[Piece, ...]:
        pieces = self._endings.reminder(self._blocks, self.policy)
        if not ask and (output is None or enforced) and self._blocks[-1].message.role == "assistant":
            ask = "Go on." if output is None else "Give your final result now."
        pieces += self._endings.ask(ask)
        return pieces if output is None or enforced else pieces + self._endings.output(output, tools=tools)

    def _begin(self) -> None:
        if not self._instructions:
            return
        message = Message("system", self._instructions)
        self._instructions = ""
        self._blocks.insert(0, first_block(message, self.counter.message(message)))

    def _add(
        self, zone: Zone, source: str, message: Message, *, noted: bool = True, **fields: object
    ) -> Block:
        self._numbers += 1
        made = Block(
            number=self._numbers,
            zone=zone,
            source=source,
            message=message,
            tokens=self.counter.message(message),
            place=LATE + self._numbers if self._settled else settled_place(zone, self._numbers),
            born=self.turn,
            **fields,  # type: ignore[arg-type]  # fields of Block
        )
        self._blocks.append(made)
        if noted:
            self.recollector.note(made)
        return made

    def _record_result(self, result: Result, at: float) -> str:
        position = self._calls.waiting(result.call.id)
        if position is None:
            return ""
        call, turn, ref = result.call, self.turn - 1, ""
        if result.archived and result.text:
            ref = self.archive.put(call.name, result.text, query=call.arguments, turn=turn, at=at)
        made = result_block(result, ref, at, self.counter, self.policy.result_tokens)
        self._numbers += 1
        made = structs.replace(made, number=self._numbers, born=turn, place=self._calls.place)
        self._calls.answer(position, made)
        self.recollector.note(made, result.text)
        self._ephemeral |= result.ephemeral
        self._blocks += self._calls.take()
        return ref

    def _tools(self, specs: tuple[ToolSpec, ...]) -> ToolSheet:
        if self._sheet.asked != specs:
            self._sheet = sheet_of(specs, self.counter)
        if self._slim:
            self._sheet = slimmed(self._sheet, self.counter)
        return self._sheet

    def _expire(self) -> None:
        """Results that were for one turn leave when the model has answered it."""
        if not self._ephemeral:
            return
        self._ephemeral = False
        for at, block in enumerate(self._blocks):
            if block.leaves == "turn":
                self._blocks[at] = stub(block, self.counter)

    def _find(self, block: str) -> int:
        self._begin()
        for at, known in enumerate(self._blocks):
            if known.id == block:
                return at
        raise InputError(f"There is no block {block!r} in the context of {self.agent}.")
