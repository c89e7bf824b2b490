"""A session as one file that a person can read and a version control can compare: a JSON value a line.

{"orchestra": "session", "format": 1, "session": {...}}     its record
{"seq": 1, "agent": "planner.1", ...}                       its events, in order
{"hash": "ab12...", "text": "..."}                          the texts that they name, each once
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from msgspec import to_builtins

from orchestra.errors import InputError
from orchestra.journal.address import Address
from orchestra.journal.blobs import INLINE, Packer
from orchestra.journal.encoding import decode, encode
from orchestra.journal.pages import page_rows
from orchestra.journal.reading import Reader
from orchestra.journal.records import EventRecord
from orchestra.journal.rows import Rows

FORMAT = 1
_AT_ONCE = 500


async def export_session(reader: Reader, prefix: str) -> str:
    """The session's file. Raises InputError where there is no such session."""
    session = await reader.find_session(prefix)
    events = await reader.events(session.id)
    named = [where for event in events for where in event.texts.values() if not where.startswith(INLINE)]
    texts = await reader.texts([session.question, *named])
    lines = [encode({"orchestra": "session", "format": FORMAT, "session": session})]
    lines += [
        encode({name: value for name, value in to_builtins(event).items() if name != "session"})
        for event in events
    ]
    lines += [encode({"hash": digest, "text": text}) for digest, text in sorted(texts.items())]
    return "\n".join(lines) + "\n"


def rows_of(text: str, named: str) -> tuple[str, Rows]:
    """The session's id and its rows, of a file's text. Raises InputError for a file that is no session."""
    rows, pack, session = Rows(), Packer(), ""
    events = []
    try:
        # Not splitlines: JSON leaves other line ends than "\n" in a text as they are.
        for number, line in enumerate(filter(None, text.split("\n"))):
            value = decode(line)
            if number == 0:
                session = _begin(value, named, rows)
            elif "hash" in value:
                rows.blobs.append(pack(value["text"]))
            else:
                events.append(msgspec.convert({"session": session, **value}, EventRecord))
        rows.pages += page_rows(session, events, pack)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"The file {named} is not a session that orchestra has exported ({error})."
        ) from None
    if not session:
        raise InputError(f"The file {named} is empty: export a session with `orchestra store export`.")
    return session, rows


def _begin(head: Any, named: str, rows: Rows) -> str:
    if head.get("orchestra") != "session":
        raise ValueError("its first line does not say so")
    if head["format"] > FORMAT:
        raise InputError(
            f"The file {named} was exported by a newer orchestra (format {head['format']}, this one knows "
            f"{FORMAT}): upgrade orchestra."
        )
    session = head["session"]
    about = (session["status"], session["created"], session["finished"], session["owner"])
    question = bytes.fromhex(session["question"])
    rows.begun.append(
        (session["id"], session["title"], question, session["workflow"], *about, encode(session["config"]))
    )
    return str(session["id"])


@asynccontextmanager
async def read_export(path: str | Path) -> AsyncIterator[tuple[Reader, str]]:
    """An exported session, to be read like a store that holds only it; and its id. Raises InputError."""
    from orchestra.journal.store import Store

    try:
        text = await anyio.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The file {path} cannot be read: {error}.") from error
    session, rows = rows_of(text, str(path))

    def filled() -> Store:
        store = Store(Address("memory"))
        store.write(rows)
        return store

    store = await anyio.to_thread.run_sync(filled)
    try:
        yield Reader(store), session
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(partial(store.close))
