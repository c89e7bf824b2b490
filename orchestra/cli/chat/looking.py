"""What a chat shows of its agent's context: the prompts, the blocks, the summaries, the bill."""

from __future__ import annotations

from collections.abc import Mapping

from orchestra.cli.chat.opening import Talk
from orchestra.cli.printing import columns, cut, joined, line, number, say, table, when
from orchestra.cli.prompt_printing import print_difference, print_entry, print_zones
from orchestra.cli.totals import row
from orchestra.context.assembly import Prompt
from orchestra.context.blocks import Entry
from orchestra.context.manifest import Manifest
from orchestra.errors import InputError
from orchestra.journal.prompts import read_prompt
from orchestra.session.conversation import Conversation
from orchestra.session.session import Session
from orchestra.values.usage import NO_USAGE, Usage

_SHOWN_LINES = 30
_IN_PROMPT = ("kept", "trimmed")
_LEAVES = {
    "never": "never leaves",
    "turn": "leaves after this turn",
    "used": "leaves when it is used",
    "full": "leaves when room is needed",
}


def next_prompt(conversation: Conversation) -> Prompt:
    """What would be sent now, before the next thing is said. Changes nothing; raises ContextOverflow."""
    return conversation.context.fork().prompt(conversation.tools)


def print_context(conversation: Conversation) -> None:
    """Zones as bars, then every block with its tokens, its age and the reason it is there."""
    manifest = next_prompt(conversation).manifest
    print_zones(manifest)
    say()
    away = []
    for entry in manifest.entries:
        if entry.source in ("chat format", "ask"):
            continue
        if entry.fate in _IN_PROMPT:
            print_entry(entry, _age(entry, manifest))
        else:
            away.append(entry)
    if away:
        say()
        say("not in the prompt", bold=True)
        for entry in away:
            print_entry(entry, _age(entry, manifest))


def _age(entry: Entry, manifest: Manifest) -> str:
    """How many model calls ago a block came."""
    if not entry.born or not entry.block[1:].isdigit():
        return ""
    calls = manifest.turn - entry.born
    return f"{number(calls, 'call')} ago" if calls > 0 else "new"


def print_block(conversation: Conversation, name: str) -> None:
    """One block: its place, its tokens, its reason, its end, and its text. Raises InputError."""
    manifest = next_prompt(conversation).manifest
    entry = next((each for each in manifest.entries if each.block == name), None)
    context = conversation.context
    block = next((each for each in context.blocks if each.id == name), None)
    if entry is None and block is None:
        raise InputError(f"There is no block {name!r} in this context; /context lists them.")
    if entry is not None:
        print_entry(entry, _age(entry, manifest))
    if block is not None:
        when_it_came = when(block.at) if block.at else ""
        pinned = "pinned" if block.pinned else _LEAVES[block.leaves]
        used = "nothing in it is needed any more" if block.used else ""
        say(line("  " + joined((when_it_came, block.why, pinned, used)), columns()))
    original = context.archive.get(block.ref if block is not None else entry.ref if entry else "")
    text = block.message.text if block is not None else original.text if original else ""
    calls = "" if block is None else "\n".join(f"→ {c.name} {c.arguments}" for c in block.message.calls)
    lines = "\n".join(filter(None, (text, calls))).splitlines()
    for each in lines[:_SHOWN_LINES]:
        say("  " + cut(each, columns() - 2))
    if len(lines) > _SHOWN_LINES:
        say(f"  … {len(lines) - _SHOWN_LINES:,} lines more", dim=True)


def print_versions(conversation: Conversation) -> None:
    """Every summary of the context, the current one marked."""
    versions = conversation.context.keeping.versions
    if not len(versions):
        say("There is no summary yet: nothing has left the context.", dim=True)
    for version in versions:
        mark = "*" if version is versions.current else " "
        about = joined((when(version.at) if version.at else "", f"by {version.by}"))
        covers = number(len(version.covers), "block")
        say(line(f"{mark} version {version.number} · {about} · stands for {covers}", columns()))


async def print_last_difference(talk: Talk, *, full: bool) -> None:
    """What came, went or changed between the last two prompts that were sent. Raises InputError."""
    session, conversation = talk.session, talk.conversation
    if session is None or conversation is None:
        raise InputError("Nothing has been said yet.")
    journal = talk.runtime.kit.journal
    await journal.flush()
    after = await read_prompt(journal, session.id, conversation.path, None)
    if len(after.turns) < 2:
        raise InputError("Only one prompt was sent so far: there is nothing to compare it with.")
    before = await read_prompt(journal, session.id, conversation.path, after.turns[-2])
    print_difference(session.id, conversation.path, before, after, full=full)


def total(usage: Mapping[str, Usage]) -> Usage:
    """All tiers together."""
    whole = NO_USAGE
    for each in usage.values():
        whole = whole + each
    return whole


def print_tokens(session: Session, conversation: Conversation, before: Usage) -> None:
    """What the last turn and the whole talk took; `before`: what it had taken when that turn began."""
    usage = session.usage
    whole = total(usage)
    rows = [row("this turn", _less(whole, before)), *(row(tier, each) for tier, each in usage.items())]
    if len(usage) > 1:
        rows.append(row("the talk", whole))
    elif usage:
        rows[-1] = ("the talk", *rows[-1][1:])
    head = ("", "calls", "tokens in", "cached", "tokens out", "cost")
    for text in table(head, [(*cells[:-1], cells[-1]) for cells in rows], left=1):
        say(text)
    say(line(f"context: {occupancy(conversation)}", columns()), dim=True)


def occupancy(conversation: Conversation) -> str:
    """How full the context is."""
    context = conversation.context
    tokens = sum(block.tokens for block in context.blocks)
    usable = context.budget.usable
    share = tokens / usable if usable else 1.0
    return f"{tokens:,} of {usable:,} tokens ({share:.0%})"


def _less(whole: Usage, before: Usage) -> Usage:
    cost = None if whole.cost is None or before.cost is None else max(whole.cost - before.cost, 0.0)
    return Usage(
        calls=whole.calls - before.calls,
        input_tokens=whole.input_tokens - before.input_tokens,
        cached_tokens=whole.cached_tokens - before.cached_tokens,
        output_tokens=whole.output_tokens - before.output_tokens,
        cost=cost,
    )
