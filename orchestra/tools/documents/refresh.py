"""Brings the index of a folder up to date: reads what is new or changed, forgets what is gone."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from msgspec import Struct

from orchestra.errors import InputError
from orchestra.text.terms import terms
from orchestra.tools.documents import store
from orchestra.tools.documents.folder import Found, walk
from orchestra.tools.documents.outline import Content
from orchestra.tools.documents.passages import cut
from orchestra.tools.documents.reading import FILE_BYTES, Reading, interpret, load
from orchestra.values.sources import Document, Passage

# A file changed within this time of its last reading may have changed again within the clock's grain.
_GRAIN_NS = 2_000_000_000
_BATCH_CHARS = 2_000_000  # of text that wait to be written together

PREAMBLE_WORTH = 0.3
LISTING_WORTH = 0.5
_LISTINGS_NAMES = """
    references|bibliography|footnotes|copyright|acknowledgements|acknowledgments|table of contents|contents|
    further reading|see also|index|参考文献|参考资料|目录|目次|版权
"""
_LISTINGS = frozenset(name.strip() for name in _LISTINGS_NAMES.split("|"))


class Refreshed(Struct, frozen=True):
    """What a refresh did, in files, and one line for each file that was refused."""

    documents: int
    read: int
    unchanged: int
    removed: int
    problems: tuple[str, ...]


def refresh(
    database: sqlite3.Connection,
    root: Path,
    *,
    limit_bytes: int = FILE_BYTES,
    check: Callable[[], None] = lambda: None,
) -> Refreshed:
    """Blocks; call it in a worker thread. `check` is called before each file and may raise to stop."""
    folder = store.folder_id(database, str(root))
    known = store.known_files(database, folder)
    walked = walk(root, limit_bytes)
    problems = dict.fromkeys(walked.problems)
    writer = _Writer(database, folder)
    documents = read = 0
    for found in walked.found:
        check()
        before = known.pop(found.locator, None)
        problem = before.problem if before else ""
        if before is None or _may_differ(before.stamp, found):
            entry, was_read = _examine(found, before, limit_bytes)
            read += was_read
            problem = entry.problem
            writer.add(before, entry)
        if problem:
            problems[problem] = None
        else:
            documents += 1
    writer.finish([gone.id for gone in known.values()])
    if not documents:
        problems[f"{root.name}: holds no document that can be read"] = None
    return Refreshed(documents, read, len(walked.found) - read, len(known), tuple(problems))


def _may_differ(stamp: store.Stamp, found: Found) -> bool:
    if (stamp.size, stamp.modified_ns, stamp.changed_ns) != (found.size, found.modified_ns, found.changed_ns):
        return True
    if not stamp.content:  # it could not be opened
        return True
    return stamp.seen_ns - max(found.modified_ns, found.changed_ns) < _GRAIN_NS


def _examine(found: Found, before: store.Known | None, limit_bytes: int) -> tuple[store.Entry, bool]:
    """The file's entry, and whether it was read and not only compared."""
    seen_ns = time.time_ns()
    try:
        data = load(found.path, found.locator, limit_bytes)
    except InputError as error:
        return store.Entry(found.locator, _stamp(found, seen_ns, b""), problem=str(error)), True
    stamp = _stamp(found, seen_ns, hashlib.sha256(data).digest())
    if before and before.stamp.content == stamp.content:
        return store.Entry(found.locator, stamp, problem=before.problem), False
    try:
        reading = interpret(data, found.locator)
    except InputError as error:
        return store.Entry(found.locator, stamp, problem=str(error)), True
    return _entry(reading, stamp), True


def _entry(reading: Reading, stamp: store.Stamp) -> store.Entry:
    document = reading.document
    rows = tuple(
        store.Row(
            passage.start,
            passage.end,
            passage.section,
            _worth(passage, reading.content),
            " ".join(terms(passage.section)),
            " ".join(terms(passage.text)),
        )
        for passage in cut(reading)
    )
    return store.Entry(document.locator, stamp, document, _title_terms(document), rows)


def _stamp(found: Found, seen_ns: int, content: bytes) -> store.Stamp:
    return store.Stamp(found.size, found.modified_ns, found.changed_ns, seen_ns, content)


def _title_terms(document: Document) -> str:
    """Of the title and the file's name."""
    name = PurePosixPath(document.locator).stem
    return " ".join(dict.fromkeys(terms(f"{document.title} {name}")))


def _worth(passage: Passage, content: Content) -> float:
    """What a match in it counts for: lists of authors and sources name a subject and do not tell of it."""
    if passage.end <= content.preamble:
        return PREAMBLE_WORTH
    last = passage.section.rpartition(" > ")[2].casefold().strip(" .:0123456789")
    return content.worth * (LISTING_WORTH if last in _LISTINGS else 1.0)


class _Writer:
    """Collects entries and writes them in groups, so that a writer elsewhere never waits long."""

    def __init__(self, database: sqlite3.Connection, folder: int) -> None:
        self._database = database
        self._folder = folder
        self._waiting: list[tuple[store.Known | None, store.Entry]] = []
        self._chars = 0

    def add(self, before: store.Known | None, entry: store.Entry) -> None:
        self._waiting.append((before, entry))
        self._chars += len(entry.document.text) if entry.document else 0
        if self._chars > _BATCH_CHARS:
            self.finish([])

    def finish(self, gone: list[int]) -> None:
        if not self._waiting and not gone:
            return
        with store.transaction(self._database, writing=True):
            for before, entry in self._waiting:
                if before and before.stamp.content == entry.stamp.content:
                    store.touch(self._database, before.id, entry.stamp)
                else:
                    store.put(self._database, self._folder, entry)
            for file in gone:
                store.remove(self._database, self._folder, file)
        self._waiting.clear()
        self._chars = 0
