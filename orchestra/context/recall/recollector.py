"""Recall by itself: what an agent's own past says about its current input, put before that input.

Only when something is out of the prompt. What is shown anyway is not shown twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct, structs

from orchestra.context.archive import Archive, Original
from orchestra.context.assembly import Piece
from orchestra.context.blocks import Block, Entry, entry_of
from orchestra.context.budget import Budget
from orchestra.context.endings import PINNED
from orchestra.context.fence import fence
from orchestra.context.policy import Policy
from orchestra.context.recall.bulk import LONGEST, joined, search_bulk
from orchestra.context.recall.dense import Vector
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.index import UNKNOWN, RecallIndex
from orchestra.context.recall.newest import newest
from orchestra.context.recall.noted import Noted
from orchestra.context.recall.turns import Recalled, Turn
from orchestra.context.recall.values import Values
from orchestra.context.recall.window import LEAST, asking, window
from orchestra.context.tokens import MESSAGE_TOKENS, REPLY_TOKENS, Counter
from orchestra.context.trimming import units_of

Pinned = Callable[[Collection[int]], tuple[Piece, ...]]
"""The pinned facts of all blocks but those with these numbers."""

VALUES = "Values said earlier"
RECALL = "recall"
OUT = "out of the window, found by recall"
MATCHES = 0.4
"""Of the best match's score, what a piece must have to be brought back by a search."""
SPEAKERS = {"input": "user", "reply": "assistant"}
"""Who speaks in a block of this source; another source (a tool, a person) speaks for itself."""

_tokens = attrgetter("tokens")


class View(Struct, frozen=True):
    """The blocks of one prompt, the pieces that stand in for the rest, and the entries of the rest."""

    blocks: tuple[Block, ...]
    pieces: tuple[Piece, ...]
    gone: tuple[Entry, ...]


