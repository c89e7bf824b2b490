"""What one agent was told, did and found, as blocks."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from msgspec import structs

from orchestra.context.archive import Archive
from orchestra.context.blocks import LATE, Block, Exit, Zone, first_block, settled_place
from orchestra.context.calls import OpenCalls
from orchestra.context.keeping import Keeping
from orchestra.context.labels import data, label_of
from orchestra.context.policy import Policy
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.originals import ORIGIN_SHARE, whole, with_origins
from orchestra.context.recall.recollector import Recollector
from orchestra.context.returned import Result, Spot, result_block, stub
from orchestra.context.state import EMPTY, Patch, TaskState
from orchestra.context.statebook import By, Change
from orchestra.context.tokens import Counter
from orchestra.errors import InputError
from orchestra.values.messages import Message, Reply

_place = attrgetter("place")


class Record:
    """The blocks, state and archive of one agent. Not shared; every method is synchronous.

    `turn` is the coming model call, from 1. `at` is in seconds since the epoch, 0.0 where unknown.
    """

    __slots__ = (
        "_answered", "_blocks", "_calls", "_embedder", "_ephemeral", "_keeping", "_numbers", "_recollector",
        "_settled", "_task", "_unnoted", "agent", "archive", "counter", "policy", "turn",
    )  # fmt: skip

    def __init__(
        self,
        agent: str,
        instructions: str,
        counter: Counter,
        policy: Policy,
        embedder: Embedder | None = None,
    ) -> None:
        self.agent = agent
        self.counter = counter
        self.policy = policy
        self.archive = Archive()
        self.turn = 1
        self._embedder = embedder
        self._recollector: Recollector | None = None
        self._unnoted: list[Block] = []  # what it is told when it is first asked, which most never are
        self._blocks: list[Block] = [first_block(instructions, counter)] if instructions else []
        self._numbers = 1  # the first is for the instructions
        self._settled = False
        self._task = 0  # the number of the block that states it, 0 before there is one
        self._calls: OpenCalls | None = None  # while a result is missing
        self._ephemeral = False
        self._answered = 0
        self._keeping: Keeping | None = None  # most agents end before they have something to keep

    @property
    def keeping(self) -> Keeping:
        """Pinned facts, the state's history, summaries and the ledger."""
        if self._keeping is None:
            self._keeping = Keeping(self.counter, self.archive, self.policy.without)
        return self._keeping

    @property
    def recollector(self) -> Recollector:
        """All that was said and returned, to be searched."""
        known = self._recollector
        if known is None:
            known = self._recollector = Recollector(self.counter, self._embedder)
            for block in self._unnoted:
                known.note(block, self.archive.get(block.ref))
            self._unnoted = []
        return known

    @property
    def backlog(self) -> int:
        """Characters that the next search of the past has to index first, about."""
        if self._recollector is not None:
            return self._recollector.backlog
        return sum([len(block.message.text) for block in self._unnoted])

    @property
    def state(self) -> TaskState:
        return EMPTY if self._keeping is None else self._keeping.state.now

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks as they stand now, in the order of the prompt."""
        return tuple(sorted(self._blocks, key=_place))

    def add_input(self, text: str, *, at: float = 0.0) -> str:
        """What the user or the parent agent says; the first is the statement of the task, never cut.

        Returns the block's id. The input before, unless it is the first, becomes a part of the history.
        """
        if self._calls is not None:
            self.close_calls("the user went on", at=at)
        first, self._task = self._task, self._task or self._numbers + 1
        if first:
            at_last = next(n for n in reversed(range(len(self._blocks))) if self._blocks[n].zone == "input")
            last = self._blocks[at_last]
            if last.number != first:
                self._blocks[at_last] = structs.replace(last, zone="history", why="an earlier input")
        why = "the current input" if first else "the task as first stated"
        made = self._add("input", "input", Message("user", text), at, why, "never")
        if first:  # an agent with one task has it in every prompt and need not pin it
            self.keeping.hear(self._blocks)
        return made.entry.block

    def add_data(
        self, zone: Zone, source: str, text: str, *, query: str = "", why: str = "", at: float = 0.0
    ) -> str:
        """A text the agent knows (`knowledge`) or remembers (`memory`), shown fenced.

        Returns the block's id.
        """
        if zone not in ("knowledge", "memory"):
            raise InputError(f"Data goes into the zones knowledge and memory, not into {zone!r}.")
        message = Message("user", data(label_of(source, query, at), text))
        made = self._add(zone, source, message, at, why or f"given as {zone}")
        self._put_before_input(made)
        return made.entry.block

    def add_said(self, speaker: str, text: str, *, at: float = 0.0, when: str = "") -> str:
        """What somebody said in a conversation that the agent follows; it counts as a turn.

        Returns the block's id. `when`: its time in words, where seconds are not known.
        """
        made = self._add("history", speaker, Message("user", f"{speaker}: {text}"), at, "said earlier")
        if when:
            self.recollector.date(made.id, when)
        self.turn += 1
        return made.id

    def record_reply(self, reply: Reply, *, at: float = 0.0) -> str:
        """The model's answer; ends the turn. Reasoning is kept only with calls, where endpoints want it back.

        Returns the block's id, "" for an answer with nothing in it, which is not shown again.
        """
        if self._calls is not None:
            self.close_calls("the call did not return", at=at)
        if self._ephemeral:
            self._expire()
        calls = reply.calls
        if not reply.text and not calls:
            self.turn += 1
            return ""
        if not calls:
            self._answered = self._numbers
        message = Message("assistant", reply.text, calls, "", reply.reasoning if calls else "")
        made = self._add("history", "reply", message, at, "the model's answer")
        self.turn += 1
        if calls:
            self._calls = OpenCalls(calls, made.place)
        return made.entry.block

    def record_results(self, results: Sequence[Result], *, at: float = 0.0) -> tuple[str, ...]:
        """Results of the last reply's calls; once all are there they stand in the order of the calls.

        A result whose call is unknown or was answered before changes nothing. Returns for each the reference
        of its original, "" for one that is not archived or not taken.
        """
        return tuple([self._record_result(result, at) for result in results])

    def close_calls(self, why: str, *, at: float = 0.0) -> None:
        """Give every call that has no result one that says so."""
        if self._calls is None:
            return
        for call in self._calls.missing():
            text = f"no result, {why}"
            self._record_result(Result(call=call, text=text, failed=True, archived=False), at)

    def patch_state(self, *patches: Patch, by: By = "code") -> TaskState:
        """Merge changes into the task state, field by field; see `propose_state`."""
        self.propose_state(*patches, by=by)
        return self.state

    def recall(self, wanted: str, tokens: int) -> str:
        """What a reference (`r17`) or a few words bring back, fenced and labelled, within `tokens` tokens.

        Words are looked for in all that was said and returned, in the prompt or not, but for the current
        input and the step that asks.
        """
        wanted = wanted.strip()
        original = self.archive.get(wanted)
        if original is not None:
            return whole(original, tokens, self.counter)
        asks = [
            next((block.id for block in reversed(self._blocks) if block.zone == "input"), ""),
            next((block.id for block in reversed(self._blocks) if block.source == "reply"), ""),
        ]
        found = self.recollector.search(wanted, int(tokens * (1 - ORIGIN_SHARE)), asks)
        if not found.text:
            return f"Nothing that left this prompt or was said in it matches {wanted!r}: {found.note}."
        return with_origins(found, self.archive, tokens, self.counter)

    def propose_state(self, *patches: Patch, by: By = "model") -> tuple[Change, ...]:
        """Merge each patch that contradicts no pinned fact; a change says what it did or why not."""
        keeping = self.keeping
        keeping.hear(self._blocks)
        return keeping.state.propose(patches, keeping.pins, self.turn, by)

    def pin(self, block: str, *, pinned: bool = True) -> None:
        """Keep a block, and with it the call it belongs to, whatever happens; or no longer."""
        at = self._find(block)
        self._blocks[at] = structs.replace(self._blocks[at], pinned=pinned)

    def mark_used(self, block: str) -> None:
        """Say that nothing in a block is needed any more, so that it is the first to leave."""
        at = self._find(block)
        self._blocks[at] = structs.replace(self._blocks[at], used=True)

    def _add(
        self, zone: Zone, source: str, message: Message, at: float, why: str, leaves: Exit = "full"
    ) -> Block:
        self._numbers = number = self._numbers + 1
        made = Block(
            number=number,
            zone=zone,
            source=source,
            message=message,
            tokens=self.counter.message(message),
            place=LATE + number if self._settled else settled_place(zone, number),
            born=self.turn,
            at=at,
            why=why,
            leaves=leaves,
        )
        self._blocks.append(made)
        if self._recollector is None:
            self._unnoted.append(made)
        else:
            self._recollector.note(made, None)
        return made

    def _record_result(self, result: Result, at: float) -> str:
        archive, calls = self.archive, self._calls
        if calls is None or (position := calls.waiting(result.call.id)) is None:
            return ""
        self._numbers = number = self._numbers + 1
        ref = archive.next if result.archived and result.text else ""
        spot = Spot(number, calls.place, self.turn - 1, at, ref)
        made, original = result_block(result, spot, self.counter, self.policy.result_tokens)
        if original is not None:
            archive.add(original)
        if not result.archived:
            pass  # what was recalled, or never came, is nothing new
        elif self._recollector is None:
            self._unnoted.append(made)
        else:
            self._recollector.note(made, original)
        if result.ephemeral:
            self._ephemeral = True
        if done := calls.answer(position, made):
            self._blocks += done
            self._calls = None
        return ref

    def _expire(self) -> None:
        """Results that were for one turn leave when the model has answered it."""
        self._ephemeral = False
        for at, block in enumerate(self._blocks):
            if block.leaves == "turn":
                self._blocks[at] = stub(block, self.counter)

    def _put_before_input(self, made: Block) -> None:
        """Data that comes while the current input waits for its answer stands before it, not behind."""
        for at in range(len(self._blocks) - 2, -1, -1):
            last = self._blocks[at]
            if last.zone == "input" and last.place < made.place:
                self._blocks[at] = structs.replace(last, place=made.place)
                self._blocks[-1] = structs.replace(made, place=last.place)
            if last.zone not in ("memory", "knowledge"):
                return

    def _find(self, block: str) -> int:
        for at, known in enumerate(self._blocks):
            if known.id == block:
                return at
        raise InputError(f"There is no block {block!r} in the context of {self.agent}.")
