"""What is committed comes to its place in the file without holding up the next commits."""

from __future__ import annotations

import threading
from pathlib import Path

import anyio
import pytest

from orchestra.errors import StoreError
from orchestra.journal.checkpoints import Checkpoints
from orchestra.journal.journal import Journal
from orchestra.journal.queue import Options
from tests.journal.recording import begun, event

pytestmark = pytest.mark.anyio


async def test_commits_go_on_beside_a_checkpoint_and_the_rest_follows() -> None:
    """One at a time, after so many bytes; a second, short one brings in what came meanwhile."""
    made, free = 0, threading.Event()

    def make() -> None:
        nonlocal made
        made += 1
        free.wait()

    checkpoints = Checkpoints(make, 100)
    async with anyio.create_task_group() as group:
        await checkpoints.after(99, group)
        assert made == 0
        for _ in range(50):
            await checkpoints.after(99, group)
        free.set()
    assert made == 1
    async with anyio.create_task_group() as group:
        await checkpoints.after(1, group)
        assert made == 2
        await checkpoints.after(1, group)
    assert made == 2


async def test_one_that_fails_is_made_again() -> None:
    """Nothing is lost by it: the log holds all of it."""
    made = 0

    def make() -> None:
        nonlocal made
        made += 1
        raise StoreError("The disk is full.")

    checkpoints = Checkpoints(make, 10)
    for _ in range(3):
        async with anyio.create_task_group() as group:
            await checkpoints.after(10, group)
    assert made == 3


async def test_a_stores_log_begins_anew(tmp_path: Path) -> None:
    """It stops growing however much is written in one go."""
    log, sizes = tmp_path / "store.db-wal", [0]
    async with Journal.open(tmp_path / "store.db", options=Options(checkpoint_bytes=100_000)) as journal:
        await begun(journal)
        with anyio.fail_after(60):
            while len(sizes) <= 20 or sizes[-1] > sizes[-20]:
                await journal.record(event(len(sizes), text=f"{len(sizes)} " + "x" * 5_000))
                await journal.flush()
                sizes.append(log.stat().st_size)
