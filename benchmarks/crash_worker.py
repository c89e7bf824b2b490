"""The run that benchmarks/crash.py kills: a whole session, or one that goes on.

    python -m benchmarks.crash_worker FOLDER URL [--resume] [--kill-commit N] [--kill-after SECONDS]

Prints `ready` before the first call and `done` after the last. Each researcher searches once and files a
note, which is a write: the key of every note that was really filed is a line of FOLDER/notes.txt.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
from msgspec import structs

from orchestra import Runtime, Session, research_then_write, tool
from orchestra.config.load import load_settings
from orchestra.log import configure
from orchestra.roles.load import load_roles
from orchestra.tools.decorator import FunctionTool
from orchestra.tools.effects import idempotency_key
from orchestra.values.events import Event

LIBRARY = Path(__file__).parent.parent / "examples" / "library"
QUESTION = "How long should tea steep, how hot should the water be and what does the timer do?"
STREAM = "CRASH_STREAM"  # in the environment: agents stream, and begin tools early
FILING_SECONDS = 0.004  # before and after the write itself, so that kills fall around it too


def note_tool(file: Path) -> FunctionTool:
    """A tool that writes a line to a file, and can say afterwards whether it did."""

    @tool(effects="write")
    async def file_note(note: str) -> str:
        """File a note."""
        await anyio.sleep(FILING_SECONDS)
        with file.open("a", encoding="utf-8") as notes:
            notes.write(f"{idempotency_key()}\n")
        await anyio.sleep(FILING_SECONDS)
        return "filed"

    @file_note.checked_by
    async def was_filed(key: str) -> str | None:
        return "filed" if key in await anyio.Path(file).read_text(encoding="utf-8") else None

    return file_note


def runtime(folder: Path, url: str) -> Runtime:
    toml = f'[endpoints.here]\nurl = "{url}"\nstream = {str(STREAM in os.environ).lower()}\n'
    (folder / "orchestra.toml").write_text(toml, encoding="utf-8")
    flags = {"endpoint": "here", "small": "small", "large": "large", "store": str(folder / "store.db")}
    settings = load_settings(flags, environ={}, folder=folder).settings
    researcher = structs.replace(load_roles()["researcher"], tools=("search_documents", "file_note"))
    notes = folder / "notes.txt"
    notes.touch()
    return Runtime(settings, roles=[researcher], tools=[note_tool(notes)])


def kill_in_commit(store: Any, number: int, after: float) -> None:
    """SIGKILL to this process `after` seconds after its commit of that number begins."""
    import sqlalchemy as sa

    commits = 0

    def strike() -> None:
        time.sleep(after)
        os.write(1, f" killed {time.monotonic()} {time.process_time()} ".encode())
        os.kill(os.getpid(), signal.SIGKILL)

    def count(statement: str) -> None:
        nonlocal commits
        commits += statement == "COMMIT"
        if statement == "COMMIT" and commits == number:
            threading.Thread(target=strike, daemon=True).start()

    def watch(connection: Any, _record: Any, _pooled: Any) -> None:
        connection.set_trace_callback(count)  # SQLAlchemy hears nothing of the writer's commits

    sa.event.listen(store._engine, "checkout", watch)


class Ready:
    """Says so at the session's first prompt, when the tokeniser is loaded too, and not again."""

    said = False

    def __call__(self, event: Event) -> None:
        if event.kind in ("prompt", "verified") and not self.said:
            self.said = True
            os.write(1, b"ready")


ready = Ready()


@asynccontextmanager
async def begun(host: Runtime) -> AsyncIterator[tuple[Session, Any]]:
    async with host.session(QUESTION, documents=LIBRARY, watch=ready) as session:
        yield session, None


async def main(options: argparse.Namespace) -> None:
    configure("error")
    async with runtime(options.folder, options.url) as host:
        if options.kill_commit:
            kill_in_commit(host.kit.journal._store, options.kill_commit, options.kill_after)
        opened = host.resumed("last", watch=ready) if options.resume else begun(host)
        async with opened as (session, _):
            report = await research_then_write(session, session.question)
            os.write(1, b"done")
    (options.folder / "report.json").write_bytes(msgspec.json.encode(report))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("url")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--kill-commit", type=int, default=0)
    parser.add_argument("--kill-after", type=float, default=0.0)
    anyio.run(main, parser.parse_args())
