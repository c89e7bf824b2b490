"""Vectors of texts, made beside the sessions' work: nobody's prompt waits for them for long.

What is asked for by any session goes out in batches; what came is kept for all. A source that fails is left
alone for a while, and words alone do the work.
"""

from __future__ import annotations

import time
from array import array
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import anyio
import anyio.to_thread

from orchestra.context.recall.dense import Vector
from orchestra.context.recall.embedding import Embedder, embedder_for
from orchestra.errors import ConfigError, ModelError
from orchestra.log import get_logger

log = get_logger()

BATCH = 64
"""Texts in one request: about 10,000 tokens of turns, which every endpoint takes."""
WORKERS = 4
"""Requests at once; an input's vector need not wait for those of a long talk."""
KEPT = 8_192
"""Vectors that are kept for whoever asks again; an agent's index has its own."""
WAITING = 20_000
"""Texts that may wait; what is asked for beyond is asked for again with the next prompt."""
PAUSE_SECONDS = 30.0
"""For so long a source that failed is not asked."""


class Source(Protocol):
    """Where vectors come from."""

    @property
    def name(self) -> str: ...

    async def vectors(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One for each text, in order; all of one length. Raises ModelError."""
        ...


class Installed:
    """A model whose weights are on this machine, loaded when it is first needed; it works in a thread."""

    def __init__(self, name: str) -> None:
        self._wanted = name
        self._model: Embedder | None = None
        self._one = anyio.CapacityLimiter(1)
        self.name = name

    async def vectors(self, texts: Sequence[str]) -> Sequence[Vector]:
        return await anyio.to_thread.run_sync(self._made, texts, limiter=self._one)

    def _made(self, texts: Sequence[str]) -> Sequence[Vector]:
        if self._model is None:
            self._model = embedder_for(self._wanted)
            assert self._model is not None
            self.name = self._model.name
        return self._model.embed(texts)


class Meaning:
    """Shared by the sessions of a runtime. `wait_seconds`: what a prompt may wait for its vectors, 0 for not
    at all. `problem`: why the source is left alone now, "" while it is not.
    """

    def __init__(
        self, source: Source, wait_seconds: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._source = source
        self.wait_seconds = wait_seconds
        self._clock = clock
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._waiting: OrderedDict[str, None] = OrderedDict()
        self._asked: set[str] = set()  # for, and not answered yet
        self._problem = ""
        self._until = 0.0
        self._wanted = anyio.Event()
        self._came = anyio.Event()

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def problem(self) -> str:
        return self._problem if self._clock() < self._until else ""

    def vector(self, text: str) -> Vector | None:
        """A text's vector, None where it has not come yet."""
        found = self._kept.get(text)
        if found is not None:
            self._kept.move_to_end(text)
        return found

    def want(self, texts: Iterable[str], *, first: bool = False) -> None:
        """Have vectors made of those texts that have none; `first`: before all that waits."""
        if self.problem:
            return
        for text in texts:
            if text in self._kept or text in self._asked:
                continue
            if text in self._waiting or len(self._waiting) < WAITING:
                self._waiting[text] = None
                if first:
                    self._waiting.move_to_end(text, last=False)
        if self._waiting:
            self._wanted.set()

    async def within(self, text: str, seconds: float) -> Vector | None:
        """A text's vector, if it comes in time."""
        with anyio.move_on_after(seconds):
            while self.vector(text) is None and (text in self._waiting or text in self._asked):
                await self._came.wait()
        return self.vector(text)

    async def work(self) -> None:
        """Make what is wanted, until cancelled."""
        while True:
            await self._wanted.wait()
            batch = [self._waiting.popitem(last=False)[0] for _ in range(min(BATCH, len(self._waiting)))]
            if not self._waiting:
                self._wanted = anyio.Event()
            if batch:
                await self._make(batch)

    async def _make(self, batch: list[str]) -> None:
        self._asked.update(batch)
        try:
            made = await self._source.vectors(batch)
        except (ModelError, ConfigError) as error:
            self._failed(str(error))
        else:
            self._kept.update((text, array("f", vector)) for text, vector in zip(batch, made, strict=True))
        finally:
            self._asked.difference_update(batch)
            came, self._came = self._came, anyio.Event()
            came.set()
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def _failed(self, told: str) -> None:
        self._problem, self._until = told, self._clock() + PAUSE_SECONDS
        self._waiting.clear()
        log.warning("embedding.failed", model=self.name, problem=told, pause_seconds=PAUSE_SECONDS)


@asynccontextmanager
async def at_work(meaning: Meaning | None) -> AsyncIterator[Meaning | None]:
    """The same, working until the block ends."""
    if meaning is None:
        yield None
        return
    async with anyio.create_task_group() as group:
        for _ in range(WORKERS):
            group.start_soon(meaning.work)
        yield meaning
        group.cancel_scope.cancel()
