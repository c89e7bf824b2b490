"""`orchestra show`: a session's story, agent by agent, an event a line with its number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import click

from orchestra.cli.options import store_options
from orchestra.cli.printing import (
    STATUS_COLOURS,
    columns,
    cost,
    joined,
    line,
    number,
    opened,
    safe,
    say,
    say_json,
    seconds,
    when,
)
from orchestra.cli.sessions import described
from orchestra.journal.encoding import decode

if TYPE_CHECKING:
    from orchestra.journal.reading import Reader
    from orchestra.journal.records import EventRecord, SessionRecord, SessionTotals

# The texts whose beginning a line shows; results and reports are left in the store.
_SHOWN = ("task", "arguments", "text", "calls", "report")


@click.command()
@click.argument("session")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the events' texts.")
@store_options
def show(session: str, as_json: bool, store: str | None, config: str | None) -> None:
    """Tell what happened in SESSION: its id, the beginning of it, or `last`."""
    anyio.run(partial(_show, session, as_json, store, config))


async def _show(prefix: str, as_json: bool, store: str | None, config: str | None) -> None:
    async with opened(store, config) as reader:
        session = await reader.find_session(prefix)
        totals = (await reader.totals([session.id]))[session.id]
        events = await reader.events(session.id)
        question = await reader.text(session.question)
        wanted = None if as_json else _SHOWN
        stories = [(event, await _texts(reader, event, wanted)) for event in events]
    if as_json:
        story = [_as_json(event, texts) for event, texts in stories]
        say_json({**described(session, totals, question), "config": session.config, "events": story})
        return
    _print_head(session, totals, question)
    _print_story(session, stories)


async def _texts(reader: Reader, event: EventRecord, wanted: tuple[str, ...] | None) -> Mapping[str, str]:
    """The event's texts by name; a prompt's are what `orchestra context` prints."""
    if event.kind == "prompt":
        return {}
    named = {name: where for name, where in event.texts.items() if wanted is None or name in wanted}
    found = await reader.texts(named.values()) if named else {}
    return {name: found[where] for name, where in named.items()}


def _as_json(event: EventRecord, texts: Mapping[str, str]) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "agent": event.agent,
        "turn": event.turn,
        "kind": event.kind,
        "at": event.at,
        "data": event.data,
        "texts": texts,
    }


def _print_head(session: SessionRecord, totals: SessionTotals, question: str) -> None:
    width = columns()
    spent = seconds(session.finished - session.created) if session.finished is not None else ""
    usage = totals.usage
    say(f"{session.id}  {session.status}", fg=STATUS_COLOURS.get(session.status), bold=True)
    counts = (number(totals.agents, "agent"), number(usage.calls, "call"), f"{usage.tokens:,} tokens")
    say(line(joined((when(session.created), spent, *counts, cost(usage))), width))
    say(line(question, width))


def _print_story(session: SessionRecord, stories: list[tuple[EventRecord, Mapping[str, str]]]) -> None:
    """The session's own events stand around its agents, each a branch, in the order in which they began."""
    branches: dict[str, list[tuple[EventRecord, Mapping[str, str]]]] = {}
    for event, texts in stories:
        branches.setdefault(event.agent, []).append((event, texts))
    own = branches.pop("", [])
    first = min((branch[0][0].seq for branch in branches.values()), default=0)
    width = columns()
    for event, texts in own:
        if not branches or event.seq < first:
            _print_event(session, event, texts, "│  " if branches else "", width)
    for name, branch in branches.items():
        say(line(f"├─ {name}", width), bold=True)
        for event, texts in branch:
            _print_event(session, event, texts, "│  ", width)
    for event, texts in own:
        if branches and event.seq > first:
            _print_event(session, event, texts, "└  ", width)


