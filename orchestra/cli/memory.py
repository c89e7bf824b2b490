"""`orchestra memory`: what is known across sessions of a user or a project; list, show, forget."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import click

from orchestra.cli.options import owner_options, store_options
from orchestra.cli.printing import columns, cut, number, opened, say, say_json, when

if TYPE_CHECKING:
    from orchestra.memory.kept import Memory, Whose

_RECORDS_NAMED = 5


@click.group()
def memory() -> None:
    """What is known across sessions: list, show, forget."""


@memory.command("list")
@owner_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
def list_(user: str | None, project: str | None, as_json: bool, **where: str | None) -> None:
    """List what holds now, oldest first."""
    kept = [each for each in anyio.run(partial(_kept, user, project, where)) if each.until is None]
    if as_json:
        say_json([described(each) for each in kept])
        return
    if not kept:
        say(f"Nothing is kept of {_named(user, project)}.")
    for each in kept:
        say(cut(f"{each.id:<6} {each.kind:<10} {' '.join(_short(each).split())}", columns()))


@memory.command()
@click.argument("key")
@owner_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
def show(key: str, user: str | None, project: str | None, as_json: bool, **where: str | None) -> None:
    """Show KEY (a key, or a number such as m12) word for word, with its origin and what it was before."""
    from orchestra.errors import InputError

    kept = anyio.run(partial(_kept, user, project, where))
    found = [each for each in kept if _is(each, key)]
    numbers = {each.number for each in found}
    found = [each for each in kept if each.number in numbers or each.by in numbers]
    if not found:
        raise InputError(_unknown(key, kept, _named(user, project)), key="KEY")
    if as_json:
        say_json([described(each) for each in found])
        return
    for each in found:
        say(f"{each.id}  {each.kind}  {each.key}".rstrip(), bold=True)
        say(each.text)
        for source in each.sources:
            say(f"  source: {source}")
        until = f", until {when(each.until)}" if each.until is not None else ""
        say(f"  {when(each.at)}, session {each.session}{until}")


@memory.command()
@click.argument("key", required=False)
@owner_options
@click.option("--all", "everything", is_flag=True, help="All that is kept.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
def forget(key: str | None, user: str | None, project: str | None, **options: Any) -> None:
    """Delete KEY (a key, or a number such as m12) with its history, or with --all everything."""
    from orchestra.errors import InputError

    everything, as_json = options.pop("everything"), options.pop("as_json")
    if (key is None) != everything:
        raise InputError("Say what to forget: a KEY that `orchestra memory list` shows, or --all.", key="KEY")
    gone = anyio.run(partial(_forget, key, user, project, options))
    if as_json:
        say_json({"forgotten": [described(each) for each in gone.memories], "sessions": gone.sessions})
        return
    count = len(gone.memories)
    say(f"Forgotten: {count} {'memory' if count == 1 else 'memories'} of {_named(user, project)}.")
    if gone.sessions:
        named = ", ".join(gone.sessions[:_RECORDS_NAMED]) + (", ..." if count > _RECORDS_NAMED else "")
        say(
            f"The words still stand in the records of {number(len(gone.sessions), 'session')} ({named}): "
            "`orchestra store prune --session ID` deletes such a record."
        )


def described(each: Memory) -> dict[str, object]:
    """A memory as JSON; times in seconds since the epoch."""
    return {
        "id": each.id,
        "kind": each.kind,
        "user": each.user or None,
        "project": each.project or None,
        "key": each.key or None,
        "value": each.value or None,
        "text": each.text,
        "sources": each.sources,
        "always": each.always,
        "session": each.session,
        "at": each.at,
        "until": each.until,
        "by": f"m{each.by}" if each.by is not None else None,
    }


def _short(each: Memory) -> str:
    if each.kind == "answer":
        return f"{each.key} -> {each.text}"
    return f"{each.key}: {each.text}" if each.key else each.text


def _is(each: Memory, key: str) -> bool:
    return key in (each.id, each.key) or (bool(each.key) and each.key.lower() == key.strip().lower())


def _named(user: str | None, project: str | None) -> str:
    names = (("user", user), ("project", project))
    return ", ".join(f"{what} {name}" for what, name in names if name is not None)


def _unknown(key: str, kept: Iterable[Memory], named: str) -> str:
    from orchestra.tools.toolbox import nearest

    names = dict.fromkeys(each.key or each.id for each in kept)
    if not names:
        return f"Nothing is kept of {named}."
    return f"Nothing is kept of {named} under {key!r}; {nearest(key, names)}."


def _whose(user: str | None, project: str | None) -> Whose:
    from orchestra.errors import InputError
    from orchestra.memory.kept import whose

    found = whose({"user": user, "project": project})
    if not found:
        raise InputError("Say whose memory: --user ID, --project ID, or both.", key="--user")
    return found


async def _kept(user: str | None, project: str | None, where: dict[str, Any]) -> tuple[Memory, ...]:
    from orchestra.memory import shelf

    found = _whose(user, project)
    async with opened(where["store"], where["config"]) as reader:
        return await reader.do(shelf.all_of, found)


async def _forget(key: str | None, user: str | None, project: str | None, where: dict[str, Any]) -> Any:
    from orchestra.config.load import load_settings
    from orchestra.errors import InputError
    from orchestra.journal.journal import Journal
    from orchestra.memory import shelf

    found = _whose(user, project)
    settings = load_settings({"store": where["store"]}, config=where["config"], for_models=False).settings
    async with Journal.open(settings.store) as journal:
        which = None if key is None else (lambda each: _is(each, key))
        gone = await journal.do(shelf.forget, found, which)
        if key is not None and not gone.memories:
            kept = await journal.do(shelf.all_of, found)
            raise InputError(_unknown(key, kept, _named(user, project)), key="KEY")
    return gone
