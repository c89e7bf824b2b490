"""What waits to be written: bounded, in its order, taken in groups."""

from __future__ import annotations

from collections import deque

import anyio
from msgspec import Struct

from orchestra.journal.rows import Item


class Options(Struct, frozen=True, kw_only=True):
    """How the journal writes.

    A group is committed `group_seconds` after its first item, or when it has `group_events` items or
    `group_bytes` of text, or when somebody waits in `flush`. `queue_events` and `queue_bytes` bound what
    waits to be written; `record` waits while either is reached. `locked_seconds`: how long a lock of
    another process is nobody's fault. `close_seconds`: how long closing tries to write what is left.
    `durable_seconds`: how long what must be safe before it goes on waits for a store that takes nothing.
    `checkpoint_bytes`: after so much, what is committed is brought to its place, beside the next commits.
    """

    group_seconds: float = 0.05
    group_events: int = 2_048
    group_bytes: int = 4_000_000
    queue_events: int = 16_384
    queue_bytes: int = 32_000_000
    locked_seconds: float = 10.0
    close_seconds: float = 10.0
    durable_seconds: float = 60.0
    checkpoint_bytes: int = 16_000_000


class Queue:
    """Of one writer, which takes groups; whoever has something to write puts it in."""

    __slots__ = (
        "_arrived", "_bytes", "_bytes_at_work", "_few_bytes", "_few_items", "_items", "_options", "_taken",
        "_urgent", "closing", "written",
    )  # fmt: skip

    def __init__(self, options: Options) -> None:
        self._options = options
        self._items: deque[Item] = deque()
        self._bytes = 0
        self._bytes_at_work = 0  # of the group that was taken last, until it is written
        self._taken = 0  # items
        self.written = 0  # of those taken
        self.closing = False
        self._few_items = self._few_bytes = 0  # see `_look`
        self._arrived = anyio.Event()  # there is something
        self._urgent = anyio.Event()  # do not wait for a fuller group

    @property
    def accepted(self) -> int:
        """How many items were put so far."""
        return self._taken + len(self._items)

    def offer(self, item: Item) -> bool:
        """Take it, if it has room at once. Once taken it is written, whatever is cancelled."""
        items, size = self._items, self._bytes + item.size
        if len(items) < self._few_items and size <= self._few_bytes:
            items.append(item)
            self._bytes = size
            return True
        if not self.has_room(item.size):
            return False
        items.append(item)
        self._bytes = size
        self._arrived.set()
        if len(items) >= self._options.group_events or size >= self._options.group_bytes:
            self._urgent.set()
        self._look()
        return True

    def has_room(self, size: int) -> bool:
        """Whether an item of this size does; one that is larger than the queue does alone."""
        if self.closing:
            return False
        items, room = self.room()
        return (items > 0 and size <= room) or self.accepted == self.written

    def room(self) -> tuple[int, int]:
        """For how many more items there is room, and how large they may be together."""
        options = self._options
        items = options.queue_events - self.accepted + self.written
        return items, options.queue_bytes - self._bytes - self._bytes_at_work

    def _look(self) -> None:
        """How many items and bytes may wait before the writer has to be told, or who puts them has to wait.

        Below that one more is appended and no more. The writer is told of the first item, and of a whole
        group unless it was.
        """
        items, room = self.room()
        self._few_items, self._few_bytes = len(self._items) + items, self._bytes + room
        if not self._items or self.closing:
            self._few_items = 0
        elif not self._urgent.is_set():
            self._few_items = min(self._few_items, self._options.group_events - 1)
            self._few_bytes = min(self._few_bytes, self._options.group_bytes - 1)

    def hurry(self) -> None:
        """Have the writer take what there is at once."""
        self._urgent.set()

    def close(self) -> None:
        """Nothing more comes in."""
        self.closing = True
        self._look()
        self._arrived.set()
        self._urgent.set()

    async def ready(self, *, at_once: bool) -> bool:
        """Waits for a group worth writing, or (`at_once`) for anything; False when nothing more comes."""
        if not self._items and not self.closing:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        if not self.closing and not at_once:
            with anyio.move_on_after(self._options.group_seconds):
                await self._urgent.wait()
        if not self.closing:
            self._urgent = anyio.Event()
        return bool(self._items)

    def take(self) -> tuple[list[Item], int]:
        """The next group: its items and their size."""
        items, options = self._items, self._options
        if len(items) <= options.group_events and self._bytes <= options.group_bytes:
            group, size = list(items), self._bytes
            items.clear()
        else:
            group, size = [], 0
            while items and len(group) < options.group_events and size < options.group_bytes:
                group.append(items.popleft())
                size += group[-1].size
        self._taken += len(group)
        self._bytes -= size
        self._bytes_at_work = size
        self._look()
        return group, size

    def wrote(self) -> None:
        """What was taken is durable."""
        self.written = self._taken
        self._bytes_at_work = 0
        self._look()
