"""What a load test is asked for, and what came of each of its sessions. Frozen values."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

Fate = Literal["done", "partial", "failed", "refused", "cancelled"]
FATES: tuple[Fate, ...] = ("done", "partial", "failed", "refused", "cancelled")


class LoadPlan(Struct, frozen=True, kw_only=True):
    """`concurrency` sessions are kept at work; with `rate` sessions a second begin instead, come what may.

    `endpoint`: a base URL, None for a simulated one in a process of its own, which answers after
    `latency_seconds` and fails a share of `faults` of its requests. `cancel`: the share of sessions that are
    cancelled at a random moment. `warmup`: sessions that run first, one after another, and do not count.
    `workflow`: "research" or "module:function" of a session and a question. `store`: a file for the journal,
    None for one that is thrown away.
    """

    workflow: str = "research"
    sessions: int = 200
    concurrency: int = 50
    rate: float | None = None
    endpoint: str | None = None
    model: str = "small"
    latency_seconds: float = 0.2
    faults: float = 0.0
    cancel: float = 0.0
    warmup: int = 5
    seed: int = 0
    store: Path | None = None


class Outcome(Struct, frozen=True, kw_only=True):
    """One session. Times are seconds on the monotonic clock: `intended` is when it should have begun.

    `queued`: until the runtime let it in. `model`: time in which a model or a tool worked for it.
    `depth`: the longest chain of its calls. `error`: what kind of failure, "" for none.
    """

    number: int
    fate: Fate
    intended: float
    admitted: float
    ended: float
    model: float = 0.0
    depth: int = 0
    calls: int = 0
    tokens: int = 0
    error: str = ""
    session: str = ""

    @property
    def seconds(self) -> float:
        """From the intended start, so that waiting counts."""
        return self.ended - self.intended

    @property
    def queued(self) -> float:
        return self.admitted - self.intended

    @property
    def runtime(self) -> float:
        """What is left: neither queue, nor model, nor tool."""
        return max(self.ended - self.admitted - self.model, 0.0)


class Leak(Struct, frozen=True):
    """A canary of session `foreign` in what belongs to session `owner`."""

    owner: int
    foreign: int
    place: str


class Sample(Struct, frozen=True):
    """The process at one moment, `at` seconds after the start; memory in bytes, lag in seconds."""

    at: float
    memory: int
    lag: float
    active: int
    waiting: int
    ended: int


class Room(Struct, frozen=True):
    """What the process holds when no session is at work; memory in bytes."""

    files: int
    tasks: int
    threads: int
    memory: int


class LoadResult(Struct, frozen=True, kw_only=True):
    """A whole load test. `call_seconds`: what one call takes while nothing else runs (median of the warm-up).

    `before` and `after` the traffic, the runtime open; `bare` and `left`: before it was opened and after it
    was closed. `broken`: prompts in which a call and its result were parted. `began` and `ended` on the
    monotonic clock.
    `searched`: how many prompts, replies, reports and journal rows were searched for canaries.
    """

    plan: LoadPlan
    outcomes: tuple[Outcome, ...]
    leaks: tuple[Leak, ...]
    broken: tuple[str, ...]
    samples: tuple[Sample, ...]
    before: Room
    after: Room
    bare: Room
    left: Room
    began: float
    ended: float
    cpu_seconds: float
    call_seconds: float
    searched: dict[str, int]
    served: dict[str, int]
