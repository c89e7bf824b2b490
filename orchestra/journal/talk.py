"""A conversation's place in the journal: what was said, turn by turn, and how each turn ended."""

from __future__ import annotations

from orchestra.journal.past import PastCall
from orchestra.journal.recording import Recording
from orchestra.journal.records import EventRecord
from orchestra.journal.track import Track
from orchestra.values.events import EventKind


class TurnEnded(Exception):
    """Here the record of a turn ends; `end` says how it did, None: it was cut off."""

    def __init__(self, end: EventRecord | None) -> None:
        super().__init__("the record of the turn ends here")
        self.end = end


class TalkTrack(Track):
    """As a Track; a turn that failed ends again where it did, whatever the reason was.

    `saying`: the number of what was said last; `answering`: whether it has no end yet. `rerun`: the record
    comes back whatever is asked, nothing is made and nothing recorded.
    """

    __slots__ = ("_stopped", "answering")

    def __init__(self, path: str, recording: Recording) -> None:
        super().__init__(path, recording)
        self.answering = False
        self._stopped = ""
        if recording.past is not None and recording.past.replay:
            self._stopped = recording.past.stopped

    @property
    def answer(self) -> EventRecord | None:
        """The recorded end of the turn that is being answered."""
        return self.past.answers.get(self.saying) if self.answering else None

    @property
    def recorded(self) -> PastCall | None:
        return self._of_this_turn(super().recorded)

    @property
    def recorded_step(self) -> PastCall | None:
        return self._of_this_turn(super().recorded_step)

    def _of_this_turn(self, call: PastCall | None) -> PastCall | None:
        """A recorded call, unless the turn that is being answered ended before it."""
        answer = self.answer
        return None if call is not None and answer is not None and call.seq > answer.seq else call

    async def missing(self) -> None:
        answer = self.answer
        failed = answer is not None and answer.data["status"] == "failed"
        # A replay of a session that was stopped has to be stopped here too.
        stopped = answer is not None and self._stopped and answer.data["reason"] == self._stopped
        if self.rerun or (failed and not stopped):
            raise TurnEnded(answer)
        await super().missing()

    def try_again(self) -> None:
        """A turn that was cut off is made again from where its record ends."""
        end = self.past.answers.pop(self.saying)
        self._coming = [event for event in self._coming if event is not end]

    def seek(self, event: EventRecord) -> None:
        """Go on in the record from this event on, whatever before it was not asked for."""
        self.turn = event.turn
        self._coming = [coming for coming in self._coming if coming.seq >= event.seq]
        self._made = sum(call.seq < event.seq for call in self.past.calls)

    def follows(self, kind: EventKind) -> bool:
        """Whether the record has such an event before the talk goes on."""
        for event in self._coming:
            if event.kind == kind:
                return True
            if event.kind == "steered" or (event.kind == "said" and event.data["n"] > self.saying):
                break
        return False

    def caught_up(self) -> None:
        """The record is over: what comes now is made."""
        self.rerun = False
        self._coming.clear()
        self._trail = None
        past = self.past
        self._made = len(past.calls)
        self.turn = max([self.turn, *(event.turn for event in past.events)])
