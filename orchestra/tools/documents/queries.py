"""What is asked of the index's tables."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence

from orchestra.tools.documents.ranking import Candidate
from orchestra.values.sources import Document

_AT_ONCE = 500  # terms in one statement


def watch_terms(database: sqlite3.Connection, folder: int) -> None:
    """Makes this connection's view of how many passages have a term."""
    database.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.documents_words_{folder} "
        f"USING fts5vocab(main, documents_terms_{folder}, col)"
    )


def count_passages(database: sqlite3.Connection, folder: int) -> int:
    row = database.execute(
        "SELECT count(*) FROM documents_passages p JOIN documents_files f ON f.id = p.file "
        "WHERE f.folder = ?",
        (folder,),
    ).fetchone()
    return int(row[0])


def frequencies(database: sqlite3.Connection, folder: int, terms: Sequence[str]) -> dict[str, int]:
    """The number of passages whose text has each term; terms found nowhere are left out."""
    found: dict[str, int] = {}
    for at in range(0, len(terms), _AT_ONCE):
        some = terms[at : at + _AT_ONCE]
        rows = database.execute(
            f"SELECT term, max(CASE col WHEN 'body' THEN doc ELSE 1 END) FROM "  # noqa: S608  # a number of ours
            f"temp.documents_words_{folder} WHERE term IN ({', '.join('?' * len(some))}) GROUP BY term",
            some,
        )
        found.update((term, int(count)) for term, count in rows)
    return {term: found[term] for term in terms if term in found}


def candidates(
    database: sqlite3.Connection, folder: int, terms: Sequence[str], limit: int
) -> list[Candidate]:
    """The passages that SQLite ranks best for any of the terms."""
    if not terms:
        return []
    table = f"documents_terms_{folder}"
    rows = database.execute(
        f"SELECT p.id, f.id, f.locator, p.start, p.worth, t.title, t.section, t.body FROM "  # noqa: S608  # ours
        f"(SELECT rowid AS id FROM {table} WHERE {table} MATCH ? "
        f"ORDER BY bm25({table}, 1.0, 1.5, 1.0) LIMIT ?) best "
        f"JOIN {table} t ON t.rowid = best.id JOIN documents_passages p ON p.id = best.id "
        "JOIN documents_files f ON f.id = p.file",
        (" OR ".join(f'"{term}"' for term in terms), limit),
    )
    return [Candidate(*row) for row in rows]


def passage(database: sqlite3.Connection, number: int) -> tuple[int, int, str]:
    row = database.execute(
        "SELECT start, stop, section FROM documents_passages WHERE id = ?", (number,)
    ).fetchone()
    return int(row[0]), int(row[1]), str(row[2])


def passages_of(database: sqlite3.Connection, folder: int, locator: str) -> list[tuple[int, int, str]]:
    """Start, stop and section of a document's passages, in order."""
    return database.execute(
        "SELECT p.start, p.stop, p.section FROM documents_passages p JOIN documents_files f ON f.id = p.file "
        "WHERE f.folder = ? AND f.locator = ? ORDER BY p.start",
        (folder, locator),
    ).fetchall()


def document_head(database: sqlite3.Connection, folder: int, locator: str) -> tuple[int, str] | None:
    """A document's number and its text's hash; None where there is no such document."""
    row = database.execute(
        "SELECT id, sha256 FROM documents_files WHERE folder = ? AND locator = ? AND problem = ''",
        (folder, locator),
    ).fetchone()
    return (int(row[0]), str(row[1])) if row else None


def document(database: sqlite3.Connection, file: int) -> Document:
    locator, title, text, sha256, read_at = database.execute(
        "SELECT locator, title, text, sha256, read_at FROM documents_files WHERE id = ?", (file,)
    ).fetchone()
    return Document(locator, title, zlib.decompress(text).decode(), sha256, "document", read_at)


def locators(database: sqlite3.Connection, folder: int) -> tuple[str, ...]:
    rows = database.execute(
        "SELECT locator FROM documents_files WHERE folder = ? AND problem = '' ORDER BY locator", (folder,)
    )
    return tuple(row[0] for row in rows)
