"""The few lines that stand for what left: references, what they were, how large."""

from __future__ import annotations

from collections.abc import Collection

from orchestra.context.archive import Archive, shelved
from orchestra.context.blocks import Block, Entry, Fate, entry_of, resettled
from orchestra.context.fence import field
from orchestra.context.levels import Compaction

SOURCE = "archive"
_CHARACTERS = 120


class Ledger:
    """Grows by what leaves; its text shows the newest results by name and counts the rest."""

    __slots__ = ("_lines", "_messages")

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}
        self._messages = 0

    def note(self, block: Block) -> None:
        """A block that left: a result with its reference gets a line, other messages are counted."""
        if block.key and block.ref:
            folded = field(block.key[: 4 * _CHARACTERS])
            if len(folded) > _CHARACTERS:
                folded = folded[: _CHARACTERS - 1] + "…"
            self._lines[block.ref] = f"{block.ref}: {folded}, {block.whole or block.tokens:,} tokens"
        elif block.message.text and not block.key:
            self._messages += 1

    def text(self, most: int) -> str:
        """At most `most` lines, in the order of the references; "" when nothing left."""
        refs = sorted(self._lines, key=lambda ref: int(ref[1:]))
        older, shown = refs[:-most], refs[-most:]
        lines = [self._lines[ref] for ref in shown]
        if older:
            lines.insert(0, f"{len(older)} older results from {older[0]} to {older[-1]}")
        if self._messages:
            lines.insert(0, f"{self._messages} earlier messages, found by their words")
        return "\n".join(lines)


def carry_out(
    compaction: Compaction,
    blocks: list[Block],
    archive: Archive,
    ledger: Ledger,
    made: Collection[int] = (),
    covered: Collection[int] = (),
) -> tuple[list[Block], list[Entry]]:
    """The blocks that stay, settled, without those `made` by the last compaction; and the entries of what left.

    `made` and `covered` are numbers of blocks; `covered`: those that a summary stands for.
    """
    leaving = {block.number: item.why for item in compaction.leaving for block in item.blocks}
    shorter = {block.number: block for block in compaction.cut}
    stay: list[Block] = []
    gone: list[Entry] = []
    for block in blocks:
        if block.number in made:
            continue
        if block.number in leaving:
            moved = shelved(block, archive)
            ledger.note(moved)
            fate: Fate = "offloaded" if moved.ref else "dropped"
            if block.number in covered:
                fate = "summarised"
            gone.append(entry_of(moved, fate, leaving[block.number]))
        else:
            stay.append(resettled(shorter.get(block.number, block)))
    return stay, gone
