"""Originals by reference: what a prompt shows in part or no longer shows."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from orchestra.context.blocks import Block


class Original(Struct, frozen=True, gc=False):
    """`query`: the arguments that produced it. `turn`: the model call; `at`: seconds since the epoch.

    Its text stands at [start, end) of `held`, which may be a message that is kept anyway.
    """

    ref: str
    source: str
    held: str
    start: int
    end: int
    query: str = ""
    turn: int = 0
    at: float = 0.0

    @property
    def text(self) -> str:
        return self.held[self.start : self.end]


class Archive:
    """One agent's originals, r1, r2, ... in the order of arrival; nothing is ever changed or taken out."""

    __slots__ = ("_originals",)

    def __init__(self) -> None:
        self._originals: list[Original] = []

    def put(self, source: str, text: str, *, query: str = "", turn: int = 0, at: float = 0.0) -> str:
        """Keep a text and return its reference."""
        ref = self.next
        self._originals.append(Original(ref, source, text, 0, len(text), query, turn, at))
        return ref

    @property
    def next(self) -> str:
        """The reference of what is kept next."""
        return f"r{len(self._originals) + 1}"

    def add(self, original: Original) -> None:
        """Keep what has the next reference."""
        self._originals.append(original)

    def get(self, ref: str) -> Original | None:
        """The original with this reference, None if there is none."""
        digits = ref[1:]
        if ref[:1] != "r" or not digits.isascii() or not digits.isdigit():
            return None
        at = int(digits) - 1
        return self._originals[at] if 0 <= at < len(self._originals) else None

    def since(self, count: int) -> list[Original]:
        """The originals behind the first `count`."""
        return self._originals[count:]

    def __len__(self) -> int:
        return len(self._originals)

    def __iter__(self) -> Iterator[Original]:
        return iter(self._originals)


def shelved(block: Block, archive: Archive) -> Block:
    """A block that leaves, with the reference of its original.

    Not kept is the answer to a call that has no original: a recall, whose text is archived already, or the
    word that the call did not return.
    """
    if block.ref or not block.message.text or (block.used and block.message.role == "tool"):
        return block
    ref = archive.put(block.source, block.message.text, turn=block.born, at=block.at)
    return structs.replace(block, ref=ref)
