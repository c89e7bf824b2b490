"""Samples of the process while it is under load: memory, the loop's lag, sessions."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from orchestra.load.plan import Room, Sample

EVERY_SECONDS = 0.1

Counts = Callable[[], tuple[int, int, int]]


def memory_bytes() -> int:
    """Resident memory of this process; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def room_now() -> Room:
    """What the process holds, after a collection."""
    gc.collect()
    folder = "/proc/self/fd"
    files = len(os.listdir(folder)) if os.path.isdir(folder) else 0
    return Room(files, len(anyio.get_running_tasks()), threading.active_count(), memory_bytes())


async def sample_until_cancelled(samples: list[Sample], counts: Counts) -> None:
    """Add a sample every tenth of a second. `counts`: sessions active, waiting, ended.

    The lag is how much later than asked for the loop woke this task: what every session's steps wait too.
    """
    began = time.monotonic()
    while True:
        due = time.monotonic() + EVERY_SECONDS
        await anyio.sleep(EVERY_SECONDS)
        now = time.monotonic()
        active, waiting, ended = counts()
        samples.append(Sample(now - began, memory_bytes(), max(now - due, 0.0), active, waiting, ended))