class Recollector:
    """One agent's past, noted block by block and indexed when it is first asked for.

    `last`: what the newest prompt recalled, None when nothing had to be.
    """

    __slots__ = (
        "_backlog", "_bulk", "_counter", "_embedder", "_index", "_newest_of", "_noted", "_repeated",
        "_shared", "_unread", "_values", "_waiting", "last", "meant",
    )  # fmt: skip

    def __init__(self, counter: Counter, embedder: Embedder | None = None) -> None:
        self._counter = counter
        self._embedder = embedder
        self._index: RecallIndex | None = None  # most agents end before anything leaves their prompt
        self._bulk: list[Noted] = []  # what is too long to be indexed
        self._noted: set[int] = set()  # numbers of blocks
        self._newest_of: dict[int, str] = {}  # results by their text, and the ids of those that came again
        self._repeated: set[str] = set()
        self._waiting: list[Noted] = []
        self._backlog = 0  # their characters
        self._unread: list[Noted] = []  # by the reader of values
        self._values: Values | None = None  # nor before values are listed
        self._shared = False
        self.last: Recalled | None = None
        self.meant = UNKNOWN  # of the current input, by a model that had to be awaited

    def __deepcopy__(self, memo: dict[int, Any]) -> Recollector:
        """A twin that shares the index until one of the two has something to add to it."""
        twin = Recollector(self._counter, self._embedder)
        twin._index, twin._waiting, twin.last = self._index, self._waiting[:], self.last
        twin._backlog = self._backlog
        twin._unread, twin._noted = self._unread[:], self._noted.copy()
        twin._values = self._values.copied() if self._values is not None else None
        twin._newest_of, twin._repeated = self._newest_of.copy(), self._repeated.copy()
        twin._bulk = self._bulk[:]
        twin._shared = self._shared = True
        return twin

    def note(self, block: Block, original: Original | None = None) -> None:
        """Remember what was said or returned; `original` where the block shows less or fences it."""
        if block.zone not in ("input", "history") or block.message.role == "system":
            return
        if block.message.role == "tool":
            self._note_again(block)
        if original is not None:
            self._unread.append(self._noted_as(block, SPEAKERS.get(block.source, block.source), original))
            return
        said = block.message.text
        for call in block.message.calls:
            if call.name != RECALL:  # what was looked for is no answer
                said = f"{said}\n{call.name} {call.arguments}".strip()
        speaker = SPEAKERS.get(block.source, block.source)
        said = said.removeprefix(f"{speaker}: ")
        if said:
            self._unread.append(self._noted_as(block, speaker, said))

    def _note_again(self, block: Block) -> None:
        """A result that came before is recalled where it came last."""
        text = hash((block.key, block.message.text.partition("\n")[2]))  # what stands under its label
        before = self._newest_of.get(text)
        if before is not None:
            self._repeated.add(before)
        self._newest_of[text] = block.id

    def note_gone(self, block: Block, archive: Archive) -> None:
        """Remember data that was in every prompt so far and is now shown in part or not at all."""
        original = archive.get(block.ref)
        if original is not None and block.number not in self._noted:
            self._noted_as(block, block.source, original)

    def _noted_as(self, block: Block, speaker: str, said: str | Original) -> Noted:
        noted = Noted(block.id, speaker, said, block.at or None, block.ref)
        long = isinstance(said, Original) and said.end - said.start > LONGEST
        (self._bulk if long else self._waiting).append(noted)
        self._backlog += 0 if long else noted.size
        self._noted.add(block.number)
        return noted

    def date(self, block: str, when: str) -> None:
        """Give the newest block its time in words."""
        if when and self._waiting and self._waiting[-1].id == block:
            self._waiting[-1] = structs.replace(self._waiting[-1], time=when)

    def find(self, question: str, tokens: int, shown: Collection[str] = (), newest: str = "") -> Recalled:
        """What the past says about a question, in at most `tokens` tokens.

        `shown`: ids of blocks that are in the prompt. `newest`: the block that asks, not indexed yet.
        """
        index = self._caught_up((newest,))
        skip = self._repeated.union(shown)
        self.last = index.recall(question, tokens, skip=skip, meant=self.meant)
        return self.last

    @property
    def backlog(self) -> int:
        """Characters that the next search has to index first; a million take about a second."""
        return self._backlog

    def catch_up(self, now: str = "") -> None:
        """Index what waits, but for the block that asks `now`. For one thread at a time."""
        self._caught_up((now,))

    def unembedded(self, now: Collection[str] = ()) -> list[str]:
        """What waits for its vector, oldest first, but for what is being said `now`."""
        return self._caught_up(now).unembedded()

    def learn(self, vector: Callable[[str], Vector | None]) -> None:
        """Take in vectors, oldest first, up to the first text that has none yet."""
        index = self._caught_up(turn.id for turn in self._waiting)
        for text in index.unembedded():
            found = vector(text)
            if found is None:
                return
            index.embedded([found])

    def search(self, wanted: str, tokens: int, now: Collection[str] = ()) -> Recalled:
        """What all of the past says about a few words; `now`: ids of what is being said."""
        index, skip = self._caught_up(now), self._repeated.union(now)
        long = (noted.turn() for noted in self._bulk if noted.id not in skip)
        found = search_bulk(long, wanted, tokens // 2, self._counter.count, least=MATCHES)
        tokens -= found.tokens + 2 if found is not None else 0
        said = index.recall(wanted, tokens, skip=skip, least=MATCHES)
        return joined(said, found) if found is not None else said

    def view(
        self, blocks: Sequence[Block], budget: Budget, policy: Policy, around: int, pinned: Pinned
    ) -> View | None:
        """What of the blocks stays and what stands in for the rest.

        None while all that was said is in, and where nothing is recalled, as the room is the turns' then.

        `blocks` in the order of the prompt; `around`: tokens of what stands around them; `pinned`: says what
        is pinned of all that is not shown.
        """
        self.last = None
        if "window" in policy.without:
            return self._newest(blocks, budget.usable - around - REPLY_TOKENS)
        if not policy.recall_share:
            return None
        question = next((block for block in reversed(blocks) if block.zone == "input"), None)
        room = budget.usable - around - REPLY_TOKENS
        whole = bool(policy.values_share)
        if question is None or (sum(map(_tokens, blocks)) <= room and self.is_all_in(blocks, whole=whole)):
            return None
        every = [block for block in blocks if block.source != PINNED or not block.pinned]
        kept, left, pieces = self._window(every, policy, room, pinned)
        gone = tuple(entry_of(block, "dropped", OUT) for block in every if block.number not in kept)
        shown = tuple(kept[block.number] for block in every if block.number in kept)
        values = self._values_piece(shown, int(left * policy.values_share))
        left -= sum(map(_tokens, values))
        pieces += values
        tokens = min(left, policy.recall_tokens) - MESSAGE_TOKENS - 2
        if tokens >= LEAST:
            there = {block.id for block in shown if not block.whole}
            found = self.find(asking(shown, question), tokens, there, question.id)
            if found.text:
                size = found.tokens + MESSAGE_TOKENS
                pieces += (Piece("knowledge", "recalled", found.text, size, found.note),)
            elif not values:
                return None
        return View(shown, pieces, gone) if pieces else None

    def _window(
        self, blocks: Sequence[Block], policy: Policy, room: int, pinned: Pinned
    ) -> tuple[dict[int, Block], int, tuple[Piece, ...]]:
        """The blocks that stay, the room that is left, and what is pinned of those that do not."""
        units = units_of(blocks)
        kept, left = window(units, policy, room, self._counter)
        pieces = pinned(kept.keys())
        while pieces:
            # What pins take, the window has less of, so that more may have to be pinned.
            fewer, left = window(units, policy, room - sum(map(_tokens, pieces)), self._counter)
            if fewer.keys() >= kept.keys():
                return fewer, left, pieces
            kept = {number: block for number, block in fewer.items() if number in kept}
            units = [unit for unit in units if unit.blocks[0].number in kept]
            pieces = pinned(kept.keys())
        return kept, left, pieces

    def _newest(self, blocks: Sequence[Block], room: int) -> View:
        kept = newest(blocks, room, self._counter)
        numbers = {block.number for block in kept}
        gone = (entry_of(b, "dropped", "older than the window") for b in blocks if b.number not in numbers)
        return View(kept, (), tuple(gone))

    def _values_piece(self, blocks: Sequence[Block], tokens: int) -> tuple[Piece, ...]:
        if tokens <= 0:
            return ()
        room = tokens - self._counter.count(fence(VALUES, "")) - MESSAGE_TOKENS - 1
        if room < LEAST // 2:
            return ()
        values = self._values = self._values or Values(self._counter.count)
        for turn in self._read_from():
            values.add(turn)
        shown = "\n".join(
            part for b in blocks for part in (b.message.text, *(call.arguments for call in b.message.calls))
        )
        lines = values.lines(room, shown)
        while lines:
            text = fence(VALUES, lines)
            size = self._counter.count(text) + MESSAGE_TOKENS
            if size <= tokens:
                return (Piece("memory", "values", text, size, "said earlier, out of the window"),)
            lines = lines.rpartition("\n")[0]
        return ()

    def _read_from(self) -> list[Turn]:
        new, self._unread = self._unread, []
        return [noted.turn() for noted in new]

    def is_all_in(self, blocks: Sequence[Block], *, whole: bool = False) -> bool:
        """Whether everything that was noted is in these blocks; `whole`: with nothing cut.

        A result that is shown in part says how to get the rest, and the prefix holds; but where the values of
        what is out are listed, those of what is cut are.
        """
        noted = self._noted
        return len(noted) <= sum(1 for b in blocks if b.number in noted and not (whole and b.whole))

    def _caught_up(self, now: Iterable[str]) -> RecallIndex:
        """The index of all but what is being said `now`, as far as that is the newest."""
        now = set(now)
        if self._index is None:
            counter = self._counter
            adds_up = counter.lines_add_up
            self._index = RecallIndex(counter.count, embedder=self._embedder, lines_add_up=adds_up)
        end = len(self._waiting)
        while end and self._waiting[end - 1].id in now:
            end -= 1
        if end and self._shared:
            self._index, self._shared = self._index.copied(), False
        for noted in self._waiting[:end]:
            self._index.add(noted.turn())
            self._backlog -= noted.size
        del self._waiting[:end]
        return self._index
