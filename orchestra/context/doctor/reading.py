"""A recorded prompt taken apart again: which block says what, in the prompt's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, structs

from orchestra.context.blocks import Entry
from orchestra.context.doctor.align import UNKNOWN, aligned
from orchestra.context.doctor.pieces import RECALLED, Segment, segments
from orchestra.context.manifest import Manifest
from orchestra.context.tokens import MESSAGE_TOKENS
from orchestra.values.messages import Message, ToolCall

Kind = Literal["instructions", "data", "said", "reply", "result", "piece"]

_PIECES = frozenset(
    ("state", "superseded", "constraints", "reminder", "ask", "output format", "output schema")
)


class Part(Struct, frozen=True, kw_only=True):
    """One block's text. `message`: from 0. `start`: estimated tokens of the prompt before it.

    `call`: what a result answers; `calls`: what a reply asked for. `name`: of a piece. `round`: how many
    things the user had said before it, itself included.
    """

    block: str
    kind: Kind
    text: str
    message: int
    start: int = 0
    round: int = 0
    name: str = ""
    entry: Entry | None = None
    call: ToolCall | None = None
    calls: tuple[ToolCall, ...] = ()

    @property
    def tokens(self) -> int:
        return rough(self.text)

    @property
    def data(self) -> bool:
        """Whether it is what a tool or the memory brought, and no instruction."""
        return self.kind in ("data", "result")


class Reading(Struct, frozen=True):
    """The parts in order. `current`: the position of the current input, -1 without one."""

    messages: Sequence[Message]
    parts: tuple[Part, ...]
    current: int
    tokens: int
    manifest: Manifest | None

    @property
    def input(self) -> Part | None:
        return self.parts[self.current] if self.current >= 0 else None

    def of(self, *kinds: Kind) -> list[Part]:
        return [part for part in self.parts if part.kind in kinds]

    def after(self, part: Part) -> tuple[Part, ...]:
        return self.parts[self.parts.index(part) + 1 :]

    def before(self, part: Part) -> tuple[Part, ...]:
        return self.parts[: self.parts.index(part)]


def rough(text: str) -> int:
    """About the tokens of a text: a quarter of its bytes, for English and Chinese alike."""
    return len(text.encode("utf-8", "replace")) // 4


def read(messages: Sequence[Message], manifest: Manifest | None) -> Reading:
    """Take the prompt apart; blocks have the names of the manifest wherever the two agree."""
    groups = _aligned(messages, manifest)
    made: list[Part] = []
    called: dict[str, ToolCall] = {}
    start = rounds = 0
    for number, message in enumerate(messages):
        for call in message.calls:
            called[call.id] = call
        for part in _parts(message, number, groups.get(number, ()), called):
            rounds += part.kind == "said"
            extra = sum(rough(call.arguments) for call in part.calls)
            made.append(_placed(part, start, rounds))
            start += part.tokens + extra + MESSAGE_TOKENS
    said = [at for at, part in enumerate(made) if part.kind == "said"]
    return Reading(messages, tuple(made), said[-1] if said else -1, start, manifest)


def _placed(part: Part, start: int, rounds: int) -> Part:
    return structs.replace(part, start=start, round=rounds)


def _parts(
    message: Message, number: int, entries: Sequence[Entry], called: Mapping[str, ToolCall]
) -> list[Part]:
    entry = entries[0] if entries else None
    block = entry.block if entry else f"m{number + 1}"
    if message.role == "user":
        return _user_parts(message.text, number, entries)
    if message.role == "system":
        return [Part(block=block, kind="instructions", text=message.text, message=number, entry=entry)]
    if message.role == "assistant":
        return [
            Part(
                block=block,
                kind="reply",
                text=message.text,
                message=number,
                entry=entry,
                calls=message.calls,
            )
        ]
    call = called.get(message.call_id)
    return [Part(block=block, kind="result", text=message.text, message=number, entry=entry, call=call)]


def _user_parts(text: str, number: int, entries: Sequence[Entry]) -> list[Part]:
    sources = [entry.source for entry in entries if entry.zone in ("memory", "knowledge")]
    found = segments(text, sources)
    inputs = [entry for entry in entries if entry.source == "input"]
    words = sum(segment.kind == "said" for segment in found)
    if len(inputs) > words == 1:
        found = _divided(found, len(inputs))
    rest = list(entries)
    made = []
    for segment in found:
        entry = _take(rest, segment)
        block = entry.block if entry else segment.name or f"m{number + 1}"
        made.append(
            Part(
                block=block,
                kind=segment.kind,
                text=segment.text,
                message=number,
                name=segment.name,
                entry=entry,
            )
        )
    return made


def _divided(found: Sequence[Segment], inputs: int) -> list[Segment]:
    """Several inputs that nothing parts but an empty line."""
    made: list[Segment] = []
    for segment in found:
        texts = segment.text.split("\n\n")
        if segment.kind != "said" or len(texts) < inputs:
            made.append(segment)
            continue
        first = "\n\n".join(texts[: len(texts) - inputs + 1])
        made += [Segment("said", text) for text in (first, *texts[len(texts) - inputs + 1 :])]
    return made


def _take(entries: list[Entry], segment: Segment) -> Entry | None:
    for entry in entries:
        if segment.kind == "piece":
            fits = entry.block == segment.name
        elif segment.kind == "data":
            fits = entry.zone in ("memory", "knowledge") and _begins(segment.text, entry.source)
        else:
            fits = entry.source == "input"
        if fits:
            entries.remove(entry)
            return entry
    return None


def _begins(text: str, source: str) -> bool:
    """Whether data stands under the label of its source; the archive's own label names no source."""
    folded = " ".join(source.split()).replace("|", "/")
    if text.startswith(RECALLED):
        return source == ("recalled" if text.startswith(RECALLED[0]) else "values")
    return text.startswith((folded, "\n```", "```")) or source == "archive"


def _aligned(messages: Sequence[Message], manifest: Manifest | None) -> dict[int, tuple[Entry, ...]]:
    """The entries of each message, for those messages that the manifest knows."""
    if manifest is None:
        return {}
    names = {call.id: call.name for message in messages for call in message.calls}
    mine = [
        (names.get(message.call_id, UNKNOWN) if message.role == "tool" else message.role, _size(message))
        for message in messages
    ]
    groups = _groups(manifest.entries)
    theirs = [(name, sum(entry.tokens for entry in entries)) for name, entries in groups]
    return {at: tuple(groups[place][1]) for at, place in aligned(mine, theirs)}


def _size(message: Message) -> int:
    return rough(message.text) + sum(rough(call.name + call.arguments) + 8 for call in message.calls)


def _groups(entries: Sequence[Entry]) -> list[tuple[str, list[Entry]]]:
    """What is in the prompt, a message each: its role, or the tool's name, and its entries."""
    groups: list[tuple[str, list[Entry]]] = []
    for entry in entries:
        if entry.zone == "tools" or entry.source == "chat format" or entry.fate not in ("kept", "trimmed"):
            continue
        role = _role(entry)
        if groups and groups[-1][0] == role and role in ("system", "user"):
            groups[-1][1].append(entry)
        else:
            groups.append((role, [entry]))
    return groups


def _role(entry: Entry) -> str:
    if entry.block in _PIECES or entry.source == "input" or entry.zone in ("memory", "knowledge"):
        return "user"
    if entry.zone == "fixed":
        return "system"
    return "assistant" if entry.source == "reply" else entry.source
