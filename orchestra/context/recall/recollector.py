"""Recall by itself: what an agent's own past says about its current input, put before that input.

Only when something is out of the prompt. What is shown anyway is not shown twice.
"""

from __future__ import annotations

import copy
from collections.abc import Container, Sequence
from typing import Any

from msgspec import Struct

from orchestra.context.assembly import Piece
from orchestra.context.blocks import Block
from orchestra.context.budget import Budget
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.index import RecallIndex
from orchestra.context.recall.turns import Recalled, Turn
from orchestra.context.tokens import MESSAGE_TOKENS, REPLY_TOKENS, Counter
from orchestra.context.trimming import units_of

LEAST = 60
"""Tokens below which recall is not tried: a heading and a line would not fit."""
SPEAKERS = {"input": "user", "reply": "assistant"}
"""Who speaks in a block of this source; another source (a tool, a person) speaks for itself."""


class Share(Struct, frozen=True):
    """How the room for what was said is shared out when not all of it fits.

    `recalled`: the part for recall, the newest turns have the rest. `most`: tokens of recall at most, None
    for no limit.
    """

    recalled: float = 0.85
    most: int | None = None


class Recollector:
    """One agent's past, noted block by block and indexed when it is first asked for."""

    __slots__ = ("_counter", "_index", "_shared", "_waiting", "last", "share")

    def __init__(self, counter: Counter, embedder: Embedder | None = None, share: Share | None = None) -> None:
        self._counter = counter
        self._index = RecallIndex(counter.count, embedder=embedder)
        self._waiting: list[Turn] = []
        self._shared = False
        self.share = share or Share()
        self.last: Recalled | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Recollector:
        """A twin that shares the index until one of the two has something to add to it."""
        twin = Recollector.__new__(Recollector)
        twin._counter, twin._index, twin._waiting = self._counter, self._index, self._waiting[:]
        twin.share, twin.last = self.share, self.last
        twin._shared = self._shared = True
        return twin

    def note(self, block: Block, text: str = "", time: str | float | None = None) -> None:
        """Remember a block; `text` is its original where the block shows less."""
        if block.zone not in ("input", "history") or block.message.role == "system":
            return
        said = text or block.message.text
        speaker = SPEAKERS.get(block.source, block.source)
        if said.startswith(f"{speaker}: "):
            said = said[len(speaker) + 2 :]
        if said:
            self._waiting.append(Turn(id=block.id, speaker=speaker, text=said, time=time or block.at or None))

    def find(self, question: str, tokens: int, shown: Container[str] = ()) -> Recalled:
        """What the past says about a question, in at most `tokens` tokens."""
        if self._waiting:
            if self._shared:
                self._index, self._shared = copy.deepcopy(self._index), False
            for turn in self._waiting:
                self._index.add(turn)
            self._waiting.clear()
        self.last = self._index.recall(question, tokens, skip=shown)
        return self.last

    def piece(self, blocks: Sequence[Block], budget: Budget, around: int, *, left_out: bool) -> tuple[Piece, ...]:
        """What belongs before the current input: nothing while all that was said is in the prompt.

        `blocks` in the order of the prompt; `around`: tokens of what stands around them; `left_out`: something
        left the context earlier.
        """
        question = next((block for block in reversed(blocks) if block.zone == "input"), None)
        total = around + REPLY_TOKENS + sum(block.tokens for block in blocks)
        if question is None or (total <= budget.usable and not left_out):
            return ()
        shown, room = self._window(blocks, budget.usable - around - REPLY_TOKENS)
        tokens = room if self.share.most is None else min(room, self.share.most)
        if tokens < LEAST:
            return ()
        if self._waiting and self._waiting[-1].id == question.id:
            newest = self._waiting.pop()
            found = self.find(question.message.text, tokens - MESSAGE_TOKENS, shown)
            self._waiting.append(newest)
        else:
            found = self.find(question.message.text, tokens - MESSAGE_TOKENS, shown | {question.id})
        if not found.text:
            return ()
        size = found.tokens + MESSAGE_TOKENS
        return (Piece("knowledge", "recalled", found.text, size, found.note),)

    def _window(self, blocks: Sequence[Block], room: int) -> tuple[set[str], int]:
        """The ids of the newest turns that stay, and the room that is left for recall."""
        units = units_of(blocks)
        said = [unit for unit in units if unit.zone == "history" and not unit.protected]
        others = sum(unit.tokens for unit in units if unit.zone != "history" or unit.protected)
        room = max(room - others, 0)
        newest = int(room * (1 - self.share.recalled))
        if self.share.most is not None:
            newest = max(newest, room - self.share.most)
        shown: set[str] = {b.id for unit in units if unit.protected for b in unit.blocks}
        for unit in reversed(said):
            if unit.tokens > newest:
                break
            newest -= unit.tokens
            room -= unit.tokens
            shown |= {block.id for block in unit.blocks if not block.whole}
        return shown, room
