"""A conversation: one agent that is spoken to turn by turn, in the same context, over all restarts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from msgspec import Struct

from orchestra.agent.desk import Desk
from orchestra.agent.talker import Talker
from orchestra.context.context import Context
from orchestra.context.keeping import Compacted
from orchestra.context.summary.schema import Version
from orchestra.errors import ContextOverflow, InputError, LimitReached, RunError
from orchestra.journal.records import EventRecord
from orchestra.journal.talk import TalkTrack, TurnEnded
from orchestra.session.diary import Diary
from orchestra.session.places import Places
from orchestra.values.handoffs import Outcome
from orchestra.values.messages import ToolSpec

_LONG = 0.25
"""Of a prompt's tokens: an input with more is tried before it is said."""
CUT_OFF = "the program ended before the answer was there"


class Exchange(Struct, frozen=True, kw_only=True):
    """One turn: what was said, when (seconds since the epoch), and what came of it.

    A failed turn's `outcome.text` is what was shown of the answer, "" for nothing.
    """

    said: str
    at: float
    outcome: Outcome


class Around(Struct, frozen=True):
    """What a conversation needs of its session. `over` is told of every outcome."""

    diary: Diary
    places: Places
    clean: Callable[[str], str]
    stopped: Callable[[], str]
    over: Callable[[Outcome], None]


