"""Originals by reference: what a prompt shows in part or no longer shows."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from msgspec import Struct, structs

from orchestra.context.blocks import Block

PACKED = 16_000
"""Characters from which on an original that no message shows whole is held compressed: to a fifth or less
in most results, in 5 to 10 ms a megabyte, and 2 ms to read it again."""


class Original(Struct, frozen=True, gc=False):
    """`query`: the arguments that produced it. `turn`: the model call; `at`: seconds since the epoch.

    Its text stands at [start, end) of `held`, which may be a message that is kept anyway, or compressed.
    """

    ref: str
    source: str
    held: str | bytes
    start: int
    end: int
    query: str = ""
    turn: int = 0
    at: float = 0.0

    @property
    def text(self) -> str:
        held = self.held if isinstance(self.held, str) else _unpacked(zlib.decompress(self.held))
        return held[self.start : self.end]

    def beginning(self, characters: int) -> str:
        """So much of the text, without all of it being unpacked."""
        if isinstance(self.held, str):
            return self.held[self.start : min(self.end, self.start + characters)]
        return _unpacked(zlib.decompressobj().decompress(self.held, 4 * characters))[:characters]


def packed(text: str) -> str | bytes:
    """A text as it is held by an original alone."""
    if len(text) < PACKED:
        return text
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def _unpacked(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


class Archive:
    """One agent's originals, r1, r2, ... in the order of arrival; nothing is ever changed or taken out."""

    __slots__ = ("_originals",)

    def __init__(self) -> None:
        self._originals: list[Original] = []

    def put(self, source: str, text: str, *, query: str = "", turn: int = 0, at: float = 0.0) -> str:
        """Keep a text and return its reference."""
        ref = self.next
        self._originals.append(Original(ref, source, packed(text), 0, len(text), query, turn, at))
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
