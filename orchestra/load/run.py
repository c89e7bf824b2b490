"""A load test from start to end: endpoint, runtime, warm-up, traffic, search, account."""

from __future__ import annotations

import gc
import importlib
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median

import anyio
from msgspec import Struct, structs

from orchestra.config.load import load_settings
from orchestra.config.settings import RuntimeLimits, Settings
from orchestra.context.tokens import counter_for
from orchestra.errors import InputError
from orchestra.load.meter import room_now, sample_until_cancelled
from orchestra.load.notes import tools_of
from orchestra.load.plan import LoadPlan, LoadResult, Room, Sample
from orchestra.load.process import endpoint_process
from orchestra.load.rows import search_journal
from orchestra.load.traffic import Traffic, Work
from orchestra.load.witness import Witness, watched_models
from orchestra.models.configured import configured_models
from orchestra.runtime import Runtime
from orchestra.workflow import research_then_write

Say = Callable[[str], None]
PROGRESS_SECONDS = 2.0


class _Measured(Struct):
    """What is gathered while the traffic runs."""

    before: Room
    after: Room
    began: float
    ended: float
    cpu_seconds: float
    samples: list[Sample]


async def run_load(plan: LoadPlan, say: Say) -> LoadResult:
    """Run it. `say` gets a line of progress now and then. Raises OrchestraError where it cannot begin."""
    work, witness = workflow_of(plan.workflow), Witness()
    async with AsyncExitStack() as stack:
        url = plan.endpoint
        if url is None:
            url = await stack.enter_async_context(endpoint_process(plan))
        bare = room_now()
        async with _opened(plan, url, witness) as runtime:
            result = await _tested(plan, runtime, work, witness, say)
        await anyio.lowlevel.checkpoint()  # a connection's file is closed in the loop's next round
        return structs.replace(result, bare=bare, left=room_now())


async def _tested(plan: LoadPlan, runtime: Runtime, work: Work, witness: Witness, say: Say) -> LoadResult:
    traffic = Traffic(runtime, work, plan, witness)
    warm = await traffic.warm_up()
    failed = [outcome for outcome in warm if outcome.fate != "done"]
    if warm and len(failed) == len(warm) and not plan.faults:
        say(f"every session of the warm-up failed: {failed[0].error}")
    alone = [outcome.model / outcome.depth for outcome in warm if outcome.depth and outcome.fate == "done"]
    say(f"warm: one session alone takes {traffic.typical_seconds:.2f} s")
    calls, searched = witness.calls, witness.searched.copy()
    measured = await _measure(traffic, runtime, say)
    calls = witness.calls - calls
    say("searching the journal")
    statuses = await search_journal(runtime.kit.journal, traffic.owners, witness)
    witness.searched -= searched
    _account(traffic, statuses, witness)
    return LoadResult(
        plan=plan,
        outcomes=tuple(sorted(traffic.ended, key=lambda outcome: outcome.intended)),
        leaks=tuple(witness.leaks),
        broken=tuple(witness.broken),
        samples=tuple(measured.samples),
        before=measured.before,
        after=measured.after,
        bare=measured.before,
        left=measured.after,
        began=measured.began,
        ended=measured.ended,
        cpu_seconds=measured.cpu_seconds,
        call_seconds=median(alone) if alone else plan.latency_seconds,
        searched=dict(witness.searched),
        served={"calls": calls},
    )


async def _measure(traffic: Traffic, runtime: Runtime, say: Say) -> _Measured:
    def counts() -> tuple[int, int, int]:
        now = runtime.statistics
        return now.active, now.waiting, len(traffic.ended)

    await runtime.kit.journal.flush()
    gc.collect()
    gc.freeze()  # modules and vocabulary stay to the end: the collector need not walk them
    try:
        samples: list[Sample] = []
        before, began, cpu = room_now(), time.monotonic(), time.process_time()
        async with anyio.create_task_group() as group:
            group.start_soon(sample_until_cancelled, samples, counts)
            group.start_soon(_tell, say, traffic, counts)
            await traffic.run()
            await runtime.kit.journal.flush()
            ended, cpu = time.monotonic(), time.process_time() - cpu
            group.cancel_scope.cancel()
        return _Measured(before, room_now(), began, ended, cpu, samples)
    finally:
        gc.unfreeze()


async def _tell(say: Say, traffic: Traffic, counts: Callable[[], tuple[int, int, int]]) -> None:
    while True:
        await anyio.sleep(PROGRESS_SECONDS)
        active, waiting, ended = counts()
        bad = sum(outcome.fate in ("failed", "refused") for outcome in traffic.ended)
        say(f"{ended} ended, {active} at work, {waiting} waiting, {bad} failed or refused")


def _account(traffic: Traffic, statuses: dict[str, str], witness: Witness) -> None:
    """A session that was let in has an end in the journal, whatever became of it."""
    for outcome in traffic.ended:
        if outcome.session and statuses.get(outcome.session) in (None, "running", "cut off"):
            witness.broken.append(f"session {outcome.number} ({outcome.fate}) has no end in the journal")


@asynccontextmanager
async def _opened(plan: LoadPlan, url: str, witness: Witness) -> AsyncIterator[Runtime]:
    """A runtime for the test, with a journal on disk."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="orchestra-load-")))
        settings = settings_for(plan, url, folder)
        count = counter_for("").count
        models = await stack.enter_async_context(configured_models(settings, os.environ, count=count))
        watched = watched_models(dict(models.items()), witness)
        yield await stack.enter_async_context(Runtime(settings, models=watched, tools=tools_of()))


def settings_for(plan: LoadPlan, url: str, folder: Path) -> Settings:
    """The settings of a runtime under test: as many sessions and calls at once as the plan asks for."""
    flags = {"endpoint": url, "models": plan.model}
    settings = load_settings(flags, environ={}, folder=folder).settings
    endpoints = {
        name: structs.replace(endpoint, concurrent_calls=None)
        for name, endpoint in settings.endpoints.items()
    }
    store = str(plan.store) if plan.store is not None else str(folder / "store.db")
    limits = RuntimeLimits(sessions=max(plan.concurrency, 1), waiting=max(plan.concurrency, 1))
    return structs.replace(settings, endpoints=endpoints, store=store, runtime=limits)


def workflow_of(name: str) -> Work:
    """The workflow: "research", or a function of a session and a question as module:function."""
    if name == "research":
        return research_then_write
    module, _, function = name.partition(":")
    try:
        found: Work = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as wrong:
        raise InputError(
            f"There is no workflow {name!r} ({wrong}); name one as module:function, or research.",
            key="--workflow",
        ) from None
    return found