def _print_event(
    session: SessionRecord, event: EventRecord, texts: Mapping[str, str], margin: str, width: int
) -> None:
    when = f"{event.at - session.created:>+8.2f} s"
    start = f"{margin}{event.seq:>4} {when}  {event.kind.replace('_', ' '):<13} "
    told = _TELLERS.get(event.kind, _tell_other)(event, texts)
    turn = f"{event.turn}: " if event.kind == "prompt" else ""
    bad = event.kind == "failed" or event.data.get("error") or event.data.get("status") == "failed"
    say(start + line(turn + told, max(width - len(start), 10)), **({"fg": "red"} if bad else {}))


def _tell_started(event: EventRecord, texts: Mapping[str, str]) -> str:
    return texts.get("task") or texts.get("text") or _tell_other(event, texts)


def _tell_prompt(event: EventRecord, texts: Mapping[str, str]) -> str:
    del texts
    return number(event.data.get("count", 0), "message")


def _tell_call(event: EventRecord, texts: Mapping[str, str]) -> str:
    del texts
    data = event.data
    return joined(
        (f"{data.get('model', '?')}", str(data.get("tier", "")), f"{data.get('tokens', 0):,} tokens")
    )


def _tell_reply(event: EventRecord, texts: Mapping[str, str]) -> str:
    data = event.data
    calls = decode(texts["calls"]) if texts.get("calls") else []
    said = ", ".join(str(call.get("name")) for call in calls) or texts.get("text", "")
    price = data.get("cost")
    counts = f"{data.get('input_tokens', 0):,} in, {data.get('output_tokens', 0):,} out"
    money = "cost unknown" if price is None else f"${price:.4f}" if price else ""
    return joined((counts, money, f"{data.get('seconds', 0):.2f} s", said))


def _tell_tool_called(event: EventRecord, texts: Mapping[str, str]) -> str:
    return f"{event.data.get('tool', '?')} {texts.get('arguments', '')}"


def _tell_tool_returned(event: EventRecord, texts: Mapping[str, str]) -> str:
    del texts
    data = event.data
    passages = number(data["passages"], "passage") if data.get("passages") else ""
    return joined(
        (f"{data.get('tool', '?')}", str(data.get("error", "")), passages, f"{data.get('seconds', 0):.2f} s")
    )


def _tell_handoff(event: EventRecord, texts: Mapping[str, str]) -> str:
    del texts
    data = event.data
    left_out = f"{data['left_out']:,} left out" if data.get("left_out") else ""
    tokens = f"{data.get('tokens', 0):,} of {data.get('cap', 0):,} tokens"
    words = [str(data.get(name, "")) for name in ("status", "reason")]
    return joined((f"to {data.get('receiver', '?')}", words[0], tokens, left_out, words[1]))


def _tell_verified(event: EventRecord, texts: Mapping[str, str]) -> str:
    data = event.data
    share = f"{data.get('supported_share', 0):.0%} supported"
    return joined((share, number(data.get("words", 0), "word"), str(data.get("partial", "")), _title(texts)))


def _title(texts: Mapping[str, str]) -> str:
    try:
        report = decode(texts.get("report", "{}"))
    except ValueError:
        return ""
    return str(report.get("title", "")) if isinstance(report, dict) else ""


def _tell_end(event: EventRecord, texts: Mapping[str, str]) -> str:
    del texts
    return joined((str(event.data.get("status", "")), str(event.data.get("reason", ""))))


def _tell_other(event: EventRecord, texts: Mapping[str, str]) -> str:
    """Whatever the data says; for notes, compactions and kinds of a workflow's own."""
    del texts
    told = (f"{name} {_value(value)}" for name, value in event.data.items() if value not in ("", None))
    return joined(told)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_value(part)}" for name, part in value.items())
    return safe(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value))


_TELLERS: Mapping[str, Callable[[EventRecord, Mapping[str, str]], str]] = {
    "started": _tell_started,
    "said": _tell_started,
    "answered": _tell_end,
    "prompt": _tell_prompt,
    "call": _tell_call,
    "reply": _tell_reply,
    "tool_called": _tell_tool_called,
    "tool_returned": _tell_tool_returned,
    "handoff": _tell_handoff,
    "verified": _tell_verified,
    "finished": _tell_end,
    "failed": _tell_end,
}
