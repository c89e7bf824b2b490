"""`orchestra replay`: a recorded session runs again with no model and no network."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click

from orchestra.cli.options import store_options

if TYPE_CHECKING:
    from orchestra.config.settings import Settings


@click.command()
@click.argument("session")
@click.option("--format", "form", type=click.Choice(["md", "html", "json"]), default="md", show_default=True)
@click.option("--agents", help="A folder of your own role files.")
@store_options
def replay(session: str, form: str, agents: str | None, store: str | None, config: str | None) -> None:
    """Run SESSION again from its record alone: an id, or a file that `orchestra store export` wrote.

    Ends in the same report byte for byte, or says where roles, tools or workflow differ from the record.
    """
    from orchestra.config.load import load_settings

    settings = load_settings({"store": store, "agents": agents}, config=config, for_models=False).settings
    click.echo(anyio.run(partial(_replay, session, form, settings)))


async def _replay(session: str, form: Any, settings: Settings) -> str:
    from orchestra.evidence.render import render_report
    from orchestra.journal.export import read_export
    from orchestra.journal.reading import read_journal
    from orchestra.session.outputs import as_json
    from orchestra.testing.replay import Replaying
    from orchestra.testing.replay import replay as run
    from orchestra.values.report import Report

    how = Replaying(settings=settings)
    if Path(session).suffix == ".jsonl":
        async with read_export(session) as (reader, name):
            result = await run(reader, name, how)
    else:
        async with read_journal(settings.store) as reader:
            result = await run(reader, session, how)
    return render_report(result, form) if isinstance(result, Report) else as_json(result)
