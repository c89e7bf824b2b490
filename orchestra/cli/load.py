"""`orchestra load`: many sessions at once, measured, and searched for what they should not see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from orchestra.cli.loop import run_loop
from orchestra.cli.main import FAILED
from orchestra.errors import InputError


class Amount(click.ParamType[float]):
    """A share written as 5% or 0.05, or a time written as 200ms, 0.2s or 0.2."""

    name = "amount"

    def __init__(self, units: dict[str, float], most: float) -> None:
        self._units = units
        self._most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        text = str(value).strip()
        unit = next((unit for unit in self._units if text.endswith(unit)), "")
        try:
            amount = float(text.removesuffix(unit)) * self._units.get(unit, 1.0)
        except ValueError:
            amount = -1.0
        if not 0 <= amount <= self._most:
            self.fail(f"{value!r} is not an amount such as {self._example()}.", param, ctx)
        return amount

    def _example(self) -> str:
        return "5%" if "%" in self._units else "200ms"


SHARE = Amount({"%": 0.01}, 1.0)
TIME = Amount({"ms": 0.001, "s": 1.0}, 3_600.0)


@click.command()
@click.option("--workflow", default="research", show_default=True, help="Or module:function.")
@click.option("--sessions", default=200, show_default=True, type=click.IntRange(1), help="How many in all.")
@click.option(
    "--concurrency", default=50, show_default=True, type=click.IntRange(1), help="How many at once."
)
@click.option(
    "--rate", type=click.FloatRange(0, min_open=True), help="Begin so many a second instead, come what may."
)
@click.option(
    "--endpoint", default="simulated", show_default=True, metavar="URL", help="A base URL, or simulated."
)
@click.option("--model", default="small", show_default=True, help="The model's name at the endpoint.")
@click.option("--latency", default=0.2, type=TIME, help="Of the simulated endpoint: 200ms, 1.5s.  [200ms]")
@click.option("--faults", default=0.0, type=SHARE, help="Share of its replies that fail: 5%.")
@click.option("--cancel", default=0.0, type=SHARE, help="Share of sessions cancelled on their way: 5%.")
@click.option("--warmup", default=5, show_default=True, type=click.IntRange(1), help="Sessions before it.")
@click.option("--seed", default=0, help="The same luck each time.")
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False), help="Write a page (HTML).")
@click.option("--store", type=click.Path(path_type=Path, dir_okay=False), help="Keep the journal here.")
def load(**options: Any) -> int:
    """Run many sessions at once against a simulated endpoint, or a real one, and measure.

    Every session carries strings of its own in its question, its user's facts, its documents and its tools'
    results. Every prompt, reply, report and row of the journal is searched for other sessions' strings: one
    is enough to fail the command.
    """
    from orchestra.load.plan import LoadPlan

    endpoint = options["endpoint"]
    if endpoint == "simulated":
        endpoint = None
    elif not endpoint.startswith(("http://", "https://")):
        raise InputError(f"{endpoint!r} is no endpoint; name a base URL, or simulated.", key="--endpoint")
    plan = LoadPlan(
        workflow=options["workflow"],
        sessions=options["sessions"],
        concurrency=options["concurrency"],
        rate=options["rate"],
        endpoint=endpoint,
        model=options["model"],
        latency_seconds=options["latency"],
        faults=options["faults"],
        cancel=options["cancel"],
        warmup=options["warmup"],
        seed=options["seed"],
        store=options["store"],
    )
    return _run(plan, options["report"])


def _run(plan: Any, report: Path | None) -> int:
    from orchestra.load.figures import problems_of
    from orchestra.load.page import page_of
    from orchestra.load.run import run_load
    from orchestra.load.table import table_of

    result = run_loop(run_load, plan, lambda line: click.echo(line, err=True))
    click.echo(table_of(result))
    if report is not None:
        try:
            report.write_text(page_of(result), encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"The page cannot be written to {report}: {error.strerror}.", key="--report"
            ) from error
        click.echo(f"page: {report}", err=True)
    return FAILED if problems_of(result) else 0
