"""From events to rows: redacted, hashed, compressed. Runs in the writer's thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Raw, Struct

from orchestra.errors import StoreError
from orchestra.journal.blobs import INLINE, LONGEST_ALONE, LONGEST_INLINE, Packer
from orchestra.journal.encoding import decode, encode, is_whole, plain
from orchestra.journal.pages import Entry, page_row
from orchestra.redact import Redactor

# Distinct texts of one session, or of what sessions share, whose hashes are remembered: about 200 bytes each.
_REMEMBERED = 4_096
# The texts of events that stand in no other: what is handed on, unless it is a reply's own, and reports.
_ALONE = frozenset(("value", "report"))
# The texts of events that are often the same in many sessions: instructions, tools, and what tools have read.
_SHARED = frozenset(("0", "tools", *(f"document {number}" for number in range(100))))
# Texts up to this many characters are looked at for secrets together; a look costs 5 µs however short.
LONGEST_SHORT = 1_000
# What an item takes beside its texts, in bytes, roughly.
ITEM_BYTES = 300


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
    every prompt is neither hashed nor compressed nor redacted again. It is kept for each session: a stored
    session's texts may be pruned by another process once the session is gone. `shared` is the same for what
    many sessions store, instructions, tools and documents, where the store tells when another process changed
    it (see Store.write). `open`: whether more of it is taken; `broken`: why nothing more of it is written.
    """

    __slots__ = ("broken", "open", "seq", "session", "shared", "stored")

    def __init__(self, session: str, *, seq: int = 0, shared: dict[int, str] | None = None) -> None:
        self.session = session
        self.seq = seq
        self.stored: dict[int, str] = {}
        self.shared = self.stored if shared is None else shared
        self.broken: StoreError | None = None
        self.open = True

    def forget(self) -> None:
        """What was made of it may not have been written."""
        self.stored.clear()
        self.shared.clear()


class Line(Struct, frozen=True, gc=False):
    """One event to write (see `values.events.Event`), `data` in JSON; `size` in bytes, roughly."""

    live: Live
    seq: int
    size: int
    agent: str
    turn: int
    kind: str
    at: float
    data: str
    texts: Mapping[str, str]


class Change(Struct, frozen=True, gc=False):
    """What is to be written of a session itself. `data`: a new one's `config` in JSON."""

    live: Live
    what: SessionStart | SessionChange
    size: int = ITEM_BYTES
    data: str = ""


Item = Line | Change


class Rows:
    """The rows of one or more items, by table; each a tuple in the order of the table's columns.

    `changed`: (status, finished, owner, id). `leans`: they name texts that other sessions have stored before.
    """

    def __init__(self) -> None:
        self.begun: list[tuple[Any, ...]] = []
        self.changed: list[tuple[Any, ...]] = []
        self.blobs: list[tuple[Any, ...]] = []
        self.pages: list[tuple[Any, ...]] = []
        self.leans = False