class Conversation:
    """Made by `Session.conversation`; used by one task at a time.

    `turns`: those that are over. Changes of the context are made here, so that they are recorded and come
    again with the turns.
    """

    def __init__(self, agent: Talker, desk: Desk, around: Around) -> None:
        self._agent = agent
        self._place = desk.place
        self._around = around
        self._changes = 0
        self._busy = False
        self._since = 0  # turns before this one were cleared
        self.turns: tuple[Exchange, ...] = ()
        assert isinstance(desk.track, TalkTrack)
        self._track = desk.track

    @property
    def context(self) -> Context:
        return self._agent.context

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """What the agent may call, as it is shown them; those of its role's before the first turn."""
        return self._agent.tools

    @property
    def path(self) -> str:
        """The agent's, by which it is stopped and its record is read."""
        return self._agent.path

    @property
    def recorded(self) -> int:
        """How many turns its record has, to `catch_up` with."""
        return sum(event.kind == "said" for event in self._track.past.talk)

    async def say(self, text: str) -> Outcome:
        """One turn: what comes of it, answered or failed; the conversation goes on either way.

        In a run over a record a recorded turn comes back; one that was cut off is made from where it was.
        Cancelled, it ends at once with what it has. A mistake in the role is raised, and so is InputError for
        a text that no prompt can hold: it has not been said then.
        """
        return await self._say(text, again=not self._replays)

    async def catch_up(self) -> tuple[Exchange, ...]:
        """Run all recorded turns and changes again, over their record alone; to be called first.

        A turn that was cut off is not made: it has failed, what was said stands, and it is for the person
        to ask again. Returns the turns.
        """
        talk, track = tuple(self._track.past.talk), self._track
        track.rerun = not self._replays
        for event in talk:
            if track.rerun:
                track.seek(event)
            if event.kind == "said":
                await self._say(track.texts[event.texts["text"]])
            else:
                await self._change_again(event.data)
        if track.rerun:
            track.caught_up()
        if self.turns and not self._replays and self._agent.window > self.context.budget.window:
            await self._widen(self._agent.window)
        return self.turns

    async def _widen(self, window: int) -> None:
        """Another model takes longer prompts than the one that the talk began with."""
        self.context.narrow(window)
        await self._changed("window", tokens=window)

    async def pin(self, block: str, *, pinned: bool = True) -> None:
        """Keep a block whatever happens, or no longer. Raises InputError for one that is not there."""
        self.context.pin(block, pinned=pinned)
        await self._changed("pin" if pinned else "unpin", block=block)

    async def restore(self, version: int) -> Version:
        """Make an earlier summary the current one. Raises InputError for one that is not there."""
        at = self._track.clock()
        restored = self.context.restore_summary(version, at=at)
        await self._changed("restore", at=at, version=version)
        return restored

    async def compact(self) -> Compacted | None:
        """Have all but the last turns summed up; None where nothing can leave."""
        async with self._at_work():
            plan = self._agent.plan()
            if plan is None:
                return None
            at = self._track.clock()
            await self._changed("compact", at=at)
            if not self._track.rerun or self._track.follows("compacted"):
                return await self._agent.compact(plan, at=at)
        return None  # it was stopped before it was done

    async def clear(self) -> None:
        """Begin anew with an empty context; what was said stays in the record."""
        self._agent.clear()
        self._since = len(self.turns)
        await self._changed("clear")

    @property
    def current(self) -> tuple[Exchange, ...]:
        """The turns since the context was cleared."""
        return self.turns[self._since :]

    @property
    def _replays(self) -> bool:
        past = self._around.diary.past
        return past is not None and past.replay

    @asynccontextmanager
    async def _at_work(self) -> AsyncIterator[None]:
        if self._busy:
            raise InputError("The conversation is at work on what was said last: wait for its answer.")
        self._busy = True
        places = self._around.places
        outer = places.scope
        try:
            async with places.taken(self._place):
                with anyio.CancelScope() as scope:  # for who stops the session between a workflow's parts
                    places.scope = outer or scope
                    yield
        finally:
            places.scope = outer
            self._busy = False

    async def _say(self, text: str, *, again: bool = False) -> Outcome:
        track = self._track
        text = self._around.clean(text)
        if len(self.turns) >= self.recorded:
            self._check_room(text)
        async with self._at_work():
            with anyio.CancelScope(shield=True):
                at = await self._agent.told(text, len(self.turns) + 1)
            last = track.saying == self.recorded  # behind any other, the talk went on with what there was
            if again and last and track.answer is not None and track.answer.data.get("cut"):
                track.try_again()
            await self._answered(text, at)
        outcome = self.turns[-1].outcome
        self._around.over(outcome)
        return outcome

    async def _answered(self, text: str, at: float) -> None:
        clean = self._around.clean
        try:
            outcome = await self._agent.answer()
        except TurnEnded as ended:
            outcome = self._as_recorded(ended.end)
        except RunError as error:
            short = error.scope if isinstance(error, LimitReached) else ""
            outcome = self._failed(clean(str(error)), short)
        except anyio.get_cancelled_exc_class():
            reason = self._around.stopped() or "cancelled"
            await self._ended(text, at, self._failed(reason), cut=True)
            raise
        await self._ended(text, at, outcome)

    def _check_room(self, text: str) -> None:
        """What cannot be sent is not said: it would be in the way of every later turn. Raises InputError."""
        context = self.context
        if context.counter.count(text) <= _LONG * context.budget.usable:
            return
        tried = context.fork()
        tried.add_input(text)
        try:
            tried.prompt(self.tools)
        except ContextOverflow as error:
            raise InputError(f"That is too long to be said here. {error}") from error

    def _failed(self, reason: str, short: str = "") -> Outcome:
        shown = self._around.clean(self._agent.heard)
        return Outcome(agent=self.path, text=shown, status="failed", reason=reason, short=short)

    def _as_recorded(self, end: EventRecord | None) -> Outcome:
        if end is None:
            return Outcome(agent=self.path, status="failed", reason=CUT_OFF)
        text = self._track.texts[end.texts["partial"]] if "partial" in end.texts else ""
        reason, short = end.data["reason"], end.data.get("scope", "")
        return Outcome(agent=self.path, text=text, status="failed", reason=reason, short=short)

    async def _ended(self, text: str, at: float, outcome: Outcome, *, cut: bool = False) -> None:
        """The turn's end stands in its record, however it came."""
        track = self._track
        with anyio.CancelScope(shield=True):
            await self._around.diary.note_stops()
            if track.rerun and track.answer is None:
                track.caught_up()  # a turn that was cut off is the last one, and ends only now
            data: dict[str, Any] = {"n": track.saying, "status": outcome.status, "reason": outcome.reason}
            data |= {"scope": outcome.short} if outcome.short else {}
            data |= {"cut": True} if cut else {}
            failed = outcome.status == "failed"
            now = track.clock() if track.answer is None else track.answer.at
            if failed:
                self._agent.give_up(outcome.reason, outcome.text, at=now)
            texts = {"partial": outcome.text} if failed and outcome.text else {}
            await track.put("answered", data, texts, at=now)
            track.answering = False
        self.turns += (Exchange(said=text, at=at, outcome=outcome),)

    async def _changed(self, what: str, at: float | None = None, **about: Any) -> None:
        self._changes += 1
        await self._track.put("steered", {"what": what, "n": self._changes, **about}, at=at)

    async def _change_again(self, change: Mapping[str, Any]) -> None:
        """Make a recorded change; one that fits no more, for a role that has changed, is left out."""
        self._changes = change["n"] - 1
        with suppress(InputError):
            match change["what"]:
                case "pin" | "unpin":
                    await self.pin(change["block"], pinned=change["what"] == "pin")
                case "restore":
                    await self.restore(change["version"])
                case "compact":
                    await self.compact()
                case "window":
                    await self._widen(change["tokens"])
                case _:
                    await self.clear()
        self._changes = change["n"]
