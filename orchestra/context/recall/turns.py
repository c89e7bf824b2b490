"""What goes into a recall index and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from msgspec import Struct


class Turn(Struct, frozen=True, kw_only=True, gc=False):
    """One thing that was said or returned.

    `time`: seconds since the epoch, a text with a date in it, or None when it is not known.
    `session`: turns of one sitting share it; None: an hour of silence begins a new one.
    `ref`: where the archive holds the whole of it, "" nowhere.
    """

    id: str
    speaker: str
    text: str
    time: str | float | None = None
    session: str | None = None
    ref: str = ""


class Hit(Struct, frozen=True, gc=False):
    """A turn that was recalled: whole, or the `spans` of its text that are shown.

    `score` is comparable within one recall only. `why` names what chose it. `ref`: its turn's.
    """

    id: str
    spans: tuple[tuple[int, int], ...]
    whole: bool
    score: float
    why: str
    ref: str = ""


class Meant(Struct, frozen=True):
    """What is known of a question's meaning: its vector by a model that had to be awaited, if it came.

    `problem`: why it did not. `again`: the units that were shown when this was recorded, to be shown again.
    """

    vector: Sequence[float] | None = None
    model: str = ""
    problem: str = ""
    again: tuple[int, ...] | None = None


class Recalled(Struct, frozen=True, gc=False):
    """What a question brought back: `text` as it goes into a prompt, "" when nothing was found.

    `tokens` of `text`. `found`: its hits, or what makes them when somebody asks. `embedding`: the model that
    helped, "" when words alone did the work. `note` says both, or that nothing was found, for the manifest.
    `units`: the numbers of what is shown.
    """

    text: str
    tokens: int
    found: tuple[Hit, ...] | Callable[[], tuple[Hit, ...]]
    embedding: str
    note: str
    units: tuple[int, ...] = ()

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The turns shown, in the order of time; made anew each time, as prompts do without."""
        return self.found() if callable(self.found) else self.found


class Sitting(NamedTuple):
    """Turns that belong together in time, under one heading."""

    heading: str
    tokens: int
    day: date | None
