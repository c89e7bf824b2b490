"""The same work on many items at once."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import anyio

from orchestra.errors import alone

T = TypeVar("T")
R = TypeVar("R")


async def at_once(items: Sequence[T], work: Callable[[int, T], Coroutine[Any, Any, R]]) -> tuple[R, ...]:
    """`work(number, item)` on all items, numbered from 1; results in the items' order."""
    if not items:
        return ()
    if len(items) == 1:
        return (await work(1, items[0]),)
    with alone():
        async with anyio.create_task_group() as group:
            handles = [group.start_soon(work, number, item) for number, item in enumerate(items[1:], start=2)]
            first = await work(1, items[0])  # by this task, which would only wait: a task costs 5 KB
    return (first, *[handle.return_value for handle in handles])
