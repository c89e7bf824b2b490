"""What outlives the turns of one agent: pinned facts, the state's history, summaries, the ledger."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct, structs

from orchestra.context.archive import Archive
from orchestra.context.blocks import Block
from orchestra.context.fence import fenced
from orchestra.context.importance import Importance
from orchestra.context.intent import Intent, intent_of
from orchestra.context.ledger import Ledger
from orchestra.context.levels import Compaction, Level
from orchestra.context.pinned import Pin
from orchestra.context.pins import LONGEST_RESULT, Pins
from orchestra.context.policy import Policy
from orchestra.context.state import Patch
from orchestra.context.statebook import StateBook
from orchestra.context.summary.check import Frame, Verdict, check
from orchestra.context.summary.extractive import extract
from orchestra.context.summary.schema import Part, Summary, SummaryTask, Version
from orchestra.context.summary.versions import Versions
from orchestra.context.tokens import Counter

_HEARD_CHARACTERS = 20_000
"""Characters of one input that are read for facts; what is longer is a document and not somebody's word."""

NOWHERE = 0
"""The number of no block: what is pinned for it stands nowhere else in the prompt."""
BY_RULE = "rules"


class Draft(Struct, frozen=True, kw_only=True):
    """A summary that somebody made, or None with the `problem` why there is none.

    `by`: who made it; only what is made by rule is taken for whole sentences of what it covers.
    """

    summary: Summary | None = None
    by: str = "a model"
    problem: str = ""


class Compacted(Struct, frozen=True, kw_only=True):
    """What one compaction did, for the journal. Tokens are those of the prompt before and after.

    `left`: the ids of the blocks that left. `version`: of the summary that stands for them, 0 for none;
    `by`: who made it or tried; `refused`: why its draft was not taken. `facts`: how many facts the blocks
    it covers have, of which `added` stood nowhere and were added and `to_recall` had no room.
    `pins`: pinned facts in the prompt now; `unpinned`: those that had no room.
    """

    level: Level
    before: int
    after: int
    target: int
    left: tuple[str, ...]
    version: int = 0
    by: str = ""
    refused: str = ""
    facts: int = 0
    added: int = 0
    to_recall: int = 0
    dropped: int = 0
    pins: int = 0
    unpinned: int = 0


