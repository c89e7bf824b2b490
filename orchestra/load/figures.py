"""The figures of a load test, from what came of its sessions and from its samples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from orchestra.load.plan import FATES, LoadResult, Outcome

MIB = 1 << 20
_SHOWN_CHARACTERS = 90


class Spread(Struct, frozen=True):
    """Four marks of a set of times, in seconds."""

    p50: float
    p90: float
    p99: float
    most: float


class Figures(Struct, frozen=True, kw_only=True):
    """`ideal`: a session's calls one behind the other as they must be, at the speed of one call alone.

    `slope_mib`: by how much memory grows per thousand sessions, from when the load is there; None where there
    were too few. Shares are of a session's time. `problems`: why the test has failed, empty where it has not.
    """

    fates: dict[str, int]
    seconds: float
    per_second: float
    latency: Spread
    ideal: float
    queue_share: float
    model_share: float
    runtime_share: float
    calls: int
    cpu_ms_per_call: float
    memory_start: float
    memory_peak: float
    memory_end: float
    slope_mib: float | None
    lag: Spread
    tokens: int
    errors: dict[str, int]
    problems: tuple[str, ...]


def figures_of(result: LoadResult) -> Figures:
    """All of them."""
    ended = [outcome for outcome in result.outcomes if outcome.fate in ("done", "partial")]
    whole = sum(outcome.seconds for outcome in ended) or 1.0
    calls = result.served["calls"]
    wall = result.ended - result.began
    fates = Counter(outcome.fate for outcome in result.outcomes)
    return Figures(
        fates={fate: fates[fate] for fate in FATES},
        seconds=wall,
        per_second=len(ended) / wall if wall else 0.0,
        latency=spread([outcome.seconds for outcome in ended]),
        ideal=max(Counter(outcome.depth for outcome in ended).most_common(1) or [(0, 0)])[0]
        * result.call_seconds,
        queue_share=sum(outcome.queued for outcome in ended) / whole,
        model_share=sum(outcome.model for outcome in ended) / whole,
        runtime_share=sum(outcome.runtime for outcome in ended) / whole,
        calls=calls,
        cpu_ms_per_call=result.cpu_seconds / calls * 1e3 if calls else 0.0,
        memory_start=result.before.memory / MIB,
        memory_peak=max((sample.memory for sample in result.samples), default=result.after.memory) / MIB,
        memory_end=result.after.memory / MIB,
        slope_mib=memory_slope(result),
        lag=spread([sample.lag for sample in result.samples]),
        tokens=sum(outcome.tokens for outcome in result.outcomes),
        errors=dict(
            Counter(kind_of(outcome) for outcome in result.outcomes if outcome.error).most_common(12)
        ),
        problems=problems_of(result),
    )


def problems_of(result: LoadResult) -> tuple[str, ...]:
    """What must never be, each as a sentence."""
    found = [
        f"LEAK: {leak.place} of session {leak.owner} holds a canary of session {leak.foreign}."
        for leak in result.leaks
    ]
    found += [f"BROKEN: {line}." for line in result.broken]
    missing = result.plan.sessions - len(result.outcomes)
    if missing:
        found.append(f"LOST: {missing} sessions have no outcome.")
    more = result.after.tasks - result.before.tasks
    if more > 0:
        found.append(f"LEFT BEHIND: {more} tasks more than before.")
    return tuple(found)


def spread(values: Sequence[float]) -> Spread:
    ordered = sorted(values) or [0.0]
    last = len(ordered) - 1

    def at(share: float) -> float:
        return ordered[min(last, int(share * len(ordered)))]

    return Spread(at(0.5), at(0.9), at(0.99), ordered[-1])


def memory_slope(result: LoadResult) -> float | None:
    """MiB per thousand sessions: a line through the samples of the second half of the sessions."""
    total = len(result.outcomes)
    points = [
        (sample.ended / 1_000, sample.memory / MIB)
        for sample in result.samples
        if total / 2 <= sample.ended < total and sample.active
    ]
    if total < 500 or len(points) < 10:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread_x = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread_x if spread_x else None


def kind_of(outcome: Outcome) -> str:
    """An error without what differs from session to session."""
    kind = re.sub(r"\d+(?:[.:]\d+)*", "#", outcome.error)
    return f"{outcome.fate}: {kind[:_SHOWN_CHARACTERS]}"
