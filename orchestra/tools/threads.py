"""Worker threads for tools that are plain functions, under a limit of their own.

The journal and the library's own work have other threads, so a thousand slow tools hold up nobody but
each other.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

T = TypeVar("T")

TOOL_THREADS = 32
_LIMITER: RunVar[anyio.CapacityLimiter] = RunVar("orchestra_tool_threads")


def tool_threads() -> anyio.CapacityLimiter:
    """The limiter of this event loop; its `total_tokens` may be set."""
    try:
        return _LIMITER.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(TOOL_THREADS)
        _LIMITER.set(limiter)
        return limiter


async def run_in_tool_thread(function: Callable[[], T]) -> T:
    """The function's result, from a thread. A call that is cancelled leaves its thread behind at work.

    Such a thread keeps its place until it ends: what cannot be stopped still counts.
    """
    limiter = tool_threads()
    place = _Place(limiter)
    await limiter.acquire_on_behalf_of(place)
    try:
        return await anyio.to_thread.run_sync(
            partial(place.work, function), abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
        )
    finally:
        place.left()


class _Place:
    """One place among the tools' threads, given back once: by the thread if it began, else by who asked."""

    def __init__(self, limiter: anyio.CapacityLimiter) -> None:
        self._limiter = limiter
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._began = False
        self._given_up = False
        self._ended = False

    def work(self, function: Callable[[], T]) -> T:
        """In the thread."""
        with self._lock:
            if self._given_up:
                raise RuntimeError("The call was cancelled before its thread began.")
            self._began = True
        try:
            return function()
        finally:
            with self._lock:
                self._ended = True
                alone = self._given_up
            if alone and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._limiter.release_on_behalf_of, self)

    def left(self) -> None:
        """In the loop: the caller has its result, or waits no longer."""
        with self._lock:
            self._given_up = True
            at_work = self._began and not self._ended
        if not at_work:
            self._limiter.release_on_behalf_of(self)
