"""The record of a model call: the prompt, by what changed since the agent's last one, and the reply.

The data of a `prompt` event: `of`, the turn it is recorded against (0: none), `count` of messages, and
`messages`, a patch (see `patch`) whose new items are {role, text, calls, call_id, reasoning}, the three
texts by their name in the event's texts. The text `tools` (JSON) is left out where it did not change.
`manifest`, in the data or if long as a text in JSON, is {head, entries}, entries again a patch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct, structs

from orchestra.errors import InputError, StoreError
from orchestra.journal.encoding import decode, encode
from orchestra.journal.patch import Run, apply, patch
from orchestra.journal.reading import Reader
from orchestra.journal.records import EventRecord
from orchestra.values.events import Event, EventKind
from orchestra.values.messages import Message, Reply, ToolCall, ToolSpec
from orchestra.values.usage import Usage

T = TypeVar("T")
Put = Callable[[Event], Awaitable[None]]


# A manifest's patch of at most this many parts stands in the event's data; it is never the same twice.
_SHORT_PATCH = 12


class Manifest(Protocol):
    """What the journal needs of a manifest: a msgspec struct with `entries`, hashable structs too."""

    @property
    def entries(self) -> tuple[Any, ...]: ...


class Moment(Struct, frozen=True, gc=False):
    """Where and when: the agent's path, its model call from 1, seconds since the epoch."""

    session: str
    agent: str
    turn: int
    at: float


class Sent(Struct, frozen=True, gc=False):
    """One prompt as it was sent. `manifest` None: nothing is known of how it was made."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    manifest: Manifest | None = None


class PromptTrail:
    """Records one agent's prompts, each against the last one; owned by the agent.

    It keeps the last prompt alive, which the agent does anyway.
    """

    __slots__ = ("_last", "_turn")

    def __init__(self) -> None:
        self._turn = 0
        self._last: Sent | None = None

    async def record(self, put: Put, moment: Moment, sent: Sent) -> None:
        """Hand the prompt's event to `put`; only one that was taken is what the next is recorded against."""
        await put(self.event(moment, sent))
        self.took(moment.turn, sent)

    def took(self, turn: int, sent: Sent) -> None:
        """The prompt's event was taken: the next prompt is recorded against it."""
        self._turn, self._last = turn, sent

    def event(self, moment: Moment, sent: Sent) -> Event:
        """The prompt's event. Changes nothing."""
        data, texts = self.told(sent)
        return _event("prompt", moment, data, texts)

    def told(self, sent: Sent) -> tuple[dict[str, Any], dict[str, str]]:
        """The data and the texts of the prompt's event. Changes nothing."""
        last, messages, manifest = self._last, sent.messages, sent.manifest
        texts: dict[str, str] = {}
        parts: list[Any] = [*messages] if last is None else patch(last.messages, messages, _meaning)
        for number, part in enumerate(parts):
            if type(part) is not Run:
                parts[number] = described(part, number, texts)
        data: dict[str, Any] = {"of": self._turn, "count": len(messages), "messages": parts}
        if last is None or (sent.tools is not last.tools and sent.tools != last.tools):
            texts["tools"] = encode(sent.tools)
        if manifest is not None:
            before = None if last is None else last.manifest
            entries = patch(() if before is None else before.entries, manifest.entries, _itself)
            head: Any = structs.replace(manifest, entries=())  # type: ignore[type-var]
            account = {"head": head, "entries": entries}
            if len(entries) <= _SHORT_PATCH:
                data["manifest"] = account
            else:
                texts["manifest"] = encode(account)
        return data, texts


def _itself(entry: T) -> T:
    return entry


def _meaning(message: Message) -> tuple[Any, ...]:
    return message.role, message.text, message.calls, message.call_id, message.reasoning


def described(message: Message, number: int, texts: dict[str, str]) -> dict[str, str]:
    """A message as it is recorded; its texts are added to `texts`."""
    told: dict[str, str] = {"role": message.role}
    if message.text:
        told["text"] = name = str(number)
        texts[name] = message.text
    if message.reasoning:
        told["reasoning"] = name = f"{number}.reasoning"
        texts[name] = message.reasoning
    if message.calls:
        told["calls"] = name = f"{number}.calls"
        texts[name] = encode(message.calls)
    if message.call_id:
        told["call_id"] = message.call_id
    return told


def told_beside(sent: Sent) -> tuple[dict[str, Any], dict[str, str]]:
    """The same of a call beside the agent's own steps, as for a summary; `read_prompt` leaves it out."""
    data, texts = PromptTrail().told(sent)
    return {**data, "beside": True}, texts


def prompt_event(moment: Moment, sent: Sent) -> Event:
    """A prompt's event on its own, against no other; an agent with many turns keeps a PromptTrail."""
    return PromptTrail().event(moment, sent)


def reply_data(reply: Reply) -> tuple[dict[str, Any], dict[str, str]]:
    """What is recorded of a reply: usage, finish, model and seconds as data, and its texts."""
    seconds = round(reply.seconds * 1e4) / 1e4
    data = {"model": reply.model, "finish": reply.finish, "seconds": seconds, **structs.asdict(reply.usage)}
    texts = {}
    if reply.text:
        texts["text"] = reply.text
    if reply.reasoning:
        texts["reasoning"] = reply.reasoning
    if reply.calls:
        texts["calls"] = encode(reply.calls)
    return data, texts


