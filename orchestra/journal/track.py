"""One agent's place in the journal: what was recorded of it comes back, what is new is recorded.

A fresh run and a resumed one take the same way; a fresh one has no past. What comes again just as it was
recorded is not recorded twice. Times come from the record as long as there is one, so that what is dated
in a prompt is dated as it was.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from orchestra.errors import AgentFailed, LimitReached, RecordDiffers
from orchestra.journal.asked import Asked, PastPrompts, asked_now, asked_then, output_key
from orchestra.journal.past import PastCall, identity, may_be_missing
from orchestra.journal.prompts import Fold, PromptTrail, Sent, told_beside
from orchestra.journal.recording import Recording, nothing
from orchestra.journal.records import EventRecord
from orchestra.values.events import Event, EventKind
from orchestra.values.messages import Request

# Waiting for a commit takes some ms: little beside a reply that took this long, and it cannot be lost then.
WORTH_SECONDS = 0.02
PATIENCE_SECONDS = 0.25
NO_TEXTS: Mapping[str, str] = {}


class Track:
    """One agent's, "" for the session itself.

    `turn` counts the agent's model calls; `aside` goes with the next one into the journal. `saying`: in a
    conversation, the number of what was said last. `rerun`: it runs over its record, which comes back
    whatever is asked; nothing is made or recorded.
    """

    __slots__ = (
        "_coming", "_made", "_mark", "_pen", "_prompts", "_sent", "_trail", "aside", "clock", "fresh",
        "past", "path", "recording", "replied", "rerun", "saying", "turn",
    )  # fmt: skip

    def __init__(self, path: str, recording: Recording) -> None:
        self.path = path
        self.turn = 0
        self.saying = 0
        self.rerun = False
        self.aside: dict[str, Any] = {}
        self.recording = recording
        self._pen = recording.pen
        past = recording.past
        self.fresh = past is None and recording.missing is nothing  # all may be made, as nothing is recorded
        self.past = past.agent(path) if past is not None else recording.unrecorded
        self._coming: list[EventRecord] = list(self.past.events)
        self._made = 0  # model calls
        self.replied = 0.0  # when the last one was answered, in seconds since the epoch
        self._trail: PromptTrail | None = None  # this and the last prompt: there from its first call on
        self._sent: Sent | None = None
        self._prompts = PastPrompts() if past is not None else None
        self._mark = 0  # what has to be safe before the next call
        # The time of the next event, in seconds since the epoch.
        self.clock: Callable[[], float] = recording.clock if past is None else self._recorded_clock

    def rest(self) -> None:
        """Its agent's work is over: what only another call would need is let go of."""
        self._trail = self._sent = None

    def _recorded_clock(self) -> float:
        """The time of the next recorded event; without one, now."""
        coming = next((event.at for event in self._coming if not may_be_missing(event)), None)
        return coming if coming is not None else self.recording.clock()

    def pass_over(self, place: int) -> None:
        """A recorded result comes back: a person's word and an intention before it do not come again."""
        key = f"{self.path}/{self.turn}/{place}"
        self._coming = [
            event
            for event in self._coming
            if not (event.kind == "intended" and event.turn == self.turn and event.data.get("n") == place)
            and not (event.kind == "approval" and event.data.get("key") == key)
        ]

    @property
    def is_over(self) -> bool:
        """Whether all that was recorded has come again."""
        return not self._coming or all(map(may_be_missing, self._coming))

    @property
    def texts(self) -> Mapping[str, str]:
        """The record's texts, by what an event names."""
        return self.recording.past.texts if self.recording.past is not None else {}

    @property
    def recorded(self) -> PastCall | None:
        """The record of the next model call."""
        calls = self.past.calls
        return calls[self._made] if self._made < len(calls) else None

    @property
    def recorded_step(self) -> PastCall | None:
        """The record of the next model call that is no summary."""
        if not self.past.calls:
            return None
        steps = (call for call in self.past.calls[self._made :] if call.data.get("purpose") != "summary")
        return next(steps, None)

    def noted(self, what: str) -> EventRecord | None:
        """The recorded note about something that comes next in this turn, None where there is none."""
        notes = (each for each in self._coming if each.kind == "note" and each.turn == self.turn)
        return next((each for each in notes if each.data.get("what") == what), None)

    @property
    def window(self) -> int | None:
        """The context window, in tokens, with which the next call was recorded; None where it was not."""
        if self.recording.past is None:
            return None
        if self.recorded is not None:
            return self.recorded.data.get("window")
        started = self.past.started
        return started.data.get("window") if started is not None and not self._made else None

    @property
    def made(self) -> float:
        """When the next prompt was made, as recorded; else now."""
        if not self._coming:
            return self.clock()
        prompts = (
            event.at for event in self._coming if event.kind == "prompt" and "beside" not in event.data
        )
        return next(prompts, None) or self.recording.clock()

    async def put(
        self,
        kind: EventKind,
        data: Mapping[str, Any],
        texts: Mapping[str, str] | None = None,
        *,
        turn: int | None = None,
        at: float | None = None,
    ) -> None:
        """One event; `turn` None: the agent's own, `at` None: now."""
        if turn is None:
            turn = self.turn
        if at is None:
            at = self.clock()
        if texts is None:
            texts = NO_TEXTS
        if (self._coming or self.rerun) and self._came_again(turn, kind, at, data, texts):
            return
        if not self._pen.offer(self.path, turn, kind, at, data, texts):
            await self._pen.put(self.path, turn, kind, at, data, texts)

    def put_now(self, kind: EventKind, at: float, data: Mapping[str, Any], texts: Mapping[str, str]) -> bool:
        """As `put`, where that need not wait; False, and nothing is put, where it would."""
        if (self._coming or self.rerun) and self._came_again(self.turn, kind, at, data, texts):
            return True
        return self._pen.offer(self.path, self.turn, kind, at, data, texts)

    async def prompt(self, sent: Sent, *, beside: bool = False) -> None:
        """The prompt of the call that is made next; `beside` the agent's own, as for a summary."""
        if beside:
            await self.put("prompt", *told_beside(sent))
            return
        if self.recording.past is not None:
            self._sent = sent
        trail = self._trail
        if trail is None:
            trail = self._trail = PromptTrail()
        await self.put("prompt", *trail.told(sent), at=self.made)
        trail.took(self.turn, sent)

    def keep(self) -> Awaitable[bool] | None:
        """To be awaited before the agent acts on a reply that took long: a crash never makes it twice.

        The loop stands idle meanwhile, so the commit takes a ms or two; beside the agent's own work it took
        twelve, in which a crash would have lost the reply. Where a store takes longer, the next call waits.
        """
        if not self.is_over:
            return None
        self._mark = mark = self._pen.mark()
        return self._pen.settled(mark, PATIENCE_SECONDS)

    async def outcome(self, request: Request, model: str, tier: str) -> EventRecord | None:
        """The recorded outcome of a call; None: it is to be made, and is recorded as called.

        Raises RecordDiffers for a request that is not the recorded one, AgentFailed where the record says
        that the agent ended here.
        """
        if self._mark and not self._pen.is_safe(self._mark):
            await self._pen.durable(self._mark)
        self._mark = 0
        told = {"model": model, "purpose": request.purpose, "tier": tier, **self.aside}
        if request.output is not None:
            told["output"] = output_key(request.output)
        outcome = None
        if not self.fresh:
            recorded = self.recorded
            if self._prompts is not None:
                now = asked_now(request, model, self.recording.clean)
                recorded = await self._compared(recorded, now, self._prompts.of(self.past, self._made))
            outcome = recorded.outcome if recorded is not None else None
            if outcome is None:
                await self.missing()
        self._made += 1
        await self.put("call", told)
        return outcome

    async def _compared(self, recorded: PastCall | None, now: Asked, prompt: Fold) -> PastCall | None:
        """The recorded call, if it comes back for what is asked now; `prompt`: the recorded one, sent or not.

        What was not answered does not stand for a call with another prompt: that is recorded anew.
        """
        recording = self.recording
        assert recording.past is not None
        if recorded is None:
            if self._made == len(self.past.calls) and self.past.unsent and not now.is_prompt(prompt):
                await self.forget()
            return None
        then = asked_then(recorded.data, prompt)
        counts = recorded.seq > recording.past.trusted and not self.rerun
        if counts and (difference := now.difference(then, loosely=recording.loosely)):
            await self._differs(difference)
            return None
        if now != then:
            if recorded.outcome is None and not self.rerun:
                await self.forget()
                return None
            self._trail = None  # what follows is recorded against nothing of a prompt that is not recorded
        return recorded

    async def missing(self) -> None:
        """Before something is made that is not recorded."""
        if self.fresh:
            return
        past = self.recording.past
        end = self.past.end
        if end is not None and end.kind == "failed" and end.turn == self.turn:
            stopped = past.stopped if past is not None and past.replay else ""
            if not stopped or end.data["reason"] != stopped:
                if end.data.get("scope"):
                    raise LimitReached(end.data["reason"], limit="tokens", scope=end.data["scope"])
                raise AgentFailed(end.data["reason"], agent=self.path)
        await self.recording.missing(self.path)

    def _came_again(
        self, turn: int, kind: EventKind, at: float, data: Mapping[str, Any], texts: Mapping[str, str]
    ) -> bool:
        session = self.recording.session
        event = Event(session=session, agent=self.path, turn=turn, kind=kind, at=at, data=data, texts=texts)
        again = self._is_recorded(event)
        if again:
            self.recording.watch(event)
        return again

    def _is_recorded(self, event: Event) -> bool:
        """Whether the event is the record's; after the first that is not, none is.

        Notes that depend on what other agents did meanwhile are left out while the record lasts.
        """
        wanted = identity(event)
        for at, recorded in enumerate(self._coming):
            if identity(recorded) == wanted:
                del self._coming[at]
                return True
        if may_be_missing(event):
            return not self.is_over
        if self.rerun:
            return True
        self._coming.clear()
        return False

    async def _differs(self, what: str) -> None:
        if not self.recording.from_here:
            raise RecordDiffers(
                f"{self.path} differs from the record of {self.recording.session} in turn {self.turn}: "
                f"{what}. Undo the change, or go on from there with --from-here, which makes again what was "
                "recorded after it.",
                agent=self.path,
                turn=self.turn,
            )
        await self.forget()

    async def forget(self) -> None:
        """What was recorded of the agent from this turn on does not count any more."""
        self._coming.clear()
        past = self.past
        past.calls = past.calls[: self._made]
        past.results = {place: each for place, each in past.results.items() if place[0] < self.turn}
        past.intents = {place: each for place, each in past.intents.items() if place[0] < self.turn}
        past.answers = {number: each for number, each in past.answers.items() if number < self.saying}
        past.events = [event for event in past.events if event.turn < self.turn and event.kind != "failed"]
        await self.put("resumed", {"from": self.turn})
        if self._sent is not None:
            self._trail = None
            await self.prompt(self._sent)
