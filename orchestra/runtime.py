"""The runtime: hosts many sessions; owns the journal, the models and the indexes, and closes them."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
from msgspec import Struct, structs, to_builtins

from orchestra.config.load import load_settings
from orchestra.config.settings import Settings
from orchestra.context.tokens import counter_for
from orchestra.errors import InputError
from orchestra.journal.forking import Fork
from orchestra.journal.ids import RANDOM_BYTES, session_id
from orchestra.journal.journal import Journal
from orchestra.journal.past import Past, load_past
from orchestra.journal.rows import SessionStart
from orchestra.models.configured import configured_models, keys_of
from orchestra.models.governor.statistics import GovernorStatistics
from orchestra.models.guarding import Guard
from orchestra.models.port import Model
from orchestra.models.tiers import Tiers
from orchestra.resume.absent import AbsentTool
from orchestra.resume.at_work import AtWork
from orchestra.resume.start import (
    Start,
    arguments_of,
    check_question,
    place_of,
    resolved,
    start_of,
    this_version,
    workflow_at,
)
from orchestra.roles.load import load_roles
from orchestra.session.diary import Origin, Watch
from orchestra.session.kit import Kit, check_prices, make_kit
from orchestra.session.library import Library
from orchestra.session.session import Session
from orchestra.tools.documents.tools import READ, SEARCH
from orchestra.tools.port import Tool
from orchestra.tools.toolbox import Toolbox
from orchestra.values.report import Report
from orchestra.values.roles import Role
from orchestra.workflow import Options, research_then_write

T = TypeVar("T")
Workflow = Callable[[Session, str], Awaitable[T]]


class Resuming(Struct, frozen=True, kw_only=True):
    """How a session goes on. `documents`: where its folder is now, "" for where it was.

    `from_here`: a request that differs from the record is made, in place of RecordDiffers.
    """

    documents: str = ""
    from_here: bool = False


class Hosting(Struct, frozen=True, kw_only=True):
    """What a program may hand a runtime beside its settings.

    `models`: tier → model, in place of what the settings say. `roles`: over those of the settings, by name.
    `tools`: what every session may use beside its documents.
    """

    models: Mapping[str, Model] | None = None
    roles: tuple[Role, ...] = ()
    tools: tuple[Tool, ...] = ()


class Runtime:
    """`async with Runtime() as runtime:` hosts sessions until the block ends.

    `settings` None: what the command line would find (orchestra.toml, environment, defaults). Raises
    UserError at entry for what is wrong with settings, roles or store.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        models: Mapping[str, Model] | None = None,
        roles: Iterable[Role] = (),
        tools: Iterable[Tool] = (),
    ) -> None:
        self._settings = settings
        self._hosting = Hosting(models=models, roles=tuple(roles), tools=tuple(tools))
        self._stack = AsyncExitStack()
        self._at_work = AtWork()
        self._toolbox = Toolbox()
        self._guard = Guard()
        self._kit: Kit | None = None

    async def __aenter__(self) -> Runtime:
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()
        self._kit = None

    @property
    def kit(self) -> Kit:
        """What all sessions share; there only inside the block."""
        if self._kit is None:
            raise RuntimeError("A Runtime works inside its `async with` block only.")
        return self._kit

    @property
    def governors(self) -> Mapping[str, GovernorStatistics]:
        """How each endpoint is used, by name; empty where no endpoint is configured."""
        return self._guard.statistics

    async def research(
        self,
        question: str,
        *,
        documents: str | Path,
        strict: bool = False,
        review: bool = False,
        watch: Watch | None = None,
    ) -> Report:
        """A cited report on a question from a folder of documents. Raises OrchestraError.

        `strict`: sentences that are not supported are removed, not marked. `watch`: called with each event.
        """
        options = {"strict": strict, "review": review}
        start = Start(documents=str(documents), options=options)
        async with self.begin(question, start, watch=watch) as session:
            return await research_then_write(session, session.question, Options(**options))

    async def run(self, workflow: Workflow[T], question: str, *, documents: str | Path | None = None) -> T:
        """A workflow of your own: an async function of a session and a question."""
        start = Start(workflow=place_of(workflow), documents=str(documents) if documents else "")
        async with self.begin(question, start) as session:
            return await workflow(session, session.question)

    @asynccontextmanager
    async def session(
        self, question: str, *, documents: str | Path | None = None, watch: Watch | None = None
    ) -> AsyncIterator[Session]:
        """One request, recorded from start to end however it ends."""
        start = Start(documents=str(documents) if documents is not None else "")
        async with self.begin(question, start, watch=watch) as session:
            yield session

    @asynccontextmanager
    async def begin(
        self, question: str, start: Start, *, watch: Watch | None = None
    ) -> AsyncIterator[Session]:
        """A new session, started so; `session.question` is the question without secrets."""
        kit = self.kit
        check_question(question)
        question = kit.journal.clean(question)
        tools, problems = await self._library.tools(start.documents)
        toolbox = self._toolbox.joined(tools)
        now = kit.clock()
        name = session_id(now, secrets.token_bytes(RANDOM_BYTES))
        start = structs.replace(
            start,
            documents=await resolved(start.documents),
            models={tier: model.name for tier, model in kit.tiers.items()},
            windows={tier: model.window for tier, model in kit.tiers.items()},
            version=this_version(),
        )
        await kit.journal.begin(
            SessionStart(
                id=name,
                question=question,
                created=now,
                workflow=start.workflow.rpartition(":")[2],
                config=to_builtins(start),
            )
        )
        session = Session(kit, name, question, toolbox=toolbox, watch=watch)
        session.problems = problems
        async with self._at_work.hosted(kit, session):
            await session.begun(start.workflow, toolbox.specs)
            yield session

    async def resume(
        self,
        session: str,
        *,
        workflow: Workflow[Any] | None = None,
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
        kit, how = self.kit, how or Resuming()
        record = await kit.journal.reopen(prefix)
        past = await load_past(kit.journal, record)
        start = start_of(record)
        toolbox, problems = await self._toolbox_again(how.documents or start.documents)
        loosely = start.version != this_version()
        origin = Origin(past=past, from_here=how.from_here, loosely=loosely)
        session = Session(kit, record.id, past.question, toolbox=toolbox, watch=watch, origin=origin)
        session.problems = problems
        await self._at_work.catch_up(kit.journal, session)
        async with self._at_work.hosted(kit, session, record):
            await session.goes_on()
            yield session, start

    async def fork(self, session: str, *, at: int, question: str | None = None) -> str:
        """A new session with the first `at` events of another, to be resumed; its id. Raises InputError.

        What is recorded up to there comes back whatever is asked now; what comes after is made, with the
        models and roles of this runtime, and `question` in place of its own.
        """
        journal, now = self.kit.journal, self.kit.clock()
        source = await journal.find_session(session)
        new = Fork(id=session_id(now, secrets.token_bytes(RANDOM_BYTES)), at=at, created=now)
        await journal.fork(source, new, question)
        return new.id

    @asynccontextmanager
    async def replayed(self, past: Past) -> AsyncIterator[Session]:
        """A recorded session, to be run with nothing but its record; for `orchestra.testing`."""
        kit, start = self.kit, start_of(past.record)
        await kit.journal.begin(
            SessionStart(id=past.record.id, question=past.question, created=past.record.created)
        )
        origin = Origin(past=past)
        session = Session(kit, past.record.id, past.question, toolbox=self._toolbox, origin=origin)
        async with self._at_work.hosted(kit, session):
            await session.begun(start.workflow, self._toolbox.specs)
            yield session

    def stop(self, session: str, reason: str, *, agent: str = "", tool: str = "") -> None:
        """Stop a session of this runtime, one of its agents (by path), or the running calls of a tool."""
        found = self._at_work.sessions.get(session)
        if found is None:
            raise InputError(f"No session {session!r} is at work here.")
        found.stop(reason, agent=agent, tool=tool)

    async def _toolbox_again(self, documents: str) -> tuple[Toolbox, tuple[str, ...]]:
        """The tools of a session that goes on; its documents may be gone, as long as none looks for them."""
        try:
            tools, problems = await self._library.tools(documents)
        except InputError as error:
            sentence = f"{error} The session's next search needs its documents: name the folder with --docs."
            tools, problems = tuple(AbsentTool(spec, sentence) for spec in (SEARCH, READ)), ()
        return self._toolbox.joined(tools), problems

    async def _open(self) -> None:
        settings = self._settings or load_settings().settings
        self._settings = settings
        journal = await self._stack.enter_async_context(
            Journal.open(settings.store, secrets=keys_of(settings, os.environ))
        )
        roles = load_roles(settings.agents)
        roles |= {role.name: role for role in self._hosting.roles}
        given = self._hosting.models
        tiers = (
            Tiers(given)
            if given is not None
            else await self._stack.enter_async_context(
                configured_models(settings, os.environ, count=counter_for("").count, guard=self._guard)
            )
        )
        check_prices(tiers, settings)
        self._toolbox = Toolbox(self._hosting.tools)
        self._library = Library(settings, self._stack)
        self._kit = make_kit(settings, roles, tiers, journal)
        group = await self._stack.enter_async_context(anyio.create_task_group())
        self._stack.callback(group.cancel_scope.cancel)
        group.start_soon(self._at_work.listen, journal)
