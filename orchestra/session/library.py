"""The folders of documents that a runtime's sessions read, each with one index."""

from __future__ import annotations

from contextlib import AsyncExitStack

import anyio

from orchestra.config.settings import Settings
from orchestra.errors import InputError
from orchestra.session.opening import index_file, nothing_to_read
from orchestra.tools.documents.index import DocumentIndex
from orchestra.tools.documents.tools import document_tools
from orchestra.tools.port import Tool

# What "no limit" is in bytes, for the reader of files.
NO_LIMIT = 1 << 62


class Library:
    """`stack` closes the indexes."""

    def __init__(self, settings: Settings, stack: AsyncExitStack) -> None:
        self._settings = settings
        self._stack = stack
        self._indexes: dict[str, DocumentIndex] = {}
        self._opening = anyio.Lock()

    async def tools(self, folder: str) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
        """The tools over a folder, none for "", and a line for each file that cannot be read.

        Raises InputError for a folder that is not there or holds nothing to read.
        """
        if not folder:
            return (), ()
        index = await self._filled(folder)
        return document_tools(index), index.problems

    async def look(self, folder: str) -> tuple[int, tuple[str, ...]]:
        """How many documents a folder has, a line for each file that cannot be read. Raises InputError."""
        index = await self._filled(folder)
        return index.refreshed.documents, index.problems

    async def _filled(self, folder: str) -> DocumentIndex:
        index = await self._index(folder)
        if not index.refreshed.documents:
            raise InputError(nothing_to_read(folder, index.problems), key="documents")
        return index

    async def _index(self, folder: str) -> DocumentIndex:
        """The folder's index, opened once for all sessions and brought up to date for each."""
        path = str(await anyio.Path(folder).resolve())
        async with self._opening:
            index = self._indexes.get(path)
            if index is not None:
                await index.refresh()
                return index
            limit = self._settings.documents.file_bytes or NO_LIMIT
            index = DocumentIndex(folder, store=index_file(self._settings), limit_bytes=limit)
            self._indexes[path] = await self._stack.enter_async_context(index)
            return index
