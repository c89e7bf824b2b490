"""The figures of a load test as lines of text; the HTML page has the same."""

from __future__ import annotations

from collections.abc import Iterator

from orchestra.load.figures import Figures, Spread, figures_of
from orchestra.load.plan import LoadResult


def rows_of(result: LoadResult, figures: Figures) -> list[tuple[str, str]]:
    """Name and value."""
    return list(_rows(result, figures))


def _rows(result: LoadResult, figures: Figures) -> Iterator[tuple[str, str]]:
    plan, latency = result.plan, figures.latency
    how = f"{plan.rate:g} a second" if plan.rate is not None else f"{plan.concurrency} at once"
    yield "sessions", f"{plan.sessions:,} of {plan.workflow}, {how}, in {figures.seconds:.1f} s"
    yield "ended", ", ".join(f"{number:,} {fate}" for fate, number in figures.fates.items() if number)
    yield "sessions a second", f"{figures.per_second:.1f}"
    yield "latency", _times(latency)
    ratio = f", p50 is {latency.p50 / figures.ideal:.2f} times that" if figures.ideal else ""
    yield "ideal latency", f"{_time(figures.ideal)}{ratio}"
    shares = (figures.queue_share, figures.model_share, figures.runtime_share)
    names = ("queue", "model and tools", "runtime")
    yield "time in", ", ".join(f"{name} {share:.1%}" for name, share in zip(names, shares, strict=True))
    yield "model calls", f"{figures.calls:,}, {figures.calls / figures.seconds:,.0f} a second"
    yield "CPU per call", f"{figures.cpu_ms_per_call:.3f} ms"
    slope = "" if figures.slope_mib is None else f", {figures.slope_mib:+.2f} MiB per thousand sessions"
    memory = (figures.memory_start, figures.memory_peak, figures.memory_end)
    yield "memory", "{:.0f} MiB at start, {:.0f} at peak, {:.0f} at the end".format(*memory) + slope
    before, after, bare, left = result.before, result.after, result.bare, result.left
    yield (
        "files open",
        f"{before.files} at start, {after.files} at the end with the connections kept for reuse",
    )
    yield (
        "left behind",
        f"files {bare.files} → {left.files}, tasks {before.tasks} → {after.tasks}, "
        f"threads {before.threads} → {after.threads}",
    )
    yield "event-loop lag", _times(figures.lag)
    yield "tokens", f"{figures.tokens:,}"
    for error, number in figures.errors.items():
        yield "errors", f"{number:,} × {error}"
    searched = ", ".join(f"{number:,} {what}" for what, number in result.searched.items())
    leaks = f"{len(result.leaks)} foreign canaries" if result.leaks else "no foreign canary"
    yield "searched", f"{searched}: {leaks}"


def table_of(result: LoadResult) -> str:
    """All of it, with the verdict last."""
    figures = figures_of(result)
    rows = rows_of(result, figures)
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}" for name, value in rows]
    shown = figures.problems[:20]
    more = len(figures.problems) - len(shown)
    lines += ["", *shown, *([f"and {more} more"] if more else [])] if shown else []
    return "\n".join(lines)


def _times(times: Spread) -> str:
    names = ("p50", "p90", "p99", "max")
    values = (times.p50, times.p90, times.p99, times.most)
    return ", ".join(f"{name} {_time(value)}" for name, value in zip(names, values, strict=True))


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{seconds * 1e3:.1f} ms"
