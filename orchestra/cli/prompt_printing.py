"""A recorded prompt for people: its zones, its messages with the blocks in them, what was left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec import structs

from orchestra.cli.printing import columns, cut, joined, line, number, safe, say, table, when
from orchestra.context.blocks import Entry
from orchestra.context.manifest import Manifest, difference, from_json
from orchestra.journal.prompts import RecordedPrompt
from orchestra.values.messages import Message

# Lines of a message that are shown without --full: the first and the last of them.
_FIRST_LINES, _LAST_LINES = 8, 3
_IN_PROMPT = ("kept", "trimmed")
_BESIDE_BARS, _LONGEST_BAR = 34, 40  # columns
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_FATE_COLOURS = {"trimmed": "yellow", "summarised": "yellow", "offloaded": "magenta", "dropped": "red"}


def print_prompt(session: str, agent: str, prompt: RecordedPrompt, *, full: bool) -> None:
    """The whole prompt of one turn."""
    width = columns()
    manifest = _manifest(prompt)
    turns = f"turn {prompt.turn} of {prompt.turns[-1]}"
    say(line(joined((agent, turns, when(prompt.at), session)), width), bold=True)
    if manifest is None:
        say(line(f"{number(len(prompt.messages), 'message')}; how it was made is not recorded.", width))
        for message in prompt.messages:
            _print_message(message, (), full=full)
        return
    print_zones(manifest)
    here = [entry for entry in manifest.entries if entry.fate in _IN_PROMPT]
    for entry in here:
        if entry.zone == "tools" or entry.source == "chat format":
            print_entry(entry)
    for message, entries in zip(prompt.messages, aligned(prompt.messages, here), strict=True):
        _print_message(message, entries, full=full)
    absent = [entry for entry in manifest.entries if entry.fate not in _IN_PROMPT]
    if absent:
        say()
        say("not in the prompt", bold=True)
    for entry in absent:
        print_entry(entry)


def print_difference(
    session: str, agent: str, before: RecordedPrompt, after: RecordedPrompt, *, full: bool
) -> None:
    """What came, went or changed between two prompts of an agent."""
    width = columns()
    say(line(joined((agent, f"turn {before.turn} → turn {after.turn}", session)), width), bold=True)
    old, new = _manifest(before), _manifest(after)
    if old is not None and new is not None:
        say(line(f"{old.tokens:,} → {new.tokens:,} tokens ({new.tokens - old.tokens:+,})", width))
        for change in difference(old, new):
            _print_change(change.before, change.after, width)
    known = set(map(_said, before.messages))
    came = [message for message in after.messages if _said(message) not in known]
    kept = set(map(_said, after.messages))
    gone = [message for message in before.messages if _said(message) not in kept]
    for title, messages in (("messages that came", came), ("messages that went", gone)):
        if messages:
            say()
            say(f"{title}: {len(messages)}", bold=True)
        for message in messages:
            _print_message(message, (), full=full)
    if not came and not gone:
        say("The messages are the same.")


def _said(message: Message) -> tuple[object, ...]:
    return message.role, message.text, message.calls, message.call_id


def _manifest(prompt: RecordedPrompt) -> Manifest | None:
    """None where none was recorded, or one of another version."""
    if not prompt.manifest:
        return None
    try:
        return from_json(prompt.manifest)
    except msgspec.ValidationError:
        return None


def print_zones(manifest: Manifest) -> None:
    """A line a zone with its share as a bar; those without tokens are left out."""
    width = min(max(columns() - _BESIDE_BARS, 8), _LONGEST_BAR)
    parts = [(str(zone), tokens) for zone, tokens in manifest.zones().items() if tokens]
    rows = [
        (zone, f"{tokens:,}", f"{tokens / manifest.usable:.1%}", bar(tokens / manifest.usable, width))
        for zone, tokens in (*parts, ("all", manifest.tokens))
    ]
    for text in table(("zone", "tokens", f"of {manifest.usable:,}", ""), rows, left=1):
        say(text)


def bar(share: float, width: int) -> str:
    """A share from 0 to 1 as a bar of so many columns; what is there at all is seen."""
    eighths = min(max(round(share * width * 8), 1 if share > 0 else 0), width * 8)
    full, part = divmod(eighths, 8)
    return "█" * full + _EIGHTHS[part] + "░" * (width - full - bool(part))


def aligned(messages: Sequence[Message], entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """For each message the entries of the blocks in it, in the prompt's order.

    A reply and a result are one message each; neighbouring blocks of the system and of the user are one
    message together. Entries that find no place stand with the last message.
    """
    left = [entry for entry in entries if entry.zone != "tools" and entry.source != "chat format"]
    placed: list[tuple[Entry, ...]] = []
    for index, message in enumerate(messages):
        if message.role in ("assistant", "tool"):
            taken = 1
        elif message.role == "system":
            taken = _leading(left, _is_fixed)
        else:
            ends = index + 1 < len(messages) and messages[index + 1].role == "assistant"
            taken = _leading(left, _before_reply) if ends else len(left)
        placed.append(tuple(left[:taken]))
        del left[:taken]
    if left and placed:
        placed[-1] += tuple(left)
    return placed


def _is_fixed(entry: Entry) -> bool:
    return entry.zone == "fixed"


def _before_reply(entry: Entry) -> bool:
    return entry.source != "reply"


def _leading(entries: Sequence[Entry], fits: Callable[[Entry], bool]) -> int:
    """How many of the first entries fit."""
    for index, entry in enumerate(entries):
        if not fits(entry):
            return index
    return len(entries)


def print_entry(entry: Entry, age: str = "") -> None:
    """One block in one line; with its age in two, where one is too short for the reason."""
    from rich.cells import cell_len

    width, colour = columns(), _FATE_COLOURS.get(entry.fate)
    told = _entry(entry, age)
    if age and entry.why and cell_len(told) > width:
        say(line(_entry(structs.replace(entry, why="", ref=""), age), width), fg=colour)
        say(
            "    " + line(joined((entry.why, entry.ref and f"the whole is {entry.ref}")), width - 4), dim=True
        )
        return
    say(line(told, width), fg=colour)


def _entry(entry: Entry, age: str = "") -> str:
    """One block in one line: zone, name, source, tokens, age, fate, reason, reference."""
    cut = f"{entry.tokens:,} of {entry.whole:,} tokens" if entry.whole > entry.tokens else ""
    tokens = cut or f"{entry.tokens:,} tokens"
    fate = "" if entry.fate == "kept" else entry.fate
    source = "" if entry.source == entry.block else entry.source
    recall = f'recall("{entry.ref}")' if entry.ref and entry.fate != "kept" else ""
    pinned = "pinned" if entry.pinned else ""
    return f"[{entry.zone}] " + joined((entry.block, source, tokens, age, fate, pinned, entry.why, recall))


def _print_message(message: Message, entries: Sequence[Entry], *, full: bool) -> None:
    width = columns()
    say()
    say(line(joined((message.role, message.call_id)), width), fg="cyan", bold=True)
    for entry in entries:
        print_entry(entry)
    for text in _shown(message.text, width - 2, full=full):
        say("  " + text)
    for call in message.calls:
        told = f"→ {call.name} {call.arguments}"
        say("  " + (safe(told) if full else line(told, width - 2)))


def _shown(text: str, width: int, *, full: bool) -> list[str]:
    """The text's lines: all and whole, or the first and last, each within the width."""
    lines = text.rstrip().splitlines()
    if full:
        return lines
    hidden = len(lines) - _FIRST_LINES - _LAST_LINES
    if hidden > 1:
        lines = [*lines[:_FIRST_LINES], f"… {hidden:,} lines more (--full)", *lines[-_LAST_LINES:]]
    return [cut(each, width) for each in lines]


def _print_change(before: Entry | None, after: Entry | None, width: int) -> None:
    if before is None and after is not None:
        say(line("+ " + _entry(after), width), fg="green")
    elif after is None and before is not None:
        say(line("- " + _entry(before), width), fg="red")
    elif before is not None and after is not None:
        fate = after.fate if before.fate == after.fate else f"{before.fate} → {after.fate}"
        tokens = f"{before.tokens:,} → {after.tokens:,} tokens"
        told = joined((after.block, after.source, tokens, fate, after.why))
        say(line(f"~ [{after.zone}] {told}", width), fg="yellow")
