"""From events to rows: redacted, hashed, compressed. Runs in the writer's thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from orchestra.errors import StoreError
from orchestra.journal.blobs import Blob, Packer
from orchestra.redact import Redactor
from orchestra.values.events import Event

# Distinct texts of one session whose hashes are remembered, about 200 bytes each.
_REMEMBERED = 4_096


class SessionStart(Struct, frozen=True, kw_only=True):
    """A session as it begins; `created` in seconds since the epoch, `config` small JSON values."""

    id: str
    question: str
    created: float
    workflow: str = "research_then_write"
    config: Mapping[str, Any] = {}


class SessionChange(Struct, frozen=True):
    """A session that ended, at `finished` in seconds since the epoch, or (None) goes on in this process."""

    status: str
    finished: float | None


class Live:
    """What the journal keeps of a session that is being written.

    `stored` maps a text's own hash (keyed, 64 bits) to its SHA-256, so that a text that comes again in
    every prompt is neither hashed nor compressed nor redacted again. It is kept for each session, not for
    all: a stored session's texts may be pruned by another process once the session is gone.
    """

    def __init__(self, session: str, *, seq: int = 0) -> None:
        self.session = session
        self.seq = seq
        self.stored: dict[int, bytes] = {}
        self.broken: StoreError | None = None


class Item(Struct, frozen=True):
    """One thing to write. `seq` and `data` (JSON) only with an event; `size` in bytes, roughly."""

    live: Live
    what: Event | SessionStart | SessionChange
    size: int
    seq: int = 0
    data: str = ""


class Rows:
    """The rows of one or more items, by table, as SQLAlchemy takes them."""

    def __init__(self) -> None:
        self.begun: list[dict[str, Any]] = []
        self.changed: list[dict[str, Any]] = []
        self.blobs: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []


def encode(value: Any) -> str:
    """JSON text of any JSON value or struct, lone surrogates included. Raises TypeError for others."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), ensure_ascii=True)


def decode(text: str) -> Any:
    """The value of `encode`'s text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(text)  # it knows lone surrogates


def plain(name: str) -> str:
    """A name as every database's text column takes it: no NUL, no lone surrogate."""
    if name.isascii() and "\0" not in name:
        return name
    return name.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


class RowMaker:
    """Makes rows; owned by the one writer, as it holds a compressor."""

    def __init__(self, redactor: Redactor, *, owner: str) -> None:
        self._redact = redactor
        self._owner = owner
        self._pack = Packer()
        self._makers: dict[type, Callable[[Item, Any, Rows], None]] = {
            Event: self._event,
            SessionStart: self._start,
            SessionChange: self._change,
        }

    def __call__(self, items: Sequence[Item]) -> Rows:
        rows = Rows()
        for item in items:
            self._makers[type(item.what)](item, item.what, rows)
        return rows

    def _event(self, item: Item, event: Event, rows: Rows) -> None:
        texts = {name: self._hash(text, item.live, rows).hex() for name, text in event.texts.items()}
        rows.events.append(
            {
                "session": event.session,
                "seq": item.seq,
                "agent": plain(event.agent),
                "turn": event.turn,
                "kind": event.kind,
                "at": event.at,
                "data": self._json(item.data),
                "texts": encode(texts) if texts else "",
            }
        )

    def _start(self, item: Item, start: SessionStart, rows: Rows) -> None:
        question = self._hash(start.question, item.live, rows)
        rows.begun.append(
            {
                "id": start.id,
                "title": plain(self._redact(" ".join(start.question[:2_000].split())))[:300],
                "question": question,
                "workflow": plain(start.workflow),
                "status": "running",
                "created": start.created,
                "finished": None,
                "owner": self._owner,
                "config": self._json(item.data),
            }
        )

    def _change(self, item: Item, change: SessionChange, rows: Rows) -> None:
        rows.changed.append(
            {
                "which": item.live.session,
                "status": change.status,
                "finished": change.finished,
                "owner": self._owner,
            }
        )

    def _hash(self, text: str, live: Live, rows: Rows) -> bytes:
        key = hash(text)
        known = live.stored.get(key)
        if known is not None:
            return known
        blob: Blob = self._pack(self._redact(text))
        rows.blobs.append({"hash": blob.hash, "codec": blob.codec, "size": blob.size, "body": blob.body})
        if len(live.stored) >= _REMEMBERED:
            live.stored.clear()
        live.stored[key] = blob.hash
        return blob.hash

    def _json(self, text: str) -> str:
        """Redacted as one text, which is cheap; only where that finds something, value by value."""
        if self._redact(text) == text:
            return text
        return encode(self._redact.value(decode(text)))
