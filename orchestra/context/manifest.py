"""What one prompt holds and what it left out, block by block, with reasons."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from orchestra.context.blocks import ZONES, Entry, Zone


class Manifest(Struct, frozen=True, kw_only=True, gc=False):
    """One prompt's account: the tokens of its entries add up to the prompt's own.

    `window`, `output` (the reserve for the reply), `margin` and `usable` are in tokens;
    usable = window - output - margin. `turn`: the agent's model call, from 1.
    """

    agent: str
    turn: int
    window: int
    output: int
    margin: int
    usable: int
    entries: tuple[Entry, ...]

    @property
    def tokens(self) -> int:
        return sum(entry.tokens for entry in self.entries)

    @property
    def occupancy(self) -> float:
        """The share of the usable tokens that is taken, 0 to 1."""
        return self.tokens / self.usable

    @property
    def overhead(self) -> int:
        """The tokens of what is no block: tool schemas, the pieces at the end, the chat format."""
        return sum(entry.tokens for entry in self.entries if not entry.block[1:].isdigit())

    def zones(self) -> dict[Zone, int]:
        """Tokens by zone, every zone in the order of the prompt."""
        sums = dict.fromkeys(ZONES, 0)
        for entry in self.entries:
            sums[entry.zone] += entry.tokens
        return sums

    def absent(self) -> tuple[Entry, ...]:
        """The entries of blocks that are not in the prompt."""
        return tuple(entry for entry in self.entries if entry.fate not in ("kept", "trimmed"))


class Change(Struct, frozen=True, gc=False):
    """One block in two manifests; None: not known to that one."""

    block: str
    before: Entry | None
    after: Entry | None


def difference(before: Manifest, after: Manifest) -> tuple[Change, ...]:
    """Every block that came, went or changed its fate, tokens or reason, in the order of the later prompt."""
    old = {entry.block: entry for entry in before.entries}
    new = {entry.block: entry for entry in after.entries}
    changed = [Change(name, old.get(name), entry) for name, entry in new.items() if old.get(name) != entry]
    lost = [Change(name, entry, None) for name, entry in old.items() if name not in new]
    return (*changed, *lost)


def to_json(manifest: Manifest) -> bytes:
    return msgspec.json.encode(manifest)


def from_json(text: bytes | str) -> Manifest:
    """Raises msgspec.ValidationError for anything but a manifest."""
    return msgspec.json.decode(text, type=Manifest)
