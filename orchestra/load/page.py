"""The page of a load test: one HTML file that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from orchestra.load.charts import Axes, Line, histogram, line_chart
from orchestra.load.figures import MIB, Figures, figures_of
from orchestra.load.plan import LoadResult
from orchestra.load.table import rows_of

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --soft: #68707f; --rule: #e2e5ea; --ground: #fff;
  --a: #2f6fdb; --b: #d9822b; --c: #2e9e6b; --bad: #c23b3b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaf0; --soft: #9aa3b2; --rule: #333a46;
  --ground: #161a21; --a: #6ea0f5; --b: #eda45c; --c: #5cc697; --bad: #f07878; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  max-width: 1180px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .2rem; } .verdict { font-weight: 600; margin: 0 0 1.2rem; }
.good { color: var(--c); } .bad { color: var(--bad); }
table { border-collapse: collapse; margin-bottom: 1.5rem; width: 100%; }
th { text-align: left; font-weight: 500; color: var(--soft); white-space: nowrap; vertical-align: top;
  padding: .25rem 1.5rem .25rem 0; } td { padding: .25rem 0; font-variant-numeric: tabular-nums; }
tr { border-bottom: 1px solid var(--rule); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 1.2rem 1.6rem; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .2rem; }
svg { width: 100%; height: auto; }
.line { fill: none; stroke-width: 1.6; } .bar { fill: var(--a); } .grid { stroke: var(--rule); }
.mark { stroke: var(--bad); stroke-dasharray: 4 3; } text { font-size: 11px; fill: var(--soft); }
.name { fill: var(--ink); } .a { stroke: var(--a); } .b { stroke: var(--b); } .c { stroke: var(--c); }
.key.a { fill: var(--a); } .key.b { fill: var(--b); } .key.c { fill: var(--c); }
"""


def page_of(result: LoadResult) -> str:
    """The whole page."""
    figures = figures_of(result)
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in rows_of(result, figures)
    )
    good = not figures.problems
    verdict = (
        "Every session is accounted for and none saw another's data." if good else "This test has FAILED."
    )
    problems = "".join(f"<li>{escape(line)}</li>" for line in figures.problems[:50])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Load test</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>Load test</h1>"
        f'<p class="verdict {"good" if good else "bad"}">{verdict}</p>'
        f"{f'<ul class=bad>{problems}</ul>' if problems else ''}"
        f'<table>{rows}</table><div class="charts">{"".join(_charts(result, figures))}</div></body></html>\n'
    )


def _charts(result: LoadResult, figures: Figures) -> Iterator[str]:
    samples = result.samples
    ended = [outcome for outcome in result.outcomes if outcome.fate in ("done", "partial")]
    latency = figures.latency
    marks = ((figures.ideal, "ideal"), (latency.p50, "p50"), (latency.p99, "p99"))
    seconds = [outcome.seconds for outcome in ended]
    yield histogram(Axes("Latency of sessions", "seconds", "sessions", marks), seconds)
    started = [(outcome.intended - result.began, outcome.seconds) for outcome in ended]
    yield line_chart(
        Axes("Latency by start", "seconds since the start", "seconds"), [Line("latency", "a", started)]
    )
    yield line_chart(
        Axes("Where the time of a session goes", "sessions, by start", "seconds"),
        [
            Line("queue", "b", [(at, outcome.queued) for at, outcome in enumerate(ended)]),
            Line("model and tools", "a", [(at, outcome.model) for at, outcome in enumerate(ended)]),
            Line("runtime", "c", [(at, outcome.runtime) for at, outcome in enumerate(ended)]),
        ],
    )
    pace = [
        (later.at, (later.ended - sooner.ended) / (later.at - sooner.at))
        for sooner, later in zip(samples[:-10:10], samples[10::10], strict=False)
    ]
    yield line_chart(Axes("Sessions a second", "seconds", "a second"), [Line("ended", "a", pace)])
    yield line_chart(
        Axes("Sessions", "seconds", "sessions"),
        [
            Line("at work", "a", [(sample.at, sample.active) for sample in samples]),
            Line("waiting", "b", [(sample.at, sample.waiting) for sample in samples]),
        ],
    )
    yield line_chart(
        Axes("Resident memory", "seconds", "MiB"),
        [Line("memory", "c", [(sample.at, sample.memory / MIB) for sample in samples])],
    )
    yield line_chart(
        Axes("Event-loop lag", "seconds", "ms"),
        [Line("lag", "b", [(sample.at, sample.lag * 1e3) for sample in samples])],
    )