class Keeping:
    """Made when an agent's context first has something to keep. `intent`: of the current input."""

    __slots__ = (
        "_counter",
        "_cut",
        "_heard",
        "_settled",
        "_sized",
        "_without",
        "archive",
        "importance",
        "intent",
        "ledger",
        "made",
        "pins",
        "state",
        "versions",
    )

    def __init__(self, counter: Counter, archive: Archive, without: Collection[str] = ()) -> None:
        self._counter = counter
        self._without = without
        self._cut: set[int] = set()
        self._heard = 0
        self._settled: set[int] = set()
        self._sized: tuple[Version | None, int] = (None, 0)
        self.archive = archive
        self.importance = Importance()
        self.intent: Intent | None = None
        self.ledger = Ledger()
        self.made: set[int] = set()
        self.pins = Pins(counter, corrected="facts" not in without)
        self.state = StateBook(checked="facts" not in without)
        self.versions = Versions(archive)

    def hear(self, blocks: Sequence[Block]) -> None:
        """Pin what the user said since the last time; the newest input decides what the talk is about."""
        new: list[Block] = []
        for block in reversed(blocks):
            if block.source == "input":
                if block.number <= self._heard:
                    break
                new.append(block)
        for block in reversed(new):
            self._heard = block.number
            text = block.message.text[:_HEARD_CHARACTERS]
            self.intent = intent_of(text, block.number)
            if self.intent.entity and "state" not in self._without:
                self.state.propose((Patch("entity", self.intent.entity),), self.pins, block.born, "rule")
            self.pins.hear(text, block.number, block.born, self.state.now.entity)

    def settle(self, blocks: Sequence[Block], answered: int) -> list[Block]:
        """The blocks, with results of answered turns marked as used once their facts are pinned."""
        return [
            structs.replace(block, used=self._read(block, blocks) or block.used)
            if block.number <= answered and self._unread(block)
            else block
            for block in blocks
        ]

    def read_leaving(self, compaction: Compaction, blocks: Sequence[Block]) -> None:
        """Pin the facts of results that are about to leave, and what is not shown of those that are cut."""
        leaving = {block.number for block in compaction.blocks}
        for block in blocks:
            if not self._unread(block):
                continue
            if block.number in leaving:
                self._read(block, blocks)
            elif block.whole and block.ref and block.number not in self._cut:
                self._cut.add(block.number)
                about = Pin(value="", block=NOWHERE, turn=block.born, who=block.source)
                self.pins.read(
                    self._original(block), about, used=_after(block, blocks), seen=block.message.text
                )

    def _unread(self, block: Block) -> bool:
        if "facts" in self._without:
            return False
        return block.message.role == "tool" and not block.used and block.number not in self._settled

    def _read(self, block: Block, blocks: Sequence[Block]) -> bool:
        """Pin what a result says. Whether the result is needed no more: its original can be recalled."""
        self._settled.add(block.number)
        about = Pin(value="", block=block.number, turn=block.born, who=block.source)
        self.pins.read(self._original(block), about, used=_after(block, blocks))
        return bool(block.ref)

    def _original(self, block: Block) -> str:
        """What came back as far as it is read, where the block may show less."""
        original = self.archive.get(block.ref)
        return original.beginning(LONGEST_RESULT + 1) if original is not None else inner(block)

    def task(
        self, compaction: Compaction, policy: Policy, usable: int, *, spoken: bool = False
    ) -> SummaryTask:
        """What a summary of the leaving blocks covers; `spoken`: only what people and models said."""
        current = self.versions.current
        return SummaryTask(
            parts=tuple(
                Part(block.id, _speaker(block), block.born, inner(block), _calls(block))
                for block in sorted(compaction.blocks, key=lambda block: block.number)
                if block.number not in self.made and not (spoken and block.key) and _said(block)
                if "summary" not in self._without
            ),
            previous=current.summary if current else None,
            tokens=_summary_tokens(policy, usable),
        )

    def growth(self, policy: Policy, usable: int) -> int:
        """Tokens by which the next summary is likely to be longer than the last: by half, up to its cap."""
        if "summary" in self._without:
            return 0
        most = _summary_tokens(policy, usable)
        known = self._summary_size()
        return max(min(known + known // 2 or most // 2, most) - known, 0)

    def _summary_size(self) -> int:
        """Tokens of the current summary, counted once."""
        current = self.versions.current
        if current is None:
            return 0
        if self._sized[0] is not current:
            self._sized = (current, self._counter.count(current.text))
        return self._sized[1]

    def judge(
        self, draft: Draft, task: SummaryTask, compaction: Compaction, held: tuple[str, ...]
    ) -> Verdict:
        """Whether a draft may stand for the blocks of its task."""
        if draft.summary is None:
            return Verdict(why=draft.problem or "there is none")
        current = self.versions.current
        covered = {part.id for part in task.parts}
        replaced = sum(block.tokens for block in compaction.blocks if block.id in covered)
        span = ""
        if current is not None:
            replaced += self._summary_size()
            span = f"up to turn {current.turn - 1}, v{current.number}"
        frame = Frame(
            held=held,
            superseded=self.pins.superseded,
            replaced=replaced,
            span=span,
            trusted=draft.by == BY_RULE or "facts" in self._without,
            facts="facts" not in self._without,
        )
        return check(draft.summary, task, frame, self._counter)

    def by_rule(self, task: SummaryTask) -> Draft:
        """The draft that needs no model."""
        return Draft(summary=extract(task, self._counter), by=BY_RULE)


def _summary_tokens(policy: Policy, usable: int) -> int:
    """The most that a summary may have."""
    return max(min(policy.summary_tokens, int(policy.summary_share * usable)), 1)


def report_of(
    compaction: Compaction, verdict: Verdict | None, draft: Draft | None, keeping: Keeping
) -> Compacted:
    """The account of a compaction that was carried out; `after` and `unpinned` are the caller's to say."""
    taken = verdict is not None and verdict.summary is not None
    current = keeping.versions.current
    return Compacted(
        level=compaction.level,
        before=compaction.before,
        after=0,
        target=compaction.target,
        left=tuple(block.id for block in compaction.blocks),
        version=current.number if taken and current else 0,
        by=draft.by if draft else "",
        refused="" if taken or verdict is None else verdict.why,
        facts=verdict.facts if verdict else 0,
        added=len(verdict.added) if verdict else 0,
        to_recall=len(verdict.left) if verdict else 0,
        dropped=len(verdict.dropped) if verdict else 0,
        pins=len(keeping.pins),
    )


def inner(block: Block) -> str:
    """A block's own text; a result's without label and fence, as far as it is shown."""
    inside = fenced(block.message.text) if block.key else ()
    return inside[0].text if len(inside) == 1 else block.message.text


def _after(block: Block, blocks: Sequence[Block]) -> str:
    """What was said and called after a result."""
    return "\n".join(_said(other) for other in blocks if other.number > block.number and not other.key)


def numbers(task: SummaryTask) -> Collection[int]:
    """The numbers of the blocks that a task covers."""
    return {int(part.id[1:]) for part in task.parts}


def _speaker(block: Block) -> str:
    return {"input": "user", "reply": "assistant"}.get(block.source, block.source)


def _said(block: Block) -> str:
    return "\n".join(filter(None, (block.message.text, _calls(block))))


def _calls(block: Block) -> str:
    return "\n".join(f"{call.name}({call.arguments})" for call in block.message.calls)
