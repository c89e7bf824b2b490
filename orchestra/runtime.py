"""The runtime: hosts many sessions; owns the journal, the models and the indexes, and closes them."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import TypedDict, TypeVar, Unpack

import anyio
import anyio.to_thread
from msgspec import Struct

from orchestra.config.load import load_settings
from orchestra.config.settings import Settings
from orchestra.context.tokens import counter_for
from orchestra.journal.journal import Journal
from orchestra.memory.kept import Owner, whose
from orchestra.models.configured import configured_meaning, configured_models, keys_of
from orchestra.models.governor.statistics import GovernorStatistics
from orchestra.models.guarding import Guard
from orchestra.models.port import Model
from orchestra.models.tiers import Tiers
from orchestra.resume.host import Host
from orchestra.resume.start import OWN_WORKFLOW, Start, place_of
from orchestra.roles.load import load_roles
from orchestra.roles.read import Known
from orchestra.session.collecting import collected_seldom
from orchestra.session.diary import Watch
from orchestra.session.gate import Gate, GateStatistics
from orchestra.session.house import House
from orchestra.session.library import Library
from orchestra.session.opening import check_prices, make_kit
from orchestra.session.session import Session
from orchestra.session.watchdog import Blocks, watched
from orchestra.tools.port import Tool
from orchestra.tools.threads import tool_threads
from orchestra.tools.toolbox import Toolbox
from orchestra.values.report import Report
from orchestra.values.roles import Role
from orchestra.workflow import Options, research_then_write

T = TypeVar("T")
Workflow = Callable[[Session, str], Awaitable[T]]


class Hosting(Struct, frozen=True, kw_only=True):
    """What a program may hand a runtime beside its settings.

    `models`: tier → model, in place of what the settings say. `roles`: over those of the settings, by name.
    `tools`: what every session may use beside its documents.
    """

    models: Mapping[str, Model] | None = None
    roles: tuple[Role, ...] = ()
    tools: tuple[Tool, ...] = ()


class Runtime(Host):
    """`async with Runtime() as runtime:` hosts sessions until the block ends.

    `settings` None: what the command line would find. Raises UserError at entry for settings, roles, store.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        models: Mapping[str, Model] | None = None,
        roles: Iterable[Role] = (),
        tools: Iterable[Tool] = (),
    ) -> None:
        super().__init__()
        self._settings = settings
        self._hosting = Hosting(models=models, roles=tuple(roles), tools=tuple(tools))
        self._stack = AsyncExitStack()
        self._guard = Guard()
        self._drain_seconds: float | None = None
        self.blocked = Blocks()

    async def __aenter__(self) -> Runtime:
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.drain(self._drain_seconds)
        await self._stack.aclose()
        self._kit = None

    @property
    def governors(self) -> Mapping[str, GovernorStatistics]:
        """How each endpoint is used, by name; empty where no endpoint is configured."""
        return self._guard.statistics

    @property
    def statistics(self) -> GateStatistics:
        """Sessions at work, waiting, admitted and refused."""
        return self._inside.gate.statistics

    async def drain(self, seconds: float | None) -> None:
        """Take no more sessions and return when none is at work.

        Those that are not done after so many seconds (None: no limit) are stopped, to be resumed later.
        """
        if self._house is not None:
            await self._house.drain(seconds)

    async def research(
        self,
        question: str,
        *,
        documents: str | Path,
        strict: bool = False,
        review: bool = False,
        watch: Watch | None = None,
        **owner: Unpack[Owner],
    ) -> Report:
        """A cited report on a question from a folder of documents. Raises OrchestraError.

        `strict`: sentences that are not supported are removed, not marked. `watch`: called with each event.
        `user`, `project`: whose memory it has; left out: none.
        """
        options = {"strict": strict, "review": review}
        start = Start(documents=str(documents), options=options, **_owned(owner))
        async with self.begin(question, start, watch=watch) as session:
            return await research_then_write(session, session.question, Options(**options))

    async def run(
        self,
        workflow: Workflow[T],
        question: str,
        *,
        documents: str | Path | None = None,
        **owner: Unpack[Owner],
    ) -> T:
        """A workflow of your own: an async function of a session and a question.

        `user`, `project`: whose memory it has; left out: none.
        """
        folder = str(documents) if documents else ""
        start = Start(workflow=place_of(workflow), documents=folder, **_owned(owner))
        async with self.begin(question, start) as session:
            return await workflow(session, session.question)

    def session(
        self,
        question: str,
        *,
        documents: str | Path | None = None,
        watch: Watch | None = None,
        workflow: str = OWN_WORKFLOW,
        **owner: Unpack[Owner],
    ) -> AbstractAsyncContextManager[Session]:
        """One request, recorded from start to end however it ends. Raises Overloaded without a place.

        `workflow`: where the function is that the caller runs, as module:name, by which it is resumed.
        `user`, `project`: whose memory it has; left out: none.
        """
        folder = str(documents) if documents is not None else ""
        start = Start(workflow=workflow, documents=folder, **_owned(owner))
        return self.begin(question, start, watch=watch)

    async def _open(self) -> None:
        settings = self._settings or load_settings().settings
        self._settings = settings
        hosting = settings.runtime
        self._drain_seconds = hosting.drain_seconds
        self._house = House(Gate(hosting.sessions, hosting.waiting, time.monotonic))
        tool_threads().total_tokens = hosting.tool_threads
        journal = await self._stack.enter_async_context(
            Journal.open(settings.store, secrets=keys_of(settings, os.environ))
        )
        roles = load_roles(settings.agents, Known(groups=settings.tools.groups))
        roles |= {role.name: role for role in self._hosting.roles}
        given = self._hosting.models
        tiers = (
            (given if isinstance(given, Tiers) else Tiers(given))
            if given is not None
            else await self._stack.enter_async_context(
                configured_models(settings, os.environ, count=counter_for("").count, guard=self._guard)
            )
        )
        check_prices(tiers, settings)
        self._toolbox = Toolbox(self._hosting.tools)
        self._library = Library(settings, self._stack)
        meaning = await self._stack.enter_async_context(
            configured_meaning(settings, os.environ, guard=self._guard)
        )
        self._kit = make_kit(settings, roles, tiers, journal, meaning)
        await anyio.to_thread.run_sync(self._kit.counter.load)
        pace = self._stack.enter_context(collected_seldom())
        if pace is not None:
            self._house.gate.told = pace.at_work
        self._stack.enter_context(watched(hosting.blocked_seconds, self.blocked.add))
        group = await self._stack.enter_async_context(anyio.create_task_group())
        self._stack.callback(group.cancel_scope.cancel)
        group.start_soon(self._at_work.listen, journal)


class _Owned(TypedDict):
    user: str
    project: str


def _owned(owner: Owner) -> _Owned:
    found = whose(owner)
    return {"user": found.user, "project": found.project}
