"""A list as what changed against an earlier one, so that a growing prompt is recorded by its growth."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from orchestra.errors import StoreError

T = TypeVar("T")
_SLICE = 16


class Run(Struct, frozen=True, array_like=True):
    """`count` items of the earlier list from `start`."""

    start: int
    count: int


def patch(old: Sequence[T], new: Sequence[T], key: Callable[[T], Hashable]) -> list[Run | T]:
    """Runs of the old list and items that are new, which together make the new list.

    Items of the common beginning and end are compared by identity and ==, those between by `key`: some
    10 ns an item for a list that grows at its end. Both are tuples, or both lists.
    """
    head = _common(old, new)
    if head == len(old):  # it has only grown
        return [Run(0, head), *new[head:]] if head else [*new]
    left = min(len(old), len(new)) - head
    tail = 0
    while tail < left and (old[-1 - tail] is new[-1 - tail] or old[-1 - tail] == new[-1 - tail]):
        tail += 1
    parts: list[Run | T] = [Run(0, head)] if head else []
    where = {key(old[index]): index for index in range(head, len(old) - tail)}
    for item in new[head : len(new) - tail]:
        found = where.get(key(item)) if where else None
        last = parts[-1] if parts else None
        if found is None:
            parts.append(item)
        elif isinstance(last, Run) and last.start + last.count == found:
            parts[-1] = Run(last.start, last.count + 1)
        else:
            parts.append(Run(found, 1))
    if tail:
        parts.append(Run(len(old) - tail, tail))
    return parts


def _common(old: Sequence[T], new: Sequence[T]) -> int:
    """The length of the common beginning. Slices are compared in C, ten times as fast as item by item."""
    head, shorter = 0, min(len(old), len(new))
    while head + _SLICE <= shorter and old[head : head + _SLICE] == new[head : head + _SLICE]:
        head += _SLICE
    for then, now in zip(old[head:shorter], new[head:shorter], strict=True):
        if then is not now and then != now:
            break
        head += 1
    return head


def apply(old: Sequence[Any], parts: Sequence[Any]) -> list[Any]:
    """The new list; a run is a pair of numbers, as JSON brings it. Raises StoreError if it cannot fit."""
    new: list[Any] = []
    for part in parts:
        if isinstance(part, list):
            start, count = part
            if start + count > len(old):
                raise StoreError("A prompt's record does not fit the one before it: the store is damaged.")
            new.extend(old[start : start + count])
        else:
            new.append(part)
    return new
