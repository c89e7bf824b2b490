"""`orchestra doctor`: what is wrong with what an agent was sent, block by block, and the mend."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import anyio
import click
import msgspec
from msgspec import Struct

from orchestra.cli.options import store_options
from orchestra.cli.printing import columns, joined, line, number, opened, say, say_json
from orchestra.errors import InputError

if TYPE_CHECKING:
    from orchestra.context.doctor.finding import Finding
    from orchestra.context.manifest import Manifest
    from orchestra.journal.reading import Reader

SICK = 1


class Examined(Struct, frozen=True):
    """One prompt with what is wrong with it."""

    agent: str
    turn: int
    findings: tuple[Finding, ...]


@click.command()
@click.argument("session")
@click.option("--agent", metavar="A", help="Whose prompts: its path, or the beginning of it. Default: all.")
@click.option("--turn", type=int, metavar="N", help="Which of its model calls, from 1. Default: all.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
def doctor(
    session: str, store: str | None, config: str | None, agent: str | None, turn: int | None, as_json: bool
) -> None:
    """Examine the prompts of SESSION: its id, the beginning of it, or `last`.

    Exit codes: 0 healthy, 1 something was found, 2 a mistake in the call.
    """
    found, name = anyio.run(partial(_examine, session, store, config, agent, turn))
    if as_json:
        say_json({"session": name, "prompts": len(found), "findings": _as_json(found)})
    else:
        _print(name, found)
    if any(one.findings for one in found):
        raise click.exceptions.Exit(SICK)


async def _examine(
    prefix: str, store: str | None, config: str | None, wanted: str | None, turn: int | None
) -> tuple[list[Examined], str]:
    from orchestra.context.doctor.diagnosis import diagnose
    from orchestra.journal.prompts import read_prompt

    found: list[Examined] = []
    async with opened(store, config) as reader:
        session = await reader.find_session(prefix)
        for agent, recorded in (await _turns(reader, session.id, wanted)).items():
            if turn is not None and turn not in recorded and wanted is None:
                continue
            for at in recorded if turn is None else (turn,):
                prompt = await read_prompt(reader, session.id, agent, at)
                findings = diagnose(prompt.messages, prompt.tools, _manifest(prompt.manifest))
                found.append(Examined(agent, prompt.turn, findings))
    if not found:
        raise InputError(f"No agent of {session.id} has a turn {turn}.")
    return found, session.id


async def _turns(reader: Reader, session: str, wanted: str | None) -> dict[str, list[int]]:
    """The recorded turns of each agent whose path is or begins with `wanted`."""
    turns: dict[str, list[int]] = {}
    for event in await reader.events(session, kinds=("prompt",)):
        if "beside" not in event.data:
            known = turns.setdefault(event.agent, [])
            if event.turn not in known:
                known.append(event.turn)
    if not turns:
        raise InputError(f"No prompt is recorded in {session}.")
    if wanted is None:
        return turns
    found = {name: known for name, known in turns.items() if name == wanted}
    found = found or {name: known for name, known in turns.items() if name.startswith(wanted)}
    if not found:
        raise InputError(
            f"No agent {wanted!r} has asked a model in {session}; there are: {', '.join(turns)}."
        )
    return found


def _manifest(text: str) -> Manifest | None:
    """None where none was recorded, or one of another version."""
    from orchestra.context.manifest import from_json

    if not text:
        return None
    try:
        return from_json(text)
    except msgspec.ValidationError:
        return None


def _as_json(found: list[Examined]) -> list[dict[str, object]]:
    return [
        {"agent": one.agent, "turn": one.turn, **msgspec.structs.asdict(finding)}
        for one in found
        for finding in one.findings
    ]


def _print(session: str, found: list[Examined]) -> None:
    width = columns()
    sick = [one for one in found if one.findings]
    for one in sick:
        say(line(joined((one.agent, f"turn {one.turn}")), width), bold=True)
        for finding in one.findings:
            say("  " + line(f"{finding.disease} · {finding.block}", width - 2), fg="yellow")
            _wrapped(finding.sentence, width)
            _wrapped(f"→ {finding.mend}", width)
    count = sum(len(one.findings) for one in sick)
    told = f"{number(count, 'finding')} in {len(sick)} of " if sick else "nothing found in "
    say(line(f"{session}: {told}{number(len(found), 'prompt')}", width))


def _wrapped(text: str, width: int) -> None:
    from rich.console import Console
    from rich.text import Text

    from orchestra.cli.printing import safe

    console = Console(width=max(width - 4, 20))
    for part in Text(safe(" ".join(text.split()))).wrap(console, max(width - 4, 20)):
        say("    " + part.plain.rstrip())
