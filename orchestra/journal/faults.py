"""What went wrong with the store, as one sentence."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from orchestra.errors import StoreError

if TYPE_CHECKING:
    from sqlalchemy.exc import DBAPIError

    from orchestra.journal.address import Address

# SQLite's primary result codes (sqlite.org/rescode.html).
_SENTENCES = {
    sqlite3.SQLITE_FULL: "The disk that holds the store {at} is full: free some space",
    sqlite3.SQLITE_READONLY: "The store {at} is read-only: give yourself the right to write it, or choose "
    "another with --store",
    sqlite3.SQLITE_CANTOPEN: "The store {at} cannot be opened: its folder must exist and be writable",
    sqlite3.SQLITE_CORRUPT: "The store {at} is damaged: move it away, or restore it from a backup",
    sqlite3.SQLITE_NOTADB: "The file {at} is not a SQLite database: choose another store with --store",
    sqlite3.SQLITE_PERM: "The store {at} may not be written by this user: choose another with --store",
    sqlite3.SQLITE_IOERR: "The disk that holds the store {at} failed: {why}",
}
# PostgreSQL's SQLSTATE codes and classes (appendix A of its manual).
_SERVER_SENTENCES = {
    "57P": "The store's server {at} cannot be reached: it is shutting down or starting up; wait for it",
    "53100": "The disk of the store's server {at} is full: free some space",
    "53300": "The store's server {at} has no connection left: raise max_connections or end other programs",
    "28": "The store's server {at} does not let this user in: check user and password",
    "3D": "The store's server {at} has no such database: create it, or choose another store",
    "42501": "This user may not write the store {at}: grant the right, or choose another with --store",
    "25006": "The store {at} is read-only: choose the primary server",
}
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class StoreBusy(StoreError):
    """Another process holds the store's lock: worth another try."""


class SessionTaken(StoreError):
    """Rows of this session are already there: another process writes it."""


class TextsUnsure(StoreError):
    """The store was changed by others, who may have deleted texts on which rows lean: make them again."""


def explain(error: DBAPIError | sqlite3.Error, at: Address) -> StoreError:
    """The database's error in one sentence."""
    cause = error if isinstance(error, sqlite3.Error) else error.orig
    why = str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            return StoreBusy(f"The store {at} is locked by another process: end it, or choose another store.")
        if code in _SENTENCES:
            return StoreError(_SENTENCES[code].format(at=at, why=why) + ".")
    if at.kind == "server":
        code = getattr(cause, "sqlstate", None) or ""
        for beginning, sentence in _SERVER_SENTENCES.items():
            if code.startswith(beginning):
                return StoreError(sentence.format(at=at, why=why) + ".")
        if getattr(error, "connection_invalidated", False) or not code:
            what = f"cannot be reached: {why.rstrip('.')}"
            return StoreError(f"The store's server {at} {what}; start it, or check its address.")
    return StoreError(f"The store {at} does not answer as it should: {why}.")
