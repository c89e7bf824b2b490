"""Sessions begun and followed to their end: so many at once, or so many a second."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from orchestra.errors import OrchestraError, Overloaded
from orchestra.load.canary import current
from orchestra.load.notes import question_of
from orchestra.load.plan import Fate, LoadPlan, Outcome
from orchestra.load.witness import Witness
from orchestra.runtime import Runtime
from orchestra.session.outputs import as_json
from orchestra.session.session import Session

Work = Callable[[Session, str], Awaitable[Any]]


class Traffic:
    """`ended` holds the outcomes so far; `typical_seconds` is what a session takes, for the cancellations."""

    def __init__(self, runtime: Runtime, work: Work, plan: LoadPlan, witness: Witness) -> None:
        self.ended: list[Outcome] = []
        self.owners: dict[str, int] = {}
        self.typical_seconds = 1.0
        self._runtime = runtime
        self._work = work
        self._plan = plan
        self._witness = witness
        self._dice = random.Random(plan.seed)  # noqa: S311 - luck, not secrets

    async def warm_up(self) -> list[Outcome]:
        """A few sessions, one after another, that do not count."""
        outcomes = []
        for number in range(self._plan.warmup):
            outcomes.append(await self._one(0xFFFF_0000 + number, time.monotonic(), None))
        if outcomes:
            self.typical_seconds = sorted(outcome.seconds for outcome in outcomes)[(len(outcomes) - 1) // 2]
        return outcomes

    async def run(self) -> None:
        """All the plan's sessions."""
        if self._plan.rate is not None:
            await self._open_loop(self._plan.rate)
        else:
            await self._closed_loop()

    async def _open_loop(self, rate: float) -> None:
        """Each session is measured from the moment at which it was meant to begin."""
        began = time.monotonic()
        async with anyio.create_task_group() as group:
            for number in range(self._plan.sessions):
                due = began + number / rate
                await anyio.sleep(max(due - time.monotonic(), 0.0))
                group.start_soon(self._follow, number, due)

    async def _closed_loop(self) -> None:
        numbers = iter(range(self._plan.sessions))

        async def lane() -> None:
            for number in numbers:
                await self._follow(number, time.monotonic())

        async with anyio.create_task_group() as group:
            for _ in range(min(self._plan.concurrency, self._plan.sessions)):
                group.start_soon(lane)

    async def _follow(self, number: int, intended: float) -> None:
        cancelled = self._dice.random() < self._plan.cancel
        after = self._dice.random() * self.typical_seconds if cancelled else None
        self.ended.append(await self._one(number, intended, after))

    async def _one(self, number: int, intended: float, cancel_after: float | None) -> Outcome:
        """One session, whatever becomes of it. An error that is not ours to expect flies."""
        token = current.set(number)
        run = _Run(number)
        try:
            with anyio.move_on_after(cancel_after) as scope:
                await self._session(run)
            if scope.cancelled_caught:
                run.fate = "cancelled"
        finally:
            current.reset(token)
        model, depth, calls = self._witness.work_of(number)
        ended = time.monotonic()
        return Outcome(
            number=number,
            fate=run.fate,
            intended=intended,
            admitted=run.admitted or ended,
            ended=ended,
            model=model,
            depth=depth,
            calls=calls,
            tokens=run.tokens,
            error=run.error,
            session=run.session,
        )

    async def _session(self, run: _Run) -> None:
        question = question_of(run.number)
        try:
            async with self._runtime.session(question, workflow=self._plan.workflow) as session:
                run.admitted, run.session = time.monotonic(), session.id
                self.owners[session.id] = run.number
                made = await self._work(session, question)
                run.tokens = sum(usage.tokens for usage in session.usage.values())
                run.error = session.stopped or str(getattr(made, "partial", ""))
                run.fate = "partial" if run.error else "done"
                self._witness.searched["reports"] += 1
                self._witness.search(as_json(made), run.number, "a report")
        except Overloaded as error:
            run.fate, run.error = "refused", type(error).__name__
        except OrchestraError as error:
            run.fate, run.error = "failed", type(error).__name__


class _Run:
    """What is known of a session while it runs."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.fate: Fate = "failed"
        self.admitted = 0.0
        self.tokens = 0
        self.error = ""
        self.session = ""
