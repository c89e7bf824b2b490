"""How sessions begin, go on over their record, and are told to stop; the Runtime is one of these."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from msgspec import Struct, structs, to_builtins

from orchestra.errors import InputError
from orchestra.journal.ids import RANDOM_BYTES, session_id
from orchestra.journal.past import Past, load_past
from orchestra.journal.records import Fork, SessionRecord
from orchestra.journal.rows import SessionStart
from orchestra.memory.kept import Whose
from orchestra.memory.session import Library as Shelves
from orchestra.memory.session import SessionMemory
from orchestra.resume.absent import AbsentTool
from orchestra.resume.at_work import CLOSING_SECONDS, AtWork, status_before
from orchestra.resume.start import (
    AnyWorkflow,
    Start,
    arguments_of,
    resolved,
    start_of,
    this_version,
    workflow_at,
)
from orchestra.session.diary import Origin, Watch
from orchestra.session.house import House
from orchestra.session.kit import Kit
from orchestra.session.library import Library
from orchestra.session.opening import check_question
from orchestra.session.session import Session
from orchestra.tools.documents.tools import READ, SEARCH
from orchestra.tools.toolbox import Toolbox

_OUTSIDE = "A Runtime works inside its `async with` block only."


class Resuming(Struct, frozen=True, kw_only=True):
    """How a session goes on. `documents`: where its folder is now, "" for where it was.

    `from_here`: a request that differs from the record is made, in place of RecordDiffers.
    """

    documents: str = ""
    from_here: bool = False


class Host:
    """Sessions in one place. Whoever opens it sets `_opened` and what its sessions share."""

    def __init__(self) -> None:
        self._at_work = AtWork()
        self._toolbox = Toolbox()
        self._kit: Kit | None = None
        self._house: House | None = None
        self._library: Library | None = None

    @property
    def kit(self) -> Kit:
        """What all sessions share; there only inside the block."""
        if self._kit is None:
            raise RuntimeError(_OUTSIDE)
        return self._kit

    @property
    def _inside(self) -> House:
        if self._house is None:
            raise RuntimeError(_OUTSIDE)
        return self._house

    @asynccontextmanager
    async def begin(
        self, question: str, start: Start, *, watch: Watch | None = None
    ) -> AsyncIterator[Session]:
        """A new session, started so; `session.question` is the question without secrets.

        Raises Overloaded without a place.
        """
        check_question(question)
        async with self._inside.gate.place():
            session = await self._begun(question, start, watch)
            memory = session.memory
            with self._inside.hosted(session):
                async with self._at_work.hosted(self.kit, session):
                    if memory is not None:
                        await memory.heard(session.question)
                    await session.begun(start.workflow, session.toolbox.specs)
                    yield session

    async def _begun(self, question: str, start: Start, watch: Watch | None) -> Session:
        """A new session, in the journal; what it was made of is not kept while it is at work."""
        kit = self.kit
        question = kit.journal.clean(question)
        toolbox, problems = await self._tools(start.documents)
        name, now = self._name()
        start = structs.replace(
            start,
            documents=await resolved(start.documents) if start.documents else "",
            models=kit.tiers.names,
            windows=kit.tiers.windows,
            version=this_version(),
        )
        workflow = start.workflow.rpartition(":")[2]
        config = to_builtins(start)
        await kit.journal.begin(
            SessionStart(id=name, question=question, created=now, workflow=workflow, config=config)
        )
        origin = Origin(memory=self._memory(name, start))
        session = Session(kit, name, question, toolbox=toolbox, watch=watch, origin=origin)
        session.problems = problems
        return session

    async def resume(
        self,
        session: str,
        *,
        workflow: AnyWorkflow | None = None,
        documents: str | Path | None = None,
        from_here: bool = False,
    ) -> Any:
        """Run a session's workflow again over its record: what is recorded comes back, the rest is made.

        `session`: its id or the beginning of it. `workflow`: where its own cannot be imported here.
        `documents`: where the folder is now. `from_here`: a request that differs from the record is made,
        in place of RecordDiffers. Returns what the workflow returns.
        """
        resuming = Resuming(documents=str(documents or ""), from_here=from_here)
        async with self.resumed(session, resuming) as (opened, start):
            work = workflow or workflow_at(start.workflow)
            return await work(opened, opened.question, *arguments_of(start))

    @asynccontextmanager
    async def resumed(
        self, prefix: str, how: Resuming | None = None, *, watch: Watch | None = None
    ) -> AsyncIterator[tuple[Session, Start]]:
        """A session that goes on, and how it was started; for programs that run its workflow themselves."""
        how = how or Resuming()
        async with self._inside.gate.place():
            kit = self.kit
            record = await kit.journal.reopen(prefix)
            try:
                session, start = await self._goes_on(record, how, watch)
            except BaseException:
                with anyio.move_on_after(CLOSING_SECONDS, shield=True):
                    at = kit.clock() if record.finished is None else record.finished
                    await kit.journal.finish(record.id, status_before(record), at=at)
                raise
            with self._inside.hosted(session):
                async with self._at_work.hosted(kit, session, record):
                    await session.goes_on()
                    yield session, start

    async def _goes_on(
        self, record: SessionRecord, how: Resuming, watch: Watch | None
    ) -> tuple[Session, Start]:
        """A session that was reopened, and how it was started."""
        kit = self.kit
        past = await load_past(kit.journal, record)
        start = start_of(record)
        toolbox, problems = await self._tools_again(how.documents or start.documents)
        loosely = start.version != this_version()
        memory = self._memory(record.id, start)
        origin = Origin(past=past, memory=memory, from_here=how.from_here, loosely=loosely)
        session = Session(kit, record.id, past.question, toolbox=toolbox, watch=watch, origin=origin)
        session.problems = problems
        await self._at_work.catch_up(kit.journal, session)
        return session, start

    async def fork(self, session: str, *, at: int, question: str | None = None) -> str:
        """A new session with the first `at` events of another, to be resumed; its id. Raises InputError.

        What is recorded up to there comes back whatever is asked now; what comes after is made, with the
        models and roles of this runtime, and `question` in place of its own.
        """
        journal = self.kit.journal
        source = await journal.find_session(session)
        name, now = self._name()
        await journal.fork(source, Fork(id=name, at=at, created=now), question)
        return name

    @asynccontextmanager
    async def replayed(self, past: Past) -> AsyncIterator[Session]:
        """A recorded session, to be run with nothing but its record; for `orchestra.testing`."""
        kit, record = self.kit, past.record
        begun = SessionStart(id=record.id, question=past.question, created=record.created)
        await kit.journal.begin(begun)
        origin = Origin(past=past, memory=self._memory(record.id, start_of(record), replay=True))
        session = Session(kit, record.id, past.question, toolbox=self._toolbox, origin=origin)
        async with self._inside.gate.place():
            with self._inside.hosted(session):
                async with self._at_work.hosted(kit, session):
                    await session.begun(start_of(record).workflow, self._toolbox.specs)
                    yield session

    async def look(self, documents: str | Path) -> tuple[int, tuple[str, ...]]:
        """Index a folder before a session needs it: its documents, and a line for each unreadable file.

        Raises InputError for a folder that is not there or holds nothing to read.
        """
        assert self._library is not None, _OUTSIDE
        return await self._library.look(str(documents))

    def stop(self, session: str, reason: str, *, agent: str = "", tool: str = "") -> None:
        """Stop a session of this runtime, one of its agents (by path), or the running calls of a tool."""
        found = self._at_work.sessions.get(session)
        if found is None:
            raise InputError(f"No session {session!r} is at work here.")
        found.stop(reason, agent=agent, tool=tool)

    def _memory(self, session: str, start: Start, *, replay: bool = False) -> SessionMemory | None:
        """What is known of the session's user or project, if it says whose it is."""
        owner = Whose(start.user, start.project)
        if not owner:
            return None
        kit = self.kit
        shelves = Shelves(
            do=kit.journal.do, clean=kit.journal.clean, count=kit.counter.count, clock=kit.clock
        )
        return SessionMemory(owner, session, shelves, replay=replay)

    def _name(self) -> tuple[str, float]:
        """A new session's id, and now."""
        now = self.kit.clock()
        return session_id(now, secrets.token_bytes(RANDOM_BYTES)), now

    async def _tools(self, documents: str) -> tuple[Toolbox, tuple[str, ...]]:
        """The tools of a session over a folder, and a line for each file that cannot be read."""
        assert self._library is not None
        tools, problems = await self._library.tools(documents)
        return self._toolbox.joined(tools), problems

    async def _tools_again(self, documents: str) -> tuple[Toolbox, tuple[str, ...]]:
        """The same for a session that goes on; its documents may be gone, as long as none looks for them."""
        try:
            return await self._tools(documents)
        except InputError as error:
            sentence = f"{error} The session's next search needs its documents: name the folder with --docs."
            return self._toolbox.joined(AbsentTool(spec, sentence) for spec in (SEARCH, READ)), ()
