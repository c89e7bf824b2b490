"""`orchestra resume` and `orchestra fork`: a session goes on over its record, or another begins there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click

from orchestra.cli.options import settings_options
from orchestra.cli.research import Run

if TYPE_CHECKING:
    from orchestra.cli.research import Work
    from orchestra.config.settings import Resolved
    from orchestra.runtime import Runtime
    from orchestra.session.diary import Watch
    from orchestra.session.session import Session


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the report comes out, and where the documents are now."""
    path = click.Path(path_type=Path)
    form = click.Choice(["md", "html", "json"])
    command = click.option("--quiet", is_flag=True, help="Print the report and nothing else.")(command)
    command = click.option("--format", "form", type=form, default="md", show_default=True)(command)
    command = click.option("--out", type=path, help="Where the report goes.")(command)
    return click.option("--docs", type=path, help="The folder of documents, if it is elsewhere now.")(command)


@click.command()
@click.argument("session")
@click.option(
    "--from-here", is_flag=True, help="Where a request differs from the record, go on from there without it."
)
@run_options
@settings_options
def resume(session: str, docs: Path | None, resolved: Resolved, **options: Any) -> int:
    """Go on with SESSION: what is recorded comes back, and the first call that is missing is made."""
    return anyio.run(Again(session, docs, resolved, options).run)


@click.command()
@click.argument("session")
@click.option("--at", type=click.IntRange(min=0), required=True, help="The last event to keep (see show).")
@click.option("--question", help="Another question for what comes after.")
@run_options
@settings_options
def fork(session: str, docs: Path | None, resolved: Resolved, **options: Any) -> int:
    """Begin a new session from a point of SESSION, with another question, roles or models after it."""
    return anyio.run(Forked(session, docs, resolved, options).run)


class Again(Run):
    """A session that goes on; its question and options are in its record."""

    from_here = False

    async def name(self, runtime: Runtime) -> str:
        self.from_here = self.options["from_here"]
        return self.question

    @asynccontextmanager
    async def opened(self, runtime: Runtime, watch: Watch) -> AsyncIterator[tuple[Session, Work]]:
        from orchestra.errors import InputError
        from orchestra.resume.host import Resuming
        from orchestra.resume.start import arguments_of, start_of, workflow_at
        from orchestra.session.chat import CHAT

        name = await self.name(runtime)
        record = await runtime.kit.journal.find_session(name)
        if start_of(record).workflow == CHAT:
            going_on = f"`orchestra chat --session {record.id}`"
            raise InputError(f"{record.id} is a talk: {going_on} goes on with it.")
        how = Resuming(documents=str(self.docs or ""), from_here=self.from_here)
        async with runtime.resumed(name, how, watch=watch) as (session, start):
            work = workflow_at(start.workflow)
            yield session, partial(work, session, session.question, *arguments_of(start))


class Forked(Again):
    """A new session; what is recorded up to the fork comes back whatever is asked now."""

    async def name(self, runtime: Runtime) -> str:
        self.from_here = True
        return await runtime.fork(self.question, at=self.options["at"], question=self.options["question"])
