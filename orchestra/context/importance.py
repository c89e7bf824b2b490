"""How much a block is missed when it is gone: by what it names, who said it, what refers to it, its age."""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections.abc import Sequence

from orchestra.context.blocks import Block

_LITERAL = re.compile(
    r"[\w.+-]+@[\w-]+\.\w+|https?://\S+|#?\b(?=\w*\d)[A-Za-z]*[\w-]{2,}\b|\b[A-Z][a-z]{2,} [A-Z][a-z]{2,}\b"
)
_READ_CHARACTERS = 4_000
_MANY = 4
_SPEAKERS = {"user": 1.0, "assistant": 0.6, "tool": 0.3, "system": 1.0}
_PARTS = {"named": 0.3, "said": 0.25, "referred": 0.25, "age": 0.2}


class Importance:
    """Scores between 0 and 1, read once for each block of one agent."""

    __slots__ = ("_literals",)

    def __init__(self) -> None:
        self._literals: dict[int, frozenset[str]] = {}

    def of(self, blocks: Sequence[Block]) -> dict[int, float]:
        """By block number. What names something does not age; of the rest the newest counts most."""
        known = self._literals = {block.number: self._named(block) for block in blocks}
        tally: Tally[str] = Tally()
        scores: dict[int, float] = {}
        for place, block in enumerate(reversed(blocks)):
            named = known[block.number]
            referred = sum(1 for literal in named if tally[literal])
            tally.update(named)
            age = 1.0 if named else 1.0 - place / max(len(blocks), 1)
            scores[block.number] = (
                _PARTS["named"] * min(len(named), _MANY) / _MANY
                + _PARTS["said"] * _SPEAKERS[block.message.role]
                + _PARTS["referred"] * min(referred, _MANY) / _MANY
                + _PARTS["age"] * age
            )
        return scores

    def _named(self, block: Block) -> frozenset[str]:
        found = self._literals.get(block.number)
        if found is None:
            message = block.message
            text = message.text[:_READ_CHARACTERS]
            if message.role == "tool":
                text = text.partition("\n")[2]  # the label above it names the time of every result
            said = " ".join((text, *(call.arguments for call in message.calls)))
            found = frozenset(_LITERAL.findall(said))
        return found
