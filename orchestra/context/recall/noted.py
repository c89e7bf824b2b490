"""What an agent's past is made of before anybody reads it."""

from __future__ import annotations

from msgspec import Struct

from orchestra.context.archive import Original
from orchestra.context.recall.turns import Turn


class Noted(Struct, frozen=True, gc=False):
    """A turn that nobody has read yet; what an archive keeps is taken from there when it is read."""

    id: str
    speaker: str
    said: str | Original
    time: str | float | None
    ref: str

    @property
    def size(self) -> int:
        """In characters."""
        return len(self.said) if isinstance(self.said, str) else self.said.end - self.said.start

    def turn(self) -> Turn:
        said = self.said if isinstance(self.said, str) else self.said.text.removeprefix(f"{self.speaker}: ")
        return Turn(id=self.id, speaker=self.speaker, text=said, time=self.time, ref=self.ref)
