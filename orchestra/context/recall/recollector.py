"""Recall by itself: what an agent's own past says about its current input, put before that input.

Only when something is out of the prompt. What is shown anyway is not shown twice.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from typing import Any

from msgspec import structs

from orchestra.context.assembly import Piece
from orchestra.context.blocks import Block
from orchestra.context.budget import Budget
from orchestra.context.policy import Policy
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.index import RecallIndex
from orchestra.context.recall.turns import Recalled, Turn
from orchestra.context.tokens import MESSAGE_TOKENS, REPLY_TOKENS, Counter
from orchestra.context.trimming import units_of

LEAST = 60
"""Tokens below which recall is not tried: a heading and a line would not fit."""
SPEAKERS = {"input": "user", "reply": "assistant"}
"""Who speaks in a block of this source; another source (a tool, a person) speaks for itself."""


class Recollector:
    """One agent's past, noted block by block and indexed when it is first asked for.

    `last`: what the newest prompt recalled, None when nothing had to be.
    """

    __slots__ = ("_counter", "_embedder", "_index", "_shared", "_waiting", "last")

    def __init__(self, counter: Counter, embedder: Embedder | None = None) -> None:
        self._counter = counter
        self._embedder = embedder
        self._index: RecallIndex | None = None  # most agents end before anything leaves their prompt
        self._waiting: list[Turn] = []
        self._shared = False
        self.last: Recalled | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Recollector:
        """A twin that shares the index until one of the two has something to add to it."""
        twin = Recollector(self._counter, self._embedder)
        twin._index, twin._waiting, twin.last = self._index, self._waiting[:], self.last
        twin._shared = self._shared = True
        return twin

    def note(self, block: Block, original: str = "") -> None:
        """Remember what was said or returned; `original` where the block shows less or fences it."""
        if block.zone not in ("input", "history") or block.message.role == "system":
            return
        said = original or block.message.text
        for call in block.message.calls:
            said = f"{said}\n{call.name} {call.arguments}".strip()
        speaker = SPEAKERS.get(block.source, block.source)
        said = said.removeprefix(f"{speaker}: ")
        if said:
            self._waiting.append(Turn(id=block.id, speaker=speaker, text=said, time=block.at or None))

    def date(self, block: str, when: str) -> None:
        """Give the newest block its time in words."""
        if when and self._waiting and self._waiting[-1].id == block:
            self._waiting[-1] = structs.replace(self._waiting[-1], time=when)

    def find(self, question: str, tokens: int, shown: Collection[str] = (), newest: str = "") -> Recalled:
        """What the past says about a question, in at most `tokens` tokens.

        `shown`: ids of blocks that are in the prompt. `newest`: the block that asks, which is not indexed yet.
        """
        index = self._caught_up(newest)
        self.last = index.recall(question, tokens, skip=frozenset(shown))
        return self.last

    def piece(self, blocks: Sequence[Block], budget: Budget, policy: Policy, around: int) -> tuple[Piece, ...]:
        """What belongs before the current input: nothing while all that was said is in the prompt.

        `blocks` in the order of the prompt; `around`: tokens of what stands around them.
        """
        self.last = None
        if not policy.recall_share:
            return ()
        question = next((block for block in reversed(blocks) if block.zone == "input"), None)
        total = around + REPLY_TOKENS + sum(block.tokens for block in blocks)
        there = {block.id for block in blocks if not block.whole}
        if question is None or (total <= budget.usable and self._all_in(there)):
            return ()
        shown, room = _window(blocks, policy, budget.usable - around - REPLY_TOKENS)
        tokens = min(room, policy.recall_tokens) - MESSAGE_TOKENS
        if tokens < LEAST:
            return ()
        found = self.find(question.message.text, tokens, shown, question.id)
        if not found.text:
            return ()
        return (Piece("knowledge", "recalled", found.text, found.tokens + MESSAGE_TOKENS, found.note),)

    def _all_in(self, there: Collection[str]) -> bool:
        """Whether every turn that was noted is in the prompt."""
        known = len(self._index) if self._index is not None else 0
        return known + len(self._waiting) <= len(there) and all(turn.id in there for turn in self._waiting)

    def _caught_up(self, newest: str) -> RecallIndex:
        if self._index is None:
            self._index = RecallIndex(self._counter.count, embedder=self._embedder)
        keep = [turn for turn in self._waiting[-1:] if turn.id == newest]
        new = self._waiting[: len(self._waiting) - len(keep)]
        if new and self._shared:
            self._index = copy.deepcopy(self._index, {id(self._embedder): self._embedder})
            self._shared = False
        for turn in new:
            self._index.add(turn)
        self._waiting = keep
        return self._index


def _window(blocks: Sequence[Block], policy: Policy, room: int) -> tuple[set[str], int]:
    """The ids of what stays: what may not be cut and the newest turns; and the room that is left for recall."""
    units = units_of(blocks)
    said = [unit for unit in units if unit.zone == "history" and not unit.protected]
    room = max(room - sum(unit.tokens for unit in units if unit.zone != "history" or unit.protected), 0)
    newest = max(int(room * (1 - policy.recall_share)), room - policy.recall_tokens)
    shown = {block.id for unit in units if unit.protected for block in unit.blocks}
    for unit in reversed(said):
        if unit.tokens > newest:
            break
        newest -= unit.tokens
        room -= unit.tokens
        shown |= {block.id for block in unit.blocks if not block.whole}
    return shown, room
