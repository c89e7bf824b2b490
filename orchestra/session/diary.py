"""A session's diary: its tracks in the journal, over the record of an earlier run where there is one."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from orchestra.errors import RecordDiffers
from orchestra.journal.past import Past
from orchestra.journal.recording import Recording, nobody, nothing
from orchestra.journal.track import Track
from orchestra.memory.session import SessionMemory
from orchestra.session.kit import Kit
from orchestra.session.stops import Stops
from orchestra.values.events import Event

Watch = Callable[[Event], None]


class Origin(Struct, frozen=True, kw_only=True):
    """What a session goes on from; see `journal.recording.Recording`. `past` None: it begins.

    `memory`: what is known across sessions, None where it does not say whose.
    """

    past: Past | None = None
    memory: SessionMemory | None = None
    from_here: bool = False
    loosely: bool = False


NEW = Origin()


class Diary:
    """Made for one session. `stop` ends its work, for a replay that has come to where it was ended."""

    __slots__ = (
        "_journal",
        "_session",
        "_stop",
        "_watch",
        "began",
        "own",
        "past",
        "recording",
        "stops",
        "tracks",
    )

    def __init__(
        self, session: str, kit: Kit, origin: Origin, *, watch: Watch | None, stop: Callable[[str], None]
    ) -> None:
        past = origin.past
        self.past = past
        self.stops = Stops(past, kit.times)
        self.began = kit.clock()
        if past is not None:
            self.began = past.began if past.replay else self.began - past.worked
        self._session = session
        self._journal = journal = kit.journal
        self._watch = watch
        self._stop = stop if past is not None else _never
        # What only a run over a record needs would hold the diary in a circle.
        self.recording = Recording(
            session=session,
            pen=journal.pen(session, watch),
            watch=self._seen if past is not None else nobody,
            clock=kit.clock,
            clean=journal.clean,
            past=past,
            missing=self._missing if past is not None else nothing,
            from_here=origin.from_here,
            loosely=origin.loosely,
        )
        self.own = Track("", self.recording)
        self.tracks = {"": self.own}

    def track(self, path: str) -> Track:
        """The track of an agent, made when it is first asked for."""
        track = self.tracks.get(path)
        if track is None:
            track = self.tracks[path] = Track(path, self.recording)
        return track

    async def note_stops(self) -> None:
        """Write down who stopped what, as soon as there is a moment for it."""
        for data in self.stops.taken():
            await self.own.put("stopped", data)

    async def waits(self, waiting: bool) -> None:
        """The session waits for a person, or goes on."""
        await self._journal.change(self._session, "waiting" if waiting else "running")

    def _seen(self, event: Event) -> None:
        """An event that is in the record comes again."""
        if self._watch is not None:
            self._watch(event)
        if self.stops.are_due(self.tracks):
            self._stop(self.stops.recorded)

    async def _missing(self, path: str) -> None:
        """Something is to be made that is not recorded: not in a replay."""
        if self.past is None or not self.past.replay:
            return
        if not self.stops.recorded:
            raise RecordDiffers(
                f"The record of {self._session} ends here, and a replay makes nothing: "
                f"go on with it first, with `orchestra resume {self._session}`."
            )
        await self.stops.wait(path, self.tracks, self._stop)


def _never(_reason: str) -> None:
    """What has no record does not come to where it was ended."""
