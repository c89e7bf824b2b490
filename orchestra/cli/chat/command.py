"""`orchestra chat`: talk with an agent, look at what it sees, change it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestra.cli.loop import run_loop
from orchestra.cli.options import owner_options, settings_options
from orchestra.log import configure

if TYPE_CHECKING:
    from orchestra.config.settings import Resolved


@click.command()
@click.option("--agent", default="chat", show_default=True, help="The role to talk with.")
@click.option("--docs", type=click.Path(path_type=Path), help="A folder of documents to answer from.")
@click.option("--session", default="", metavar="SESSION", help="The talk to go on with, by its id.")
@click.option("--new", is_flag=True, help="Begin a new talk in place of going on with the last one.")
@click.option("--budget", metavar="DOLLARS", help="What the talk may cost in US dollars.")
@click.option("--tokens", metavar="N", help="Tokens it may use, as in 200k.")
@owner_options
@settings_options
def chat(docs: Path | None, resolved: Resolved, **options: Any) -> int:
    """Talk with an agent; the last talk over the same documents goes on unless --new is given."""
    from orchestra.cli.chat.opening import Wanted
    from orchestra.cli.chat.program import Chat
    from orchestra.errors import InputError
    from orchestra.memory.kept import whose

    if options["new"] and options["session"]:
        raise InputError("--new begins another talk, and --session goes on with one: leave one of them out.")
    owner = whose({"user": options["user"], "project": options["project"]})
    logging = resolved.settings.logging
    if logging.level == "warning":  # the usual one: what matters is said in the talk
        configure("error", as_json=logging.json)
    # Input is UTF-8 whatever the terminal says, as the output is (see cli.main).
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    wanted = Wanted(
        agent=options["agent"],
        user=owner.user,
        project=owner.project,
        session=options["session"],
        new=options["new"],
        documents=str(docs.resolve()) if docs is not None else "",
        reports=resolved.settings.reports,
    )
    return run_loop(Chat(wanted, resolved).run)