def reply_event(moment: Moment, reply: Reply, data: Mapping[str, Any]) -> Event:
    """A reply's event: usage, finish, model and seconds in its data, with `data` (tier, purpose ...)."""
    about, texts = reply_data(reply)
    return _event("reply", moment, {**data, **about}, texts)


def _event(kind: EventKind, moment: Moment, data: Mapping[str, Any], texts: Mapping[str, str]) -> Event:
    session, agent, turn = moment.session, moment.agent, moment.turn
    return Event(session=session, agent=agent, turn=turn, kind=kind, at=moment.at, data=data, texts=texts)


class RecordedPrompt(Struct, frozen=True, kw_only=True, gc=False):
    """A prompt read back. `manifest` is its JSON, "" where none was recorded; `turns` are all the agent's."""

    turn: int
    at: float
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    manifest: str
    turns: tuple[int, ...]


async def read_prompt(reader: Reader, session: str, agent: str, turn: int | None = None) -> RecordedPrompt:
    """What an agent was sent in a turn (None: its last). Secrets are masked, all else is verbatim.

    Raises InputError for a turn that is not recorded, naming those that are.
    """
    recorded = await reader.events(session, agent=agent, kinds=("prompt",))
    events = [event for event in recorded if "beside" not in event.data]
    turns = tuple(dict.fromkeys(event.turn for event in events))
    if not turns:
        raise InputError(f"No prompt of {agent!r} is recorded in {session}.")
    wanted = turns[-1] if turn is None else turn
    if wanted not in turns:
        known = f"{turns[0]} to {turns[-1]}" if len(turns) > 1 else str(turns[0])
        raise InputError(f"Turn {wanted} of {agent!r} is not recorded: it has {known}.")
    last = max(index for index, event in enumerate(events) if event.turn == wanted)
    fold = Fold()
    manifests = [event.texts["manifest"] for event in events[: last + 1] if "manifest" in event.texts]
    patches = await reader.texts(manifests)
    for event in events[: last + 1]:
        fold.add(event, patches)
    texts = await reader.texts(fold.digests())
    return RecordedPrompt(
        turn=wanted,
        at=events[last].at,
        messages=tuple(_message(item, texts) for item in fold.messages),
        tools=tuple(msgspec.convert(decode(texts[fold.tools]), list[ToolSpec])) if fold.tools else (),
        manifest=fold.manifest(),
        turns=turns,
    )


_LONG = ("text", "calls", "reasoning")


class Fold:
    """Goes through an agent's prompt events and holds what the last one comes to, texts by where they are."""

    def __init__(self) -> None:
        self.turn = 0
        self.messages: list[dict[str, str]] = []
        self.tools = ""
        self._head: dict[str, Any] | None = None
        self._entries: list[Any] = []

    def add(self, event: EventRecord, manifests: Mapping[str, str] | None = None) -> None:
        """One more prompt; `manifests`: the texts of long ones, None where they are not asked for."""
        base = event.data["of"]
        if base not in (0, self.turn):
            raise StoreError(f"The prompt of {event.agent} before turn {event.turn} is missing in the store.")
        if base == 0:
            self.messages, self._entries = [], []
        parts = [
            part
            if isinstance(part, list)
            else {name: event.texts[value] if name in _LONG else value for name, value in part.items()}
            for part in event.data["messages"]
        ]
        self.messages = apply(self.messages, parts)
        self.tools = event.texts.get("tools", self.tools)
        self._head = None
        recorded = event.data.get("manifest")
        if manifests is not None and "manifest" in event.texts:
            recorded = decode(manifests[event.texts["manifest"]])
        if manifests is not None and recorded is not None:
            self._head = recorded["head"]
            self._entries = apply(self._entries, recorded["entries"])
        self.turn = event.turn

    def manifest(self) -> str:
        return "" if self._head is None else encode({**self._head, "entries": self._entries})

    def digests(self) -> list[str]:
        named = [item[field] for item in self.messages for field in _LONG if field in item]
        return [*named, self.tools] if self.tools else named


def _message(item: Mapping[str, str], texts: Mapping[str, str]) -> Message:
    long = {field: texts[item[field]] if field in item else "" for field in _LONG}
    calls = msgspec.convert(decode(long["calls"]), tuple[ToolCall, ...]) if long["calls"] else ()
    role: Any = item["role"]
    return Message(role, long["text"], calls, item.get("call_id", ""), long["reasoning"])


async def read_reply(reader: Reader, event: EventRecord) -> Reply:
    """The reply of a `reply` event; `value` is None, to be validated again from the text."""
    texts = await reader.texts(event.texts.values())
    long = {name: texts[digest] for name, digest in event.texts.items()}
    calls = msgspec.convert(decode(long["calls"]), tuple[ToolCall, ...]) if "calls" in long else ()
    return Reply(
        text=long.get("text", ""),
        calls=calls,
        reasoning=long.get("reasoning", ""),
        usage=Usage(**{name: event.data[name] for name in Usage.__struct_fields__ if name in event.data}),
        finish=event.data.get("finish", "stop"),
        model=event.data.get("model", ""),
        seconds=event.data.get("seconds", 0.0),
    )
