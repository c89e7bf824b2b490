"""The index's tables: files with their text, passages, and one full-text table of terms for each folder.

The full-text tables hold terms that `text.terms` has already cut, so SQLite only splits at blanks. Each
folder has its own, so that how rare a term is does not hang on what else the store holds.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from orchestra.errors import StoreError
from orchestra.text import terms
from orchestra.tools.documents import passages
from orchestra.values.sources import Document

VERSION = f"1.{passages.VERSION}.{terms.VERSION}"
"""Of the tables and of what is in them; an index of another version is made anew."""

BUSY_SECONDS = 10.0
"""How long to wait for another program that is writing."""

_TABLES = """
CREATE TABLE documents_version (version TEXT NOT NULL);
CREATE TABLE documents_folders (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE documents_files (
    id INTEGER PRIMARY KEY,
    folder INTEGER NOT NULL,
    locator TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    seen_ns INTEGER NOT NULL,       -- when the bytes were last compared
    content BLOB NOT NULL,          -- SHA-256 of the bytes
    problem TEXT NOT NULL,          -- why it holds no text, '' otherwise
    title TEXT NOT NULL,
    sha256 TEXT NOT NULL,           -- of the text
    read_at REAL NOT NULL,
    text BLOB NOT NULL,             -- UTF-8, deflated
    UNIQUE (folder, locator)
);
CREATE TABLE documents_passages (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    section TEXT NOT NULL,
    worth REAL NOT NULL             -- what a match in it counts for
);
CREATE INDEX documents_passages_of_file ON documents_passages (file, start);
"""
_TOKENS = "ascii tokenchars '_-.*%+#'"  # every sign that a term may hold


class Stamp(Struct, frozen=True):
    """How a file looked when it was read; times in nanoseconds since the epoch."""

    size: int
    modified_ns: int
    changed_ns: int
    seen_ns: int
    content: bytes


class Known(Struct, frozen=True):
    """A file that the index has."""

    id: int
    stamp: Stamp
    problem: str


class Row(Struct, frozen=True):
    """A passage as it is kept: characters [start, stop) and its terms, joined by blanks."""

    start: int
    stop: int
    section: str
    worth: float
    section_terms: str
    body_terms: str


class Entry(Struct, frozen=True):
    """A file to be put into the index: a document with its passages, or the problem it has."""

    locator: str
    stamp: Stamp
    document: Document | None = None
    title_terms: str = ""
    rows: tuple[Row, ...] = ()
    problem: str = ""


def connect(path: str, busy_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Opens the database at `path` (":memory:": one of its own) and makes the tables. Raises StoreError."""
    with naming_store(path):
        if path != ":memory:":
            try:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(
                    f"the folder for the index {path!r} cannot be made ({error.strerror}); choose another"
                ) from error
        database = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
        try:
            _use_wal(database, busy_seconds)
            database.execute("PRAGMA synchronous=NORMAL")
            _make_tables(database)
        except BaseException:
            database.close()
            raise
        return database


@contextmanager
def naming_store(path: str) -> Iterator[None]:
    """Turns SQLite's errors into a StoreError that says what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise StoreError(
                f"the index {path!r} is locked by another program; try again when it is done"
            ) from error
        raise StoreError(
            f"the index {path!r} cannot be used ({error}); check the path and its rights"
        ) from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"the index {path!r} is damaged or no database ({error}); delete it, it is made anew"
        ) from error


@contextmanager
def transaction(database: sqlite3.Connection, *, writing: bool) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def folder_id(database: sqlite3.Connection, path: str) -> int:
    row = database.execute("SELECT id FROM documents_folders WHERE path = ?", (path,)).fetchone()
    if row:
        return int(row[0])
    with transaction(database, writing=True):
        database.execute("INSERT OR IGNORE INTO documents_folders (path) VALUES (?)", (path,))
        (found,) = database.execute("SELECT id FROM documents_folders WHERE path = ?", (path,)).fetchone()
        database.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS documents_terms_{found} "
            f'USING fts5(title, section, body, tokenize="{_TOKENS}")'
        )
    return int(found)


def known_files(database: sqlite3.Connection, folder: int) -> dict[str, Known]:
    rows = database.execute(
        "SELECT locator, id, size, modified_ns, changed_ns, seen_ns, content, problem "
        "FROM documents_files WHERE folder = ?",
        (folder,),
    )
    return {row[0]: Known(row[1], Stamp(*row[2:7]), row[7]) for row in rows}


def put(database: sqlite3.Connection, folder: int, entry: Entry) -> None:
    """Adds or replaces a file, within a transaction; what another process has put meanwhile stays."""
    row = database.execute(
        "SELECT id, content FROM documents_files WHERE folder = ? AND locator = ?", (folder, entry.locator)
    ).fetchone()
    if row and row[1] == entry.stamp.content:
        touch(database, row[0], entry.stamp)
        return
    if row:
        remove(database, folder, row[0])
    document, stamp = entry.document, entry.stamp
    text = zlib.compress(document.text.encode(), 1) if document else b""
    made = database.execute(
        "INSERT INTO documents_files (folder, locator, size, modified_ns, changed_ns, seen_ns, content, "
        "problem, title, sha256, read_at, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (folder, entry.locator, stamp.size, stamp.modified_ns, stamp.changed_ns, stamp.seen_ns, stamp.content,
         entry.problem, document.title if document else "", document.sha256 if document else "",
         document.read_at if document else 0.0, text),
    )  # fmt: skip
    if document:
        _put_passages(database, folder, int(made.lastrowid or 0), entry)


def touch(database: sqlite3.Connection, file: int, stamp: Stamp) -> None:
    """Notes that a file has the same bytes under a new time."""
    database.execute(
        "UPDATE documents_files SET size = ?, modified_ns = ?, changed_ns = ?, seen_ns = ? WHERE id = ?",
        (stamp.size, stamp.modified_ns, stamp.changed_ns, stamp.seen_ns, file),
    )


def remove(database: sqlite3.Connection, folder: int, file: int) -> None:
    database.execute(
        f"DELETE FROM documents_terms_{folder} WHERE rowid IN "  # noqa: S608  # a number of ours
        "(SELECT id FROM documents_passages WHERE file = ?)",
        (file,),
    )
    database.execute("DELETE FROM documents_passages WHERE file = ?", (file,))
    database.execute("DELETE FROM documents_files WHERE id = ?", (file,))


def _put_passages(database: sqlite3.Connection, folder: int, file: int, entry: Entry) -> None:
    (first,) = database.execute("SELECT coalesce(max(id), 0) + 1 FROM documents_passages").fetchone()
    numbered = list(enumerate(entry.rows, first))
    database.executemany(
        "INSERT INTO documents_passages (id, file, start, stop, section, worth) VALUES (?, ?, ?, ?, ?, ?)",
        ((number, file, row.start, row.stop, row.section, row.worth) for number, row in numbered),
    )
    database.executemany(
        f"INSERT INTO documents_terms_{folder} (rowid, title, section, body) VALUES (?, ?, ?, ?)",  # noqa: S608  # ours
        ((number, entry.title_terms, row.section_terms, row.body_terms) for number, row in numbered),
    )


def _use_wal(database: sqlite3.Connection, busy_seconds: float) -> None:
    """SQLite does not wait when two programs change the mode at the same time, so this does."""
    until = time.monotonic() + busy_seconds
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _make_tables(database: sqlite3.Connection) -> None:
    if _version(database) == VERSION:
        return
    with transaction(database, writing=True):
        if _version(database) == VERSION:  # another process was faster
            return
        old = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND (name IN ('documents_version', "
            "'documents_folders', 'documents_files', 'documents_passages') "
            "OR (name GLOB 'documents_terms_[0-9]*' AND sql LIKE 'CREATE VIRTUAL%'))"
        )
        for (name,) in old.fetchall():
            database.execute(f"DROP TABLE {name}")
        for statement in _TABLES.split(";"):
            database.execute(statement)
        database.execute("INSERT INTO documents_version VALUES (?)", (VERSION,))


def _version(database: sqlite3.Connection) -> str:
    made = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'documents_version'").fetchone()
    row = database.execute("SELECT version FROM documents_version").fetchone() if made else None
    return str(row[0]) if row else ""
