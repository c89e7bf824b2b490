"""`orchestra stop`, `approvals`, `approve`, `refuse`: what people ask of sessions, wherever they run."""

from __future__ import annotations

import getpass
import time
from functools import partial
from typing import TYPE_CHECKING

import anyio
import click

from orchestra.cli.options import store_options
from orchestra.cli.printing import say, say_json, when

if TYPE_CHECKING:
    from orchestra.journal.reading import Reader
    from orchestra.journal.records import EventRecord, Order


@click.command()
@click.argument("session")
@click.option("--agent", default="", help="Only this agent, by its path, such as researcher.2.")
@click.option("--tool", default="", help="Only the running calls of this tool.")
@click.option("--reason", default="", help="Why; it stands in the journal and in the report.")
@store_options
def stop(session: str, agent: str, tool: str, reason: str, store: str | None, config: str | None) -> None:
    """Stop SESSION, one of its agents, or a tool: work ends within a second and can be resumed."""
    from orchestra.journal.records import Order

    order = Order(
        session=session, what="stop", agent=agent, tool=tool, reason=reason or "stopped by a person"
    )
    anyio.run(partial(_give, order, store, config))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
def approvals(as_json: bool, store: str | None, config: str | None) -> None:
    """List what sessions ask people, and wait for."""
    anyio.run(partial(_approvals, as_json, store, config))


@click.command()
@click.argument("session")
@click.argument("which", required=False, default="")
@click.option("--reason", default="", help="A word for the journal.")
@store_options
def approve(session: str, which: str, reason: str, store: str | None, config: str | None) -> None:
    """Say yes to what SESSION asks; WHICH (see `orchestra approvals`) where it asks more than one thing."""
    anyio.run(partial(_answer, "approve", (session, which, reason), store, config))


@click.command()
@click.argument("session")
@click.argument("which", required=False, default="")
@click.option("--reason", default="", help="Why not; the model reads it.")
@store_options
def refuse(session: str, which: str, reason: str, store: str | None, config: str | None) -> None:
    """Say no to what SESSION asks; WHICH (see `orchestra approvals`) where it asks more than one thing."""
    anyio.run(partial(_answer, "refuse", (session, which, reason), store, config))


async def _give(order: Order, store: str | None, config: str | None) -> None:
    from msgspec import structs

    from orchestra.config.load import load_settings
    from orchestra.journal.journal import Journal

    settings = load_settings({"store": store}, config=config, for_models=False).settings
    async with Journal.open(settings.store) as journal:
        found = await journal.find_session(order.session)
        if order.what == "stop" and found.status not in ("running", "waiting"):
            say(f"{found.id} is not at work: it is {found.status}.")
            return
        who = f"{getpass.getuser()} (shell)"
        reason = journal.clean(order.reason)
        await journal.give(structs.replace(order, session=found.id, who=who, reason=reason, at=time.time()))
    say(f"{found.id}: asked to {order.what}.")


async def _answer(what: str, answer: tuple[str, str, str], store: str | None, config: str | None) -> None:
    from orchestra.cli.printing import opened
    from orchestra.errors import InputError
    from orchestra.journal.records import Order

    name, which, reason = answer
    async with opened(store, config) as reader:
        found = await reader.find_session(name)
        asked = {event.data["key"]: event for event in await pending(reader, found.id)}
    keys = [key for key in asked if which in ("", key)]
    if len(keys) != 1:
        there = "; ".join(f"{key}: {event.data['what']}" for key, event in asked.items()) or "nothing"
        raise InputError(f"{found.id} asks {there}. Name one of them.", key="WHICH")
    order = Order(session=found.id, what=what, key=keys[0], reason=reason)  # type: ignore[arg-type] # one of two
    await _give(order, store, config)
    if found.status not in ("running", "waiting"):
        say(f"It is not at work: `orchestra resume {found.id}` goes on.")


async def pending(reader: Reader, session: str) -> tuple[EventRecord, ...]:
    """What a session has asked and nobody has answered."""
    from orchestra.journal import orders

    events = await reader.events(session, kinds=("approval",))
    given = await reader.do(orders.given, (session,))
    answered = {event.data["key"] for event in events if event.data["state"] == "answered"}
    answered |= {order.key for order in given if order.what != "stop"}
    open_ = {event.data["key"]: event for event in events if event.data["key"] not in answered}
    return tuple(open_.values())


async def _approvals(as_json: bool, store: str | None, config: str | None) -> None:
    from orchestra.cli.printing import opened

    async with opened(store, config) as reader:
        found = []
        for session in await reader.sessions(None):
            if session.status in ("done", "failed", "partial"):
                continue
            for event in await pending(reader, session.id):
                texts = await reader.texts(event.texts.values())
                found.append((session, event, texts.get(event.texts.get("detail", ""), "")))
    if as_json:
        say_json(
            [
                {
                    "session": session.id,
                    "status": session.status,
                    "asked": event.at,
                    **event.data,
                    "detail": detail,
                }
                for session, event, detail in found
            ]
        )
        return
    for session, event, detail in found:
        say(f"{session.id}  {event.data['key']}  {when(event.at)}  {session.status}", bold=True)
        say(f"  {event.data['what']}")
        if detail:
            say(f"  {detail}")
    if not found:
        say("Nobody is asked anything.")
