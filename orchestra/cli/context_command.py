"""`orchestra context`: what an agent was sent in one of its turns, zone by zone, and why."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import click
from msgspec import structs

from orchestra.cli.options import store_options
from orchestra.cli.printing import opened, say_json
from orchestra.errors import InputError

if TYPE_CHECKING:
    from orchestra.journal.prompts import RecordedPrompt
    from orchestra.journal.reading import Reader


@click.command()
@click.argument("session")
@click.option(
    "--agent", metavar="A", help="Whose prompt: its path, or the beginning of it. Default: the last to ask."
)
@click.option("--turn", type=int, metavar="N", help="Which of its model calls, from 1. Default: the last.")
@click.option("--diff", type=int, nargs=2, metavar="N M", help="What came, went or changed from turn N to M.")
@click.option("--full", is_flag=True, help="Print the texts whole.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
def context(session: str, store: str | None, config: str | None, **options: Any) -> None:
    """Print what was sent to the model in SESSION: its id, the beginning of it, or `last`."""
    anyio.run(partial(_context, session, store, config, options))


async def _context(prefix: str, store: str | None, config: str | None, options: dict[str, Any]) -> None:
    from orchestra.cli import prompt_printing

    if options["diff"] and options["turn"] is not None:
        raise InputError("--diff names both turns itself: leave --turn out.")
    async with opened(store, config) as reader:
        session = await reader.find_session(prefix)
        agent = await _agent(reader, session.id, options["agent"])
        turns = options["diff"] or (options["turn"],)
        prompts = [await _prompt(reader, session.id, agent, turn) for turn in turns]
    if options["as_json"]:
        read = [_as_json(session.id, agent, prompt) for prompt in prompts]
        say_json({"before": read[0], "after": read[1]} if options["diff"] else read[0])
    elif options["diff"]:
        prompt_printing.print_difference(session.id, agent, *prompts, full=options["full"])
    else:
        prompt_printing.print_prompt(session.id, agent, prompts[0], full=options["full"])


async def _agent(reader: Reader, session: str, wanted: str | None) -> str:
    """The agent whose path is or begins with `wanted`; without it, the one that asked last."""
    asked = [event.agent for event in await reader.events(session, kinds=("prompt",))]
    if not asked:
        raise InputError(f"No prompt is recorded in {session}.")
    if wanted is None:
        return asked[-1]
    names = list(dict.fromkeys(asked))
    found = [name for name in names if name == wanted] or [name for name in names if name.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{len(found)} agents of {session} begin with {wanted!r}: {', '.join(found)}.")
    raise InputError(f"No agent {wanted!r} has asked a model in {session}; there are: {', '.join(names)}.")


async def _prompt(reader: Reader, session: str, agent: str, turn: int | None) -> RecordedPrompt:
    from orchestra.journal.prompts import read_prompt

    return await read_prompt(reader, session, agent, turn)


def _manifest(recorded: str) -> dict[str, Any] | None:
    """A manifest with all its fields, also with those that are recorded only where they are unusual."""
    from orchestra.context.manifest import from_json

    if not recorded:
        return None
    manifest = from_json(recorded)
    return {**structs.asdict(manifest), "entries": [structs.asdict(entry) for entry in manifest.entries]}


def _as_json(session: str, agent: str, prompt: RecordedPrompt) -> dict[str, Any]:
    return {
        "session": session,
        "agent": agent,
        "turn": prompt.turn,
        "turns": prompt.turns,
        "at": prompt.at,
        "manifest": _manifest(prompt.manifest),
        "messages": [
            {
                "role": message.role,
                "text": message.text,
                "calls": message.calls,
                "call_id": message.call_id,
                "reasoning": message.reasoning,
            }
            for message in prompt.messages
        ],
        "tools": prompt.tools,
    }
