"""`orchestra research`: a question and a folder of documents become a cited report."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click

from orchestra.cli.live import PlainView, TreeView
from orchestra.cli.loop import run_loop
from orchestra.cli.main import FAILED, INTERRUPTED
from orchestra.cli.options import limit_options, owner_options, settings_options
from orchestra.cli.totals import totals
from orchestra.errors import alone

STOPPED = "interrupted"  # session.INTERRUPTED, written here so that --help imports no session

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

    from orchestra.config.settings import Resolved
    from orchestra.runtime import Runtime
    from orchestra.session.diary import Watch
    from orchestra.session.session import Session
    from orchestra.values.events import Event
    from orchestra.values.report import Report

    Work = Callable[[], Awaitable[Any]]


@click.command()
@click.argument("question")
@click.option("--docs", type=click.Path(path_type=Path), required=True, help="The folder of documents.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Where the report goes.")
@click.option("--format", "form", type=click.Choice(["md", "html", "json"]), default="md", show_default=True)
@click.option(
    "--strict", is_flag=True, help="Remove sentences that are not supported, instead of marking them."
)
@click.option("--review", is_flag=True, help="Let a reviewer read the draft and the writer mend it once.")
@click.option("--quiet", is_flag=True, help="Print the report and nothing else.")
@owner_options
@settings_options
@limit_options
def research(question: str, docs: Path, resolved: Resolved, **options: Any) -> int:
    """Answer QUESTION from a folder of documents, every sentence with its quotes."""
    run = Run(question, docs, resolved, options)
    return run_loop(run.run)


class Run:
    """One call of a command that runs a session."""

    def __init__(self, question: str, docs: Path | None, resolved: Resolved, options: dict[str, Any]) -> None:
        self.question = question
        self.docs = docs
        self.resolved = resolved
        self.options = options
        self.quiet: bool = options["quiet"]
        self.report: Report | None = None

    def say(self, text: str) -> None:
        if text and not self.quiet:
            click.echo(text, err=True)

    async def run(self) -> int:
        from orchestra.errors import StoreError
        from orchestra.runtime import Runtime

        self.say(self.resolved.choice)
        if self.resolved.by_default and not self.quiet:
            from orchestra.models.discovery import local_offer

            self.say(await local_offer() or "")
        for warning in self.resolved.warnings:
            click.echo(f"orchestra: {warning}", err=True)
        try:
            await self._work(Runtime(self.resolved.settings))
        except StoreError:
            if self.report is not None:
                self._finish(self.report)  # what the store lost of the run is no reason to lose this too
            raise
        return INTERRUPTED if self.report is None else self._finish(self.report)

    async def _work(self, host: Runtime) -> None:
        view = self._view()
        async with host as runtime:
            watch = Watching(view.progress if view is not None else None)
            async with self.opened(runtime, watch) as (session, work):
                for problem in session.problems:
                    self.say(f"left out: {problem}")
                with view or nullcontext(), alone():
                    async with anyio.create_task_group() as group:
                        # Started before the work is: a signal that came first would end everything.
                        await group.start(stop_on_signal, session, group.cancel_scope)
                        self.report = await work()
                        group.cancel_scope.cancel()

    @asynccontextmanager
    async def opened(self, runtime: Runtime, watch: Watch) -> AsyncIterator[tuple[Session, Work]]:
        """The session, and what is to be done in it."""
        from orchestra.memory.kept import whose
        from orchestra.resume.start import Start
        from orchestra.workflow import Options, research_then_write

        options = {"strict": self.options["strict"], "review": self.options["review"]}
        owner = whose({"user": self.options["user"], "project": self.options["project"]})
        start = Start(documents=str(self.docs), options=options, user=owner.user, project=owner.project)
        async with runtime.begin(self.question, start, watch=watch) as session:
            yield session, partial(research_then_write, session, session.question, Options(**options))

    def _view(self) -> TreeView | PlainView | None:
        if self.quiet:
            return None
        return TreeView(self.question) if sys.stderr.isatty() else PlainView()

    def _finish(self, report: Report) -> int:
        from orchestra.evidence.render import render_report

        text = render_report(report, self.options["form"])
        out: Path | None = self.options["out"]
        path = out or Path(self.resolved.reports) / f"{report.session}.{self.options['form']}"
        written = write_report(path, text, asked=out is not None)
        if out is None:
            click.echo(text)
        if written:
            self.say(f"report: {path}")
        self.say(f"session: {report.session} (orchestra show {report.session})")
        self.say(totals(report))
        if report.partial:
            click.echo(f"orchestra: the report is partial: {report.partial}", err=True)
            return INTERRUPTED if report.partial == STOPPED else FAILED
        return 0


class Watching:
    """Hands events on, and says what a session waits for."""

    def __init__(self, progress: Watch | None) -> None:
        self._progress = progress

    def __call__(self, event: Event) -> None:
        if self._progress is not None:
            self._progress(event)
        if event.kind == "approval" and event.data["state"] == "asked":
            click.echo(
                f"orchestra: {event.data['what']} {event.texts.get('detail', '')}\n"
                f"  answer with `orchestra approve {event.session}` or `orchestra refuse {event.session}`",
                err=True,
            )


async def stop_on_signal(
    session: Session, everything: anyio.CancelScope, *, task_status: TaskStatus[None]
) -> None:
    """The first Ctrl-C ends the work and leaves a partial report; the second ends the rest as well."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            if session.stopped:
                everything.cancel()
            session.stop(STOPPED, who="a signal")


def write_report(path: Path, text: str, *, asked: bool) -> bool:
    """Write the report; a place that cannot be written is an error only if the person asked for it."""
    from orchestra.errors import InputError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        if asked:
            click.echo(text)
            raise InputError(
                f"the report cannot be written to {path}: {error.strerror}; it is printed instead",
                key="--out",
            ) from error
        return False
    return True
