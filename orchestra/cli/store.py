"""`orchestra store`: what the store holds, whether it is whole, what may go, a session as a file."""

from __future__ import annotations

import re
import time
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from orchestra.cli.options import store_options
from orchestra.cli.printing import number, opened, say, say_json

FAILED = 1
_DAYS = {"d": 1, "w": 7, "h": 1 / 24}


@click.group()
def store() -> None:
    """Look after the store: info, check, prune, export, import."""


@store.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
def info(as_json: bool, store: str | None, config: str | None) -> None:
    """Say what the store holds and how large it is."""
    found = anyio.run(partial(_read, "info", store, config))
    if as_json:
        say_json(found)
        return
    say(f"{found.address} (schema {found.version})", bold=True)
    counts = ", ".join(f"{count:,} {status}" for status, count in sorted(found.sessions.items()))
    say(f"sessions: {sum(found.sessions.values()):,}{f' ({counts})' if counts else ''}")
    say(f"events:   {found.events:,}")
    saved = f", kept in {_size(found.packed_bytes)}" if found.texts else ""
    say(f"texts:    {found.texts:,} ({_size(found.text_bytes)}{saved})")
    say(f"size:     {_size(found.bytes)}")


@store.command()
@store_options
def check(store: str | None, config: str | None) -> int:
    """Look for what is damaged or missing; exit code 1 if there is something."""
    faults: tuple[str, ...] = anyio.run(partial(_read, "check", store, config))
    for fault in faults:
        say(fault, fg="red")
    say(number(len(faults), "fault") if faults else "The store is whole.")
    return FAILED if faults else 0


@store.command()
@click.option("--older-than", metavar="AGE", help="Sessions begun longer ago, such as 30d, 8w or 12h.")
@click.option("--keep", type=click.IntRange(min=0), help="All but the newest so many.")
@click.option("--session", "names", multiple=True, help="This one; may be given again.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@store_options
def prune(store: str | None, config: str | None, **options: Any) -> None:
    """Delete ended sessions, and the texts that no other session has."""
    anyio.run(partial(_prune, options, store, config))


@store.command()
@click.argument("session")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@store_options
def export(session: str, file: Path, store: str | None, config: str | None) -> None:
    """Write SESSION into FILE (.jsonl), for another store, `orchestra replay`, or a test's fixture."""
    anyio.run(partial(_export, session, file, store, config))


@store.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@store_options
def bring_in(file: Path, store: str | None, config: str | None) -> None:
    """Put an exported session into the store."""
    anyio.run(partial(_import, file, store, config))


async def _read(what: str, store: str | None, config: str | None) -> Any:
    from orchestra.journal import upkeep

    async with opened(store, config) as reader:
        return await reader.do(getattr(upkeep, what))


async def _prune(options: dict[str, Any], store: str | None, config: str | None) -> None:
    from orchestra.config.load import load_settings
    from orchestra.errors import InputError
    from orchestra.journal import upkeep
    from orchestra.journal.journal import Journal

    age, keep, names = options["older_than"], options["keep"], options["names"]
    if age is None and keep is None and not names:
        raise InputError("Say what may go: --older-than 30d, --keep 100 or --session ID.")
    before = None if age is None else time.time() - _seconds(age)
    settings = load_settings({"store": store}, config=config, for_models=False).settings
    async with Journal.open(settings.store) as journal:
        chosen = [(await journal.find_session(name)).id for name in names]
        if age is not None or keep is not None:
            chosen += await journal.do(partial(upkeep.prunable, before=before, keep=keep))
        chosen = list(dict.fromkeys(chosen))
        if options["dry_run"]:
            say("\n".join([*chosen, f"{number(len(chosen), 'session')} would go."]))
            return
        done = await journal.do(upkeep.prune, chosen)
    counts = (number(len(done.sessions), "session"), number(done.events, "event"), number(done.texts, "text"))
    say(f"Gone: {', '.join(counts)}.")


def _seconds(age: str) -> float:
    from orchestra.errors import InputError

    found = re.fullmatch(r"(\d+)\s*([dwh])", age.strip())
    if found is None:
        raise InputError(f"{age!r} is not an age: write 30d, 8w or 12h.", key="--older-than")
    return int(found[1]) * _DAYS[found[2]] * 86_400


async def _export(session: str, file: Path, store: str | None, config: str | None) -> None:
    from orchestra.errors import InputError
    from orchestra.journal.export import export_session

    async with opened(store, config) as reader:
        text = await export_session(reader, session)
    try:
        size = await anyio.Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.", key="FILE") from error
    say(f"{file}: {_size(size)}")


async def _import(file: Path, store: str | None, config: str | None) -> None:
    from orchestra.config.load import load_settings
    from orchestra.errors import InputError
    from orchestra.journal.export import rows_of
    from orchestra.journal.faults import SessionTaken
    from orchestra.journal.journal import Journal

    settings = load_settings({"store": store}, config=config, for_models=False).settings
    try:
        text = await anyio.Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The file {file} cannot be read: {error}.", key="FILE") from error
    name, rows = rows_of(text, str(file))
    async with Journal.open(settings.store) as journal:
        try:
            await journal.do(lambda opened_store: opened_store.write(rows))
        except SessionTaken:
            raise InputError(f"The session {name} is in the store already.", key="FILE") from None
    say(f"{name} is in the store.")


def _size(count: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1_000 or unit == "GB":
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1_000
    return ""
