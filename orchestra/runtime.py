"""The runtime: hosts many sessions; owns the journal, the models and the indexes, and closes them."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
from msgspec import Struct

from orchestra.config.load import load_settings
from orchestra.config.settings import PRESETS, Preset, Settings
from orchestra.context.policy import policy_for
from orchestra.context.tokens import counter_for
from orchestra.errors import InputError, OrchestraError
from orchestra.journal.address import read_address
from orchestra.journal.ids import RANDOM_BYTES, session_id
from orchestra.journal.journal import Journal
from orchestra.journal.records import Status
from orchestra.journal.rows import SessionStart
from orchestra.models.configured import configured_models, keys_of
from orchestra.models.port import Model
from orchestra.models.tiers import Tiers
from orchestra.roles.load import load_roles
from orchestra.session.session import INTERRUPTED, Kit, Session, Watch
from orchestra.spend import Spend
from orchestra.tools.documents.index import DocumentIndex
from orchestra.tools.documents.tools import document_tools
from orchestra.tools.port import Tool
from orchestra.tools.toolbox import Toolbox
from orchestra.values.report import Report
from orchestra.values.roles import Role
from orchestra.workflow import Options, research_then_write

T = TypeVar("T")
Workflow = Callable[[Session, str], Awaitable[T]]

# What "no limit" is in bytes, for the reader of files.
NO_LIMIT = 1 << 62
# A session's end is written even while everything is being cancelled, but not for longer than this.
CLOSING_SECONDS = 5.0


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
        self._indexes: dict[str, DocumentIndex] = {}
        self._opening = anyio.Lock()
        self._toolbox = Toolbox()
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
        options = Options(strict=strict, review=review)
        async with self.session(question, documents=documents, watch=watch) as session:
            return await research_then_write(session, question, options)

    async def run(self, workflow: Workflow[T], question: str, *, documents: str | Path | None = None) -> T:
        """A workflow of your own: an async function of a session and a question."""
        async with self.session(question, documents=documents, workflow=_name_of(workflow)) as session:
            return await workflow(session, question)

    @asynccontextmanager
    async def session(
        self,
        question: str,
        *,
        documents: str | Path | None = None,
        watch: Watch | None = None,
        workflow: str = "research_then_write",
    ) -> AsyncIterator[Session]:
        """One request, recorded from start to end however it ends."""
        kit = self.kit
        check_question(question)
        toolbox, problems = self._toolbox, tuple[str, ...]()
        if documents is not None:
            index = await self._index(documents)
            toolbox, problems = toolbox.joined(document_tools(index)), index.problems
            if not index.refreshed.documents:
                raise InputError(nothing_to_read(str(documents), problems), key="documents")
        now = kit.clock()
        name = session_id(now, secrets.token_bytes(RANDOM_BYTES))
        models = {tier: model.name for tier, model in kit.tiers.items()}
        await kit.journal.begin(
            SessionStart(
                id=name, question=question, created=now, workflow=workflow, config={"models": models}
            )
        )
        session = Session(kit, name, question, toolbox=toolbox, watch=watch)
        session.problems = problems
        status: Status = "interrupted"
        try:
            await session.record("started", data={"workflow": workflow, "models": models})
            yield session
            status = end_of(session.stopped)
        except OrchestraError as error:
            status = "failed"
            await session.record("failed", data={"reason": str(error)})
            raise
        except Exception as error:
            status = "failed"
            await session.record("failed", data={"reason": f"{type(error).__name__}: {error}"})
            raise
        finally:
            with anyio.move_on_after(CLOSING_SECONDS, shield=True):
                await kit.journal.finish(name, status, at=kit.clock())

    async def _open(self) -> None:
        settings = self._settings or load_settings().settings
        self._settings = settings
        limits = settings.limits
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
                configured_models(settings, os.environ, count=counter_for("").count)
            )
        )
        self._toolbox = Toolbox(self._hosting.tools)
        self._kit = Kit(
            limits=limits,
            roles=roles,
            policies={name: policy_for(name, overrides_of(settings, name)) for name in PRESETS},
            tiers=tiers,
            counter=counter_for(tiers.model_for("large").name),
            journal=journal,
            spend=Spend("runtime"),
            clock=time.time,
        )

    async def _index(self, folder: str | Path) -> DocumentIndex:
        """The folder's index, opened once for all sessions and brought up to date for each."""
        assert self._settings is not None
        path = str(await anyio.Path(folder).resolve())
        async with self._opening:
            index = self._indexes.get(path)
            if index is not None:
                await index.refresh()
                return index
            store = index_file(self._settings)
            index = DocumentIndex(
                folder, store=store, limit_bytes=self._settings.documents.file_bytes or NO_LIMIT
            )
            self._indexes[path] = await self._stack.enter_async_context(index)
            return index


def check_question(question: str) -> None:
    """Raises InputError for a question that holds no word."""
    if not any(character.isalnum() for character in question):
        raise InputError("The question is empty; ask one in words.", key="QUESTION")


def nothing_to_read(folder: str, problems: tuple[str, ...]) -> str:
    """One sentence for a folder without a document."""
    first = (
        f" ({problems[0]}{f'; and {len(problems) - 1} more' if len(problems) > 1 else ''})"
        if problems
        else ""
    )
    return f"The folder {folder!r} holds no document that can be read{first}; put some there or name another."


def end_of(stopped: str) -> Status:
    """How a session that gave a result ended."""
    if not stopped:
        return "done"
    return "interrupted" if stopped == INTERRUPTED else "partial"


def index_file(settings: Settings) -> str:
    """Where the index of documents lies: beside the journal, or beside the reports when that is a server."""
    address = read_address(settings.store)
    if address.kind == "memory":
        return ":memory:"
    folder = address.path.parent if address.path is not None else Path(settings.reports).parent
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / "documents.db")


def overrides_of(settings: Settings, preset: Preset) -> dict[str, Any]:
    """What the configuration says of a context preset, without what it leaves as it is."""
    given = settings.context.get(preset)
    return dict(given.figures()) if given is not None else {}


def _name_of(workflow: Workflow[Any]) -> str:
    return getattr(workflow, "__name__", type(workflow).__name__)
