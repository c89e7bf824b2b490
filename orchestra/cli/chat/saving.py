"""A talk as Markdown, with its sources."""

from __future__ import annotations

import re
from collections.abc import Sequence

import anyio

from orchestra.cli.chat.opening import Talk
from orchestra.cli.printing import when
from orchestra.errors import InputError
from orchestra.evidence.ledger import Ledger
from orchestra.session.conversation import Conversation, Exchange

_LABEL = re.compile(r"\[(s\d+(?:\s*[,;]\s*s\d+)*)\]")


async def save(talk: Talk, conversation: Conversation, file: str) -> str:
    """Write it and say where; without a name beside the reports. Raises InputError."""
    assert talk.session is not None
    path = anyio.Path(file or f"{talk.wanted.reports}/{talk.session.id}.md")
    text = as_markdown(talk, conversation)
    try:
        await path.parent.mkdir(parents=True, exist_ok=True)
        await path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"The talk cannot be written to {path}: {error.strerror}.") from error
    return str(path)


def as_markdown(talk: Talk, conversation: Conversation) -> str:
    """The whole talk, cleared parts too."""
    session, name = talk.session, talk.wanted.agent
    assert session is not None
    if not conversation.turns:
        raise InputError("Nothing has been said yet.")
    parts = [f"# Talk with {name}", f"{when(conversation.turns[0].at)} · session {session.id}"]
    for exchange in conversation.turns:
        parts += ["## You", exchange.said, f"## {name}", *_answer(exchange)]
    if listed := sources(session.ledger, conversation.path, conversation.turns):
        parts += ["## Sources", "\n".join(f"- {label}: {where}" for label, where in listed)]
    return "\n\n".join(parts) + "\n"


def _answer(exchange: Exchange) -> list[str]:
    outcome = exchange.outcome
    parts = [outcome.text] if outcome.text else []
    return [*parts, f"*({outcome.reason})*"] if outcome.reason else parts


def sources(ledger: Ledger, agent: str, turns: Sequence[Exchange]) -> list[tuple[str, str]]:
    """The labels that the answers name, with where and what each source is."""
    named: dict[str, None] = {}
    for exchange in turns:
        for match in _LABEL.finditer(exchange.outcome.text):
            named.update(dict.fromkeys(re.split(r"\s*[,;]\s*", match[1])))
    found = []
    for label in sorted(named, key=lambda label: int(label[1:])):
        document = ledger.document(agent, label)
        if document is not None:
            same = document.title in ("", document.locator)
            where = document.locator if same else f"{document.locator}, {document.title}"
            found.append((label, " ".join(where.split())))
    return found
