"""From events to rows: redacted, hashed, compressed. Runs in the writer's thread."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Raw, Struct

from orchestra.errors import StoreError
from orchestra.journal.blobs import INLINE, LONGEST_INLINE, Packer
from orchestra.journal.encoding import decode, encode, plain
from orchestra.journal.pages import Entry, page_row
from orchestra.redact import Redactor
from orchestra.values.events import Event

# Distinct texts of one session whose hashes are remembered, about 200 bytes each.
_REMEMBERED = 4_096
# Texts up to this many characters are looked at for secrets together; a look costs 5 µs however short.
LONGEST_SHORT = 1_000


class SessionStart(Struct, frozen=True, kw_only=True, gc=False):
    """A session as it begins; `created` in seconds since the epoch, `config` small JSON values."""

    id: str
    question: str
    created: float
    workflow: str = "research_then_write"
    config: Mapping[str, Any] = {}


class SessionChange(Struct, frozen=True, gc=False):
    """A session that ended, at `finished` in seconds since the epoch, or (None) goes on in this process."""

    status: str
    finished: float | None


class Live:
    """What the journal keeps of a session that is being written.

    `stored` maps a text's own hash (keyed, 64 bits) to its SHA-256 in hex, so that a text that comes again in
    every prompt is neither hashed nor compressed nor redacted again. It is kept for each session, not for
    all: a stored session's texts may be pruned by another process once the session is gone. `broken`: why
    nothing more of it is written.
    """

    def __init__(self, session: str, *, seq: int = 0) -> None:
        self.session = session
        self.seq = seq
        self.stored: dict[int, str] = {}
        self.broken: StoreError | None = None


class Item(Struct, frozen=True, gc=False):
    """One thing to write. `seq` and `data` (JSON) only with an event; `size` in bytes, roughly."""

    live: Live
    what: Event | SessionStart | SessionChange
    size: int
    seq: int = 0
    data: str = ""


class Rows:
    """The rows of one or more items, by table; each a tuple in the order of the table's columns.

    `changed`: (status, finished, owner, id).
    """

    def __init__(self) -> None:
        self.begun: list[tuple[Any, ...]] = []
        self.changed: list[tuple[Any, ...]] = []
        self.blobs: list[tuple[Any, ...]] = []
        self.pages: list[tuple[Any, ...]] = []


_SURROGATE = re.compile("[\ud800-\udfff]")


def _is_inline(text: str) -> bool:
    """Whether it stands with its event: short, and JSON brings back exactly this text.

    Two lone surrogates could become one character.
    """
    return len(text) <= LONGEST_INLINE and (text.isascii() or not _SURROGATE.search(text))


class RowMaker:
    """Makes rows; owned by the one writer, as it holds a compressor."""

    def __init__(self, redactor: Redactor, *, owner: str) -> None:
        self._redact = redactor
        self._owner = owner
        self._redact_short: Callable[[str], str] = redactor
        self._short: list[str] = []  # of the group: what is looked at for secrets together
        self._added: list[tuple[dict[int, str], int]] = []  # by the group, to what is stored
        self._events: dict[Live, tuple[int, list[Entry]]] = {}  # of the group: the first's number, and all
        self._pack = Packer()
        self._makers: dict[type, Callable[[Item, Any, Rows], None]] = {
            Event: self._event,
            SessionStart: self._start,
            SessionChange: self._change,
        }

    def __call__(self, items: Sequence[Item]) -> Rows:
        rows = self._made(items, str)
        together = "\n".join(self._short)
        if self._redact.once(together) != together:  # one look at all of a group, in place of one at each
            for stored, key in self._added:
                stored.pop(key, None)
            rows = self._made(items, self._redact)
        pack = self._pack
        rows.pages = [page_row(live.session, *events, pack) for live, events in self._events.items()]
        return rows

    def _made(self, items: Sequence[Item], redact_short: Callable[[str], str]) -> Rows:
        self._redact_short, self._short, self._added, self._events = redact_short, [], [], {}
        rows, makers = Rows(), self._makers
        for item in items:
            if item.live.broken is None:  # else another process writes its session
                makers[type(item.what)](item, item.what, rows)
        return rows

    def _event(self, item: Item, event: Event, rows: Rows) -> None:
        agent, data, short = event.agent, item.data, self._short
        short.append(data)
        short.append(agent)
        live = item.live
        texts = self._places(event.texts, live, rows) if event.texts else {}
        if self._redact_short is not str:
            agent, data = self._redact(agent), self._json(data)
        entry = (plain(agent), event.turn, event.kind, event.at, Raw(data), texts)
        events = self._events.get(live)
        if events is None:
            self._events[live] = (item.seq, [entry])
        else:
            events[1].append(entry)

    def _places(self, texts: Mapping[str, str], live: Live, rows: Rows) -> dict[str, str]:
        """Where each text is: its hash, or for a short one the text itself (see blobs.INLINE)."""
        stored, redact, places = live.stored, self._redact_short, {}
        self._short += texts
        for name, text in texts.items():
            if _is_inline(text):
                self._short.append(text)
                places[name] = INLINE + redact(text)
            else:
                places[name] = stored.get(hash(text)) or self._new(text, live, rows)
        if redact is not str:
            places = {redact(name): place for name, place in places.items()}
        return places

    def _start(self, item: Item, start: SessionStart, rows: Rows) -> None:
        self._short.append(item.data)
        title = plain(self._redact(" ".join(start.question[:2_000].split())))[:300]
        digest = item.live.stored.get(hash(start.question)) or self._new(start.question, item.live, rows)
        about = (plain(start.workflow), "running", start.created, None, self._owner, self._json(item.data))
        rows.begun.append((start.id, title, bytes.fromhex(digest), *about))

    def _change(self, item: Item, change: SessionChange, rows: Rows) -> None:
        rows.changed.append((change.status, change.finished, self._owner, item.live.session))

    def _new(self, text: str, live: Live, rows: Rows) -> str:
        """A text that the session has not had: its hash in hex."""
        if len(text) > LONGEST_SHORT:
            redacted = self._redact(text)
        else:
            self._short.append(text)
            redacted = self._redact_short(text)
        blob = self._pack(redacted)
        rows.blobs.append(blob)
        if len(live.stored) >= _REMEMBERED:
            live.stored.clear()
        key = hash(text)
        live.stored[key] = digest = blob[0].hex()
        self._added.append((live.stored, key))
        return digest

    def _json(self, text: str) -> str:
        """Redacted value by value where there may be something to redact; the text as it is elsewhere."""
        if self._redact_short is str:
            return text
        return encode(self._redact.value(decode(text)))
