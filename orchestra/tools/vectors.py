"""Vectors of texts that come again in every process, kept in a file: a model takes milliseconds for each.

A tool's description is embedded once ever for each model, where there is a file to keep it in.
"""

from __future__ import annotations

import hashlib
import sqlite3
from array import array
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from orchestra.context.recall.dense import Vector
from orchestra.context.recall.embedding import Embedder
from orchestra.log import get_logger

log = get_logger()

_BUSY_SECONDS = 2.0
_AT_ONCE = 500


class Kept:
    """A model whose vectors are kept in `file`; None: as it is. A file that fails costs only time."""

    def __init__(self, model: Embedder, file: Path | None) -> None:
        self._model = model
        self._file = file

    @property
    def name(self) -> str:
        return self._model.name

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """The same vectors, to four bytes a number."""
        if self._file is None or not texts:
            return self._model.embed(texts)
        keys = [self._key(text) for text in texts]
        known = self._read(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            made = self._model.embed(list(new.values()))
            fresh = {key: array("f", map(float, row)) for key, row in zip(new, made, strict=True)}
            known |= fresh
            self._write(fresh)
        return [known[key] for key in keys]

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.name}\0{text}".encode("utf-8", "surrogatepass")).digest()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, array[float]]:
        found: dict[bytes, array[float]] = {}
        assert self._file is not None
        if not self._file.exists():
            return found
        try:
            with closing(sqlite3.connect(self._file, timeout=_BUSY_SECONDS)) as database:
                for start in range(0, len(keys), _AT_ONCE):
                    some = keys[start : start + _AT_ONCE]
                    marks = ",".join("?" * len(some))
                    query = f"SELECT key, body FROM vectors WHERE key IN ({marks})"  # noqa: S608 - marks only
                    for key, body in database.execute(query, some):
                        found[key] = array("f", body)
        except (sqlite3.Error, ValueError) as error:
            log.warning("vectors.unread", reason=str(error))
        return found

    def _write(self, fresh: dict[bytes, array[float]]) -> None:
        assert self._file is not None
        try:
            with closing(sqlite3.connect(self._file, timeout=_BUSY_SECONDS)) as database, database:
                database.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, body BLOB NOT NULL)"
                )
                rows = [(key, row.tobytes()) for key, row in fresh.items()]
                database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            log.warning("vectors.unkept", reason=str(error))
