"""What a runtime knows for choosing tools: an index for each set of tools, and what earlier requests used.

The work is done in a thread: a first look at 1,000 tools takes a quarter of a second of words, and 10 s where
an embedding model has to read them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec import Struct

from orchestra.context.recall.embedding import Embedder, embedder_for
from orchestra.errors import StoreError
from orchestra.log import get_logger
from orchestra.tools.history import History
from orchestra.tools.subset import ToolIndex
from orchestra.tools.toolbox import Toolbox
from orchestra.tools.vectors import Kept

log = get_logger()

# A model chooses well among this many; more cost tokens in every prompt and lead it astray.
MOST_TOOLS = 24
CHOSEN_TOOLS = 12
FOUND_TOOLS = 5
"""Tools that one `find_tools` adds at most."""
ADDED_TOOLS = 3
"""Of the best tools for a later input, those that a conversation does not have yet are added."""
_INDEXES = 8
"""Sets of tools whose index is kept."""
_HISTORIES = 16
"""Projects whose earlier requests are kept."""

Used = tuple[str, tuple[str, ...]]
"""A request and the names of the tools that it used."""
Earlier = Callable[[str], Awaitable[Sequence[Used]]]
"""The requests of a project ("" for none) that the journal holds, oldest first."""

_WORD = re.compile(r"[^\W_]+(?:[_\-./]+[^\W_]+)*")


async def nothing_earlier(_project: str) -> Sequence[Used]:
    """Where nothing is remembered."""
    return ()


class Choosing(Struct, frozen=True, kw_only=True):
    """How tools are chosen: all of at most `most`, of more the best `chosen`. `embedding`: a model's name,
    `auto` or `none`. `learn`: from what earlier requests used. `vectors`: a file that keeps those of the
    tools, None for none.
    """

    most: int = MOST_TOOLS
    chosen: int = CHOSEN_TOOLS
    embedding: str = "none"
    learn: bool = True
    vectors: Path | None = None


class Chooser:
    """Shared by the sessions of a runtime. `embedder`: in place of the one that `choosing` names."""

    def __init__(
        self,
        choosing: Choosing | None = None,
        earlier: Earlier = nothing_earlier,
        embedder: Embedder | None = None,
    ) -> None:
        self.choosing = choosing or Choosing()
        self._earlier = earlier
        self._indexes: dict[tuple[int, ...], ToolIndex] = {}
        self._histories: dict[str, History] = {}
        self._new: list[tuple[str, str, str]] = []
        self._embedder = embedder
        self._keeper = embedder
        self._loaded = embedder is not None
        self._reading = anyio.Lock()
        self._one = anyio.CapacityLimiter(1)  # who waits for a turn holds no thread
        self._working = threading.Lock()

    async def choose(
        self,
        task: str,
        tools: Toolbox,
        *,
        keep: Iterable[str] = (),
        count: int | None = None,
        project: str = "",
    ) -> tuple[str, ...]:
        """The names of at most `count` tools for a task, with all of `keep`; in the toolbox's order."""
        await self._remember(project)
        wanted = self.choosing.chosen if count is None else count
        work = partial(self._choose, task, tools, tuple(keep), wanted, project)
        return await anyio.to_thread.run_sync(work, limiter=self._one)

    async def best(
        self, words: str, tools: Toolbox, count: int, *, project: str = "", values: bool = True
    ) -> tuple[str, ...]:
        """The names of the best tools that have anything to do with these words, best first. `values`: they
        say what to call a tool with too.
        """
        await self._remember(project)
        work = partial(self._best, words, tools, count, project, values)
        return await anyio.to_thread.run_sync(work, limiter=self._one)

    def used(self, project: str, task: str, name: str) -> None:
        """A task has used a tool, and it worked."""
        if self.choosing.learn:
            self._new.append((project, task, name))

    async def _remember(self, project: str) -> None:
        """Read once what the journal knows; a store that cannot be read costs only the learning."""
        if not self.choosing.learn or project in self._histories:
            return
        async with self._reading:
            if project in self._histories:
                return
            try:
                earlier = await self._earlier(project)
            except StoreError as error:
                log.warning("tools.unlearnt", reason=str(error))
                earlier = ()
            await anyio.to_thread.run_sync(partial(self._read, project, earlier), limiter=self._one)

    def _read(self, project: str, earlier: Sequence[Used]) -> None:
        with self._working:
            history = History(self._model())
            for request, names in earlier:
                history.learn(request, names)
            while len(self._histories) >= _HISTORIES:
                del self._histories[next(iter(self._histories))]
            self._histories[project] = history

    def _choose(
        self, task: str, tools: Toolbox, keep: tuple[str, ...], count: int, project: str
    ) -> tuple[str, ...]:
        with self._working:
            index = self._index(tools)
            chosen = index.choose(task, max(count, len(set(keep))), keep, self._history(project))
            return tuple(spec.name for spec in chosen)

    def _best(self, words: str, tools: Toolbox, count: int, project: str, values: bool) -> tuple[str, ...]:
        with self._working:
            ranked = self._index(tools).ranked(words, self._history(project), values=values)
            return tuple(name for name, score in ranked[:count] if score > 0)

    def _history(self, project: str) -> History | None:
        """The project's, with what was used since."""
        self._new, new = [], self._new
        for where, task, name in new:
            if where in self._histories:
                self._histories[where].learn(task, (name,))
        return self._histories.get(project)

    def _index(self, tools: Toolbox) -> ToolIndex:
        """A session's toolbox is its own, its tools are the runtime's: they tell whether it is known."""
        key = tuple(map(id, tools.specs))
        index = self._indexes.pop(key, None)
        if index is None:
            model = self._model()
            index = ToolIndex(tools.specs, model, keeper=self._keeper)
            while len(self._indexes) >= _INDEXES:
                del self._indexes[next(iter(self._indexes))]
        self._indexes[key] = index  # it holds the specs, so no other can come by their ids
        return index

    def _model(self) -> Embedder | None:
        if not self._loaded:
            model = self._embedder = embedder_for(self.choosing.embedding)
            self._keeper = Kept(model, self.choosing.vectors) if model is not None else None
            self._loaded = True
        return self._embedder


def named_in(text: str, tools: Toolbox) -> tuple[str, ...]:
    """The tools whose very names a text says; plain words such as `search` are not taken for one."""
    words = dict.fromkeys(_WORD.findall(text))
    return tuple(word for word in words if word in tools and _is_a_name(word))


def _is_a_name(word: str) -> bool:
    return not word.isalpha() or any(char.isupper() for char in word[1:])
