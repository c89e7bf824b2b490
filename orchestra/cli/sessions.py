"""`orchestra sessions`: what the journal holds, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import anyio
import click

from orchestra.cli.options import store_options
from orchestra.cli.printing import (
    STATUS_COLOURS,
    columns,
    cost,
    cut,
    joined,
    line,
    number,
    opened,
    say,
    say_json,
    table,
    when,
)

if TYPE_CHECKING:
    from orchestra.journal.records import SessionRecord, SessionTotals

# Under this width a session is printed on three lines in place of one.
_TABLE_COLUMNS = 110


@click.command()
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
def sessions(limit: int, as_json: bool, store: str | None, config: str | None) -> None:
    """List the sessions in the journal, newest first."""
    anyio.run(partial(_sessions, limit, as_json, store, config))


async def _sessions(limit: int, as_json: bool, store: str | None, config: str | None) -> None:
    async with opened(store, config) as reader:
        found = await reader.sessions(limit)
        totals = await reader.totals([session.id for session in found])
        questions = await reader.texts(session.question for session in found) if as_json else {}
    if as_json:
        say_json([described(each, totals[each.id], questions[each.question]) for each in found])
    elif not found:
        say("No sessions yet.")
    elif columns() >= _TABLE_COLUMNS:
        _print_table(found, totals)
    else:
        for session in found:
            _print_block(session, totals[session.id])


def described(session: SessionRecord, totals: SessionTotals, question: str) -> dict[str, object]:
    """A session as JSON; times in seconds since the epoch, cost in US dollars."""
    return {
        "id": session.id,
        "status": session.status,
        "question": question,
        "workflow": session.workflow,
        "created": session.created,
        "finished": session.finished,
        "agents": totals.agents,
        "calls": totals.usage.calls,
        "tokens": totals.usage.tokens,
        "cost": totals.usage.cost,
    }


def _print_table(found: tuple[SessionRecord, ...], totals: Mapping[str, SessionTotals]) -> None:
    head = ("session", "when", "status", "agents", "calls", "tokens", "cost", "question")
    rows = []
    for session in found:
        used = totals[session.id]
        usage = used.usage
        price = "unknown" if usage.cost is None else f"${usage.cost:.4f}"
        counts = (f"{used.agents:,}", f"{usage.calls:,}", f"{usage.tokens:,}", price)
        rows.append((session.id, when(session.created), session.status, *counts, line(session.title, 300)))
    width = columns()
    for text in table(head, rows, left=3):
        say(cut(text, width))


def _print_block(session: SessionRecord, totals: SessionTotals) -> None:
    width = columns()
    say(line(f"{session.id}  {session.status}", width), fg=STATUS_COLOURS.get(session.status), bold=True)
    usage = totals.usage
    counts = (number(totals.agents, "agent"), number(usage.calls, "call"), f"{usage.tokens:,} tokens")
    say("  " + line(joined((when(session.created), *counts, cost(usage))), width - 2))
    say("  " + line(session.title, width - 2))
