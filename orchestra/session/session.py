"""A session: one request from start to report."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import anyio
import msgspec

from orchestra.agent.agent import Agent
from orchestra.agent.desk import Desk
from orchestra.agent.talker import Talker
from orchestra.errors import ConfigError, InputError, LimitReached, RoleError, RunError
from orchestra.evidence.ledger import Ledger
from orchestra.journal.talk import TalkTrack
from orchestra.journal.track import Track
from orchestra.session.at_once import at_once
from orchestra.session.bill import Bill
from orchestra.session.capping import enveloped, task_room
from orchestra.session.conversation import Around, Conversation
from orchestra.session.desks import Common, desk_for
from orchestra.session.diary import NEW, Diary, Origin, Watch
from orchestra.session.kit import Kit
from orchestra.session.outputs import as_json, output_spec
from orchestra.session.paths import Paths
from orchestra.session.people import People
from orchestra.session.places import Places
from orchestra.session.recorder import Recorder
from orchestra.spend.scope import Spend
from orchestra.tools.approval import Answer, Asked
from orchestra.tools.groups import pool_of
from orchestra.tools.outputs import Cleaner
from orchestra.tools.toolbox import Toolbox, nearest
from orchestra.values.drafts import OUTPUTS
from orchestra.values.handoffs import HandOff, Outcome
from orchestra.values.messages import Listen, OutputSpec
from orchestra.values.report import Report
from orchestra.values.roles import Role
from orchestra.values.usage import Usage

T = TypeVar("T")
R = TypeVar("R")

# The reason with which a person ends a session's work.
INTERRUPTED = "interrupted"


class Session(Recorder):
    """One request: made by `Runtime.session`, handed to a workflow, gone afterwards.

    `problems`: one line for each document that could not be read. `stopped` says why work ended early,
    "" if it did not; `short` why less was done than was asked, for want of tokens or money. `watch` is
    called with every event as it is recorded.
    """

    def __init__(
        self,
        kit: Kit,
        session_id: str,
        question: str,
        *,
        toolbox: Toolbox,
        watch: Watch | None = None,
        origin: Origin = NEW,
    ) -> None:
        super().__init__(session_id, kit, Diary(session_id, kit, origin, watch=watch, stop=self.stop))
        self.question = question
        self.toolbox = toolbox
        self.problems: tuple[str, ...] = ()
        self._notes: list[str] = []
        self.ledger = Ledger(kit.shelf)
        self.memory = origin.memory
        self.stopped = ""
        self.short = ""
        limits = kit.limits
        self.spend = Spend("session", tokens=limits.tokens, cost=limits.dollars, parent=kit.spend)
        self._bill = Bill()
        self._paths = Paths(origin.past, kit.journal.clean)
        self._places = Places(limits.agents)
        self._stages = 0
        self.people = People(self._places, told=self._diary.waits, durable=kit.journal.durable)
        self._common = Common(
            kit=kit,
            ledger=self.ledger,
            scopes=self.spend.scopes,
            people=self.people,
            clean=Cleaner(kit.journal.clean),
            charge=self._bill.charge,
            tell=self._notes.append,
            durable=kit.journal.durable,
            calls=self._diary.stops.calls,
            memory=origin.memory,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the person has to know, beside what is in the report."""
        return tuple(self._notes)

    @property
    def usage(self) -> dict[str, Usage]:
        """What its calls took so far, by tier."""
        return self._bill.usage

    @contextmanager
    def working(self) -> Iterator[None]:
        """The part of a workflow that may end early: by `stop`, or when the session's time is up."""
        seconds = self.kit.limits.seconds if not self._diary.stops.recorded else None
        with self.kit.times.within(seconds) as scope:
            self._places.scope = scope
            if self._diary.stops.are_due(None):
                self.stop(self._diary.stops.recorded)
            if self.stopped:
                scope.cancel()
            try:
                yield
            finally:
                self._places.scope = None
        if scope.cancelled_caught and not self.stopped:
            self._diary.stops.session("the deadline", f"the session's limit of {seconds:g} s was reached")
            self.stopped = f"the session's limit of {seconds:g} s was reached"

    def stop(self, reason: str, *, who: str = "the program", agent: str = "", tool: str = "") -> None:
        """End the session's work, one agent's (`agent`: its path), or the calls of a tool that run.

        The workflow goes on with what there is. The journal says who did it. Raises InputError where
        no such agent is at work.
        """
        if agent or tool:
            self._diary.stops.part(self._places.at_work, reason, who, agent, tool)
            return
        if not self.stopped:
            self.stopped = reason
            self._diary.stops.session(who, reason)
        if self._places.scope is not None:
            self._places.scope.cancel()

    async def ask(
        self,
        role: str,
        task: str,
        *,
        receiver: str = "session",
        output: type[Any] | None = None,
        tools: Toolbox | None = None,
        listen: Listen | None = None,
    ) -> HandOff[Any]:
        """One agent's work on one task, in a context of its own, handed over within its role's cap.

        `output`: a type in place of the role's own. `tools`: in place of the session's. `listen` hears its
        replies as they come. A failure of the run is a status with its reason; a mistake is raised.
        """
        found = self.role(role)
        path = self._paths.next(role, task)
        desk = self._desk(found, Track(path, self._diary.recording), output, tools)
        if listen is not None:
            desk = msgspec.structs.replace(desk, listen=listen)
        places, place, track = self._places, desk.place, desk.track
        if not places.enter_now(place):
            await places.enter(place)
        try:
            outcome = await Agent(found, path, desk).run(task)
        except RunError as error:
            short = error.scope if isinstance(error, LimitReached) else ""
            reason = self.kit.journal.clean(str(error))
            outcome = Outcome(agent=path, status="failed", reason=reason, short=short)
        except anyio.get_cancelled_exc_class():
            await self._cut_off(track)
            raise
        finally:
            places.leave(place)
        self._note_short(outcome)
        if self._diary.stops.notes:
            await self._diary.note_stops()
        await self.ended(outcome, track)
        handoff, written = enveloped(
            outcome, receiver, found.handoff_tokens, self.kit.counter, session=self.id
        )
        await self.record_handoff(handoff, written)
        return handoff

    async def _cut_off(self, track: Track) -> None:
        """The end of an agent whose session was stopped."""
        with anyio.CancelScope(shield=True):
            await self._diary.note_stops()
            reason = self.stopped or "cancelled"
            await self.ended(Outcome(agent=track.path, status="failed", reason=reason), track)

    def conversation(
        self, role: str, *, tools: Toolbox | None = None, listen: Listen | None = None
    ) -> Conversation:
        """One agent to be spoken to turn by turn; `tools` in place of the session's. Raises RoleError."""
        found = self.role(role)
        path = self._paths.next(role, "")
        desk = self._desk(found, TalkTrack(path, self._diary.recording), None, tools)
        clean = self.kit.journal.clean
        around = Around(self._diary, self._places, clean, lambda: self.stopped, self._note_short)
        return Conversation(Talker(found, path, msgspec.structs.replace(desk, listen=listen)), desk, around)

    def talkers(self) -> tuple[str, ...]:
        """The roles of the conversations that its record has, each as often as there are."""
        past = self._diary.past
        agents = past.agents.values() if past is not None else ()
        return tuple(agent.path.rpartition(".")[0] for agent in agents if agent.talk)

    def _note_short(self, outcome: Outcome) -> None:
        if outcome.short in ("session", "runtime"):
            self.short = self.short or outcome.reason

    async def approval(self, what: str, *, detail: str = "") -> Answer:
        """A stage of the workflow asks a person and waits; `orchestra approve` or `people.answer` ends it."""
        self._stages += 1
        asked = Asked(key=f"/{self._stages}", what=what, detail=detail)
        return await self.people.ask(asked, self._diary.own, None)

    def each(
        self, items: Sequence[T], work: Callable[[int, T], Coroutine[Any, Any, R]]
    ) -> Coroutine[Any, Any, tuple[R, ...]]:
        """`work(number, item)` on all items at once, numbered from 1; results in the items' order."""
        return at_once(items, work)

    async def finish(self, report: Report, *, notes: tuple[str, ...] = (), partial: str = "") -> Report:
        """The report with what only the session knows: its id, usage, time and why it may be partial."""
        self.stopped = self.stopped or partial or self.short
        await self._diary.note_stops()
        at = self._diary.own.clock()
        whole = msgspec.structs.replace(
            report,
            session=self.id,
            question=self.question,
            usage=self.usage,
            seconds=round(at - self._diary.began, 3),
            notes=(*report.notes, *notes, *self.notes),
            partial=self.stopped,
        )
        if self.memory is not None:
            await self.memory.reported(whole)
        data = {"supported_share": whole.supported_share, "words": whole.words, "partial": whole.partial}
        await self._diary.own.put("verified", data, {"report": as_json(whole)}, turn=0, at=at)
        return whole

    def room(self, role: str) -> int:
        """Tokens that the task of this role's agent may have: what its window leaves beside the rest."""
        found = self.role(role)
        tiers = self.kit.tiers
        window = min(tiers.model_for(found.steps).window, tiers.model_for(found.final).window)
        window = self._paths.window(role) or window
        return task_room(window, self.kit.policies[found.context])

    def role(self, name: str) -> Role:
        """The role of this name. Raises InputError with the nearest ones."""
        role = self.kit.roles.get(name)
        if role is None:
            raise InputError(f"No role is called {name!r}; {nearest(name, self.kit.roles)}.", key=name)
        return role

    def _desk(self, role: Role, track: Track, output: type[Any] | None, tools: Toolbox | None) -> Desk:
        own = tools if tools is not None else self.toolbox
        kind: type | None = output or OUTPUTS.get(role.output)
        spec: OutputSpec | None = output_spec(kind) if kind is not None else None
        try:
            pool = pool_of(role.tools, own, self.kit.groups)
        except ConfigError as error:
            raise RoleError(f"tools: {error}", file=role.file or None, key="tools") from error
        self._diary.tracks[track.path] = track
        return desk_for(self._common, role, track, pool, spec)