class RowMaker:
    """Makes rows; owned by the one writer, as it holds a compressor."""

    def __init__(self, redactor: Redactor, *, owner: str) -> None:
        self._redact = redactor
        self._owner = owner
        self._pack = Packer()
        self._makers: dict[type, Callable[[Change, Any, Rows], None]] = {
            SessionStart: self._start,
            SessionChange: self._change,
        }
        self._begin(redacting=False)

    def _begin(self, *, redacting: bool) -> None:
        """What is kept of one group, gone through with or without taking secrets out of what is short."""
        self._redacting = redacting
        self._short: list[str] = []  # what is looked at for secrets together
        self._names: set[str] = set()  # of texts; looked at as well
        self._agents: dict[str, str] = {}  # each agent's path as it is stored; looked at as well
        self._added: list[tuple[dict[int, str], int]] = []  # to what is stored
        self._fresh: set[int] = set()  # the hashes of what was added to what sessions share
        self._events: dict[Live, tuple[int, list[Entry]]] = {}  # the first's number, and all

    def __call__(self, items: Sequence[Item]) -> Rows:
        rows = self._made(items, redacting=False)
        together = "\n".join([*self._short, *self._names, *self._agents])
        if self._redact.once(together) != together:  # one look at all of a group, in place of one at each
            for stored, key in self._added:
                stored.pop(key, None)
            rows = self._made(items, redacting=True)
        pack = self._pack
        rows.pages = [page_row(live.session, *events, pack) for live, events in self._events.items()]
        self._begin(redacting=False)
        return rows

    def _made(self, items: Sequence[Item], *, redacting: bool) -> Rows:
        self._begin(redacting=redacting)
        rows, all_events, short, agents = Rows(), self._events, self._short, self._agents
        for item in items:
            live = item.live
            if live.broken is not None:  # another process writes its session
                continue
            if not isinstance(item, Line):
                self._makers[type(item.what)](item, item.what, rows)
                continue
            data, agent = item.data, agents.get(item.agent)
            short.append(data)
            if agent is None:
                agents[item.agent] = agent = plain(self._clean(item.agent))
            texts = self._places(item.texts, live, rows) if item.texts else {}
            entry = (agent, item.turn, item.kind, item.at, Raw(self._json(data)), texts)
            events = all_events.get(live)
            if events is None:
                all_events[live] = (item.seq, [entry])
            else:
                events[1].append(entry)
        return rows

    def _places(self, texts: Mapping[str, str], live: Live, rows: Rows) -> dict[str, str]:
        """Where each text is: its hash, or for a short one the text itself (see blobs.INLINE)."""
        stored, shared, short, places = live.stored, live.shared, self._short, {}
        fresh = self._fresh
        self._names.update(texts)
        for name, text in texts.items():
            if len(text) <= LONGEST_INLINE:
                place = None
            elif name in _SHARED:
                key = hash(text)
                place = shared.get(key)
                if place is None:
                    place = self._new(text, shared, rows)
                    fresh.add(key)
                elif key not in fresh:
                    rows.leans = True
            else:
                place = stored.get(hash(text))
                if place is None and (name not in _ALONE or len(text) > LONGEST_ALONE):
                    place = self._new(text, stored, rows)
            if place is None:
                if text.isascii() or is_whole(text):
                    short.append(text)
                    place = INLINE + text
                else:
                    place = self._new(text, stored, rows)
            places[name] = place
        if not self._redacting:
            return places
        clean = self._redact
        return {
            clean(name): INLINE + clean(place[1:]) if place[0] == INLINE else place
            for name, place in places.items()
        }

    def _start(self, item: Change, start: SessionStart, rows: Rows) -> None:
        self._short.append(item.data)
        title = plain(self._redact(" ".join(start.question[:2_000].split())))[:300]
        stored = item.live.stored
        digest = stored.get(hash(start.question)) or self._new(start.question, stored, rows)
        about = (plain(start.workflow), "running", start.created, None, self._owner, self._json(item.data))
        rows.begun.append((start.id, title, bytes.fromhex(digest), *about))

    def _change(self, item: Change, change: SessionChange, rows: Rows) -> None:
        rows.changed.append((change.status, change.finished, self._owner, item.live.session))

    def _new(self, text: str, stored: dict[int, str], rows: Rows) -> str:
        """A text that was not stored yet: its hash in hex."""
        if len(text) > LONGEST_SHORT:
            redacted = self._redact(text)
        else:
            self._short.append(text)
            redacted = self._clean(text)
        blob = self._pack(redacted)
        rows.blobs.append(blob)
        if len(stored) >= _REMEMBERED:
            stored.clear()
        key = hash(text)
        stored[key] = digest = blob[0].hex()
        self._added.append((stored, key))
        return digest

    def _clean(self, text: str) -> str:
        """A short text without secrets, where there may be any."""
        return self._redact(text) if self._redacting else text

    def _json(self, text: str) -> str:
        """The same of JSON, value by value."""
        return encode(self._redact.value(decode(text))) if self._redacting else text
