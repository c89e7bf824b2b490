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

    A list that has grown, at its end or before its last items, is compared in C, by identity and ==; only
    what changed in any other way is looked up by `key`. Both are tuples, or both lists.
    """
    if not (size := len(old)):
        return [*new]
    if new[:size] == old:
        return [Run(0, size), *new[size:]]
    tail = _common_end(old, new)
    head = size - tail
    if size <= len(new) and new[:head] == old[:head]:
        parts: list[Run | T] = [Run(0, head)] if head else []
        parts += new[head : len(new) - tail]
        parts.append(Run(head, tail))
        return parts
    head = _common(old, new, min(size, len(new)) - tail)
    return _sorted_out(old, new, (head, tail), key)


def _sorted_out(
    old: Sequence[T], new: Sequence[T], ends: tuple[int, int], key: Callable[[T], Hashable]
) -> list[Run | T]:
    """The patch where what lies between the common ends, of so many items, has changed somehow."""
    head, tail = ends
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


def _common(old: Sequence[T], new: Sequence[T], most: int) -> int:
    """The length of the common beginning. Slices are compared in C, ten times as fast as item by item."""
    head = 0
    while head + _SLICE <= most and old[head : head + _SLICE] == new[head : head + _SLICE]:
        head += _SLICE
    while head < most and old[head] == new[head]:
        head += 1
    return head


def _common_end(old: Sequence[T], new: Sequence[T]) -> int:
    """The length of the common end, as a rule of an item or two."""
    tail = 0
    for then, now in zip(reversed(old), reversed(new), strict=False):
        if then is not now and then != now:
            break
        tail += 1
    return tail


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
