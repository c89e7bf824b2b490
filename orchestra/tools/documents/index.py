"""The index of a folder: what agents search and read.

One object for one folder, shared by all who work on it. Its work is done in one worker thread at a time, so
the event loop never waits for the disk.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread

from orchestra.errors import InputError
from orchestra.text.terms import query_terms
from orchestra.tools.documents import queries, ranking, store
from orchestra.tools.documents.folder import resolve
from orchestra.tools.documents.reading import FILE_BYTES
from orchestra.tools.documents.refresh import Refreshed, refresh
from orchestra.tools.documents.store import BUSY_SECONDS
from orchestra.values.sources import Document, Passage

CANDIDATES = 200
"""Passages that SQLite's BM25 hands on to be ranked."""

QUERY_TERMS = 48
"""The rarest terms of a longer query that are looked for."""

CACHE_CHARS = 16_000_000
"""Text of documents that is held in memory."""

COMMON_SHARE = 0.25
COMMON_FROM = 5000
"""In a folder of this many passages, terms that more than this share of them have are not looked for."""

Result = TypeVar("Result")


class DocumentIndex:
    """`async with DocumentIndex(folder, store="index.db") as index`: opened, brought up to date, closed.

    `store` is the path of the database, which may serve many folders, threads and processes; ":memory:" keeps
    nothing. It waits `busy_seconds` for another program that writes. Raises InputError for a folder that is
    not there, StoreError for a database that cannot be used.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        store: str | Path = ":memory:",
        limit_bytes: int = FILE_BYTES,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self._folder = folder
        self._store = str(store)
        self._limit_bytes = limit_bytes
        self._busy_seconds = busy_seconds
        self._cache = _Cache(CACHE_CHARS)

    async def __aenter__(self) -> DocumentIndex:
        self._limiter = anyio.CapacityLimiter(1)
        self._root = await self._in_thread(lambda: resolve(self._folder))
        self._database = await self._in_thread(lambda: store.connect(self._store, self._busy_seconds))
        try:
            await self.refresh()
        except BaseException:
            self._database.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self._in_thread(self._database.close)

    @property
    def root(self) -> Path:
        """The folder's real path."""
        return self._root

    @property
    def refreshed(self) -> Refreshed:
        """What the last refresh did."""
        return self._refreshed

    @property
    def problems(self) -> tuple[str, ...]:
        """One line for each file that was refused, as of the last refresh."""
        return self._refreshed.problems

    async def refresh(self) -> Refreshed:
        """Reads what is new or changed; a cancelled refresh keeps what it has read."""

        def work(database: sqlite3.Connection) -> tuple[Refreshed, int, int]:
            done = refresh(
                database, self._root, limit_bytes=self._limit_bytes, check=anyio.from_thread.check_cancelled
            )
            folder = store.folder_id(database, str(self._root))
            queries.watch_terms(database, folder)
            return done, folder, queries.count_passages(database, folder)

        self._refreshed, self._id, self._passages = await self._with_database(work)
        return self._refreshed

    async def search(self, query: str, limit: int = 8, *, per_document: int = 3) -> tuple[Passage, ...]:
        """The passages that answer best, best first; any of the terms may match."""
        return await self._with_database(lambda database: self._search(database, query, limit, per_document))

    async def document(self, locator: str) -> Document:
        """The whole document. Raises InputError when the index has none of that name."""
        return await self._with_database(lambda database: self._document(database, locator))

    async def passages(self, locator: str) -> tuple[Passage, ...]:
        """All passages of a document in order. Raises InputError when the index has none of that name."""

        def work(database: sqlite3.Connection) -> tuple[Passage, ...]:
            with store.transaction(database, writing=False):
                document = self._document(database, locator)
                rows = queries.passages_of(database, self._id, locator)
            return tuple(
                Passage(document, document.text[start:stop], start, stop, section)
                for start, stop, section in rows
            )

        return await self._with_database(work)

    async def locators(self) -> tuple[str, ...]:
        """The names of all documents, sorted."""
        return await self._with_database(lambda database: queries.locators(database, self._id))

    def _search(
        self, database: sqlite3.Connection, query: str, limit: int, per_document: int
    ) -> tuple[Passage, ...]:
        asked = query_terms(query)
        with store.transaction(database, writing=False):
            counts = queries.frequencies(database, self._id, asked)
            weight = self._chosen(ranking.weights(counts, self._passages))
            candidates = queries.candidates(database, self._id, tuple(weight), CANDIDATES)
            ranked = ranking.rank(candidates, weight, limit=limit, per_document=per_document)
            found = []
            for hit in ranked:
                document = self._document(database, hit.candidate.locator)
                start, stop, section = queries.passage(database, hit.candidate.passage)
                found.append(Passage(document, document.text[start:stop], start, stop, section, hit.score))
        return tuple(found)

    def _chosen(self, weight: dict[str, float]) -> dict[str, float]:
        """The rarest terms; those that are everywhere only where there are no others."""
        best = sorted(weight.items(), key=lambda item: -item[1])[:QUERY_TERMS]
        if self._passages >= COMMON_FROM:
            floor = ranking.weights({"": int(self._passages * COMMON_SHARE)}, self._passages)[""]
            best = [item for item in best if item[1] >= floor] or best[:4]
        return dict(best)

    def _document(self, database: sqlite3.Connection, locator: str) -> Document:
        head = queries.document_head(database, self._id, locator)
        if head is None:
            raise InputError(f"the folder has no document {locator!r}")
        file, sha256 = head
        kept = self._cache.get((file, sha256))
        if kept is None:
            kept = queries.document(database, file)
            self._cache.put((file, sha256), kept)
        return kept

    async def _with_database(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        def named() -> Result:
            with store.naming_store(self._store):
                return work(self._database)

        return await self._in_thread(named)

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)


class _Cache:
    """The documents used last, up to a number of characters; the very last one always."""

    def __init__(self, chars: int) -> None:
        self._chars = chars
        self._held = 0
        self._documents: OrderedDict[tuple[int, str], Document] = OrderedDict()

    def get(self, key: tuple[int, str]) -> Document | None:
        if key in self._documents:
            self._documents.move_to_end(key)
        return self._documents.get(key)

    def put(self, key: tuple[int, str], document: Document) -> None:
        self._documents[key] = document
        self._held += len(document.text)
        while self._held > self._chars and len(self._documents) > 1:
            _, dropped = self._documents.popitem(last=False)
            self._held -= len(dropped.text)
