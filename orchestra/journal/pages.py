"""Events as they are stored: those of one session and one commit together, compressed, as a page.

A row for each event took SQLite twice the time, and three times the space: an event says little that the
one before it has not said. A page is JSON: for each event [agent, turn, kind, at, data, texts].
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Raw

from orchestra.journal.blobs import Packer, unpack
from orchestra.journal.encoding import decode, encode
from orchestra.journal.records import EventRecord

Entry = tuple[str, int, str, float, Raw, dict[str, str]]
"""An event without its session and number: its agent, turn, kind, time in seconds since the epoch, data as
JSON, and texts by where each is (see `blobs`)."""

_WithData = tuple[str, int, str, float, dict[str, Any], dict[str, str]]
_MOST = 512
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[Entry]).decode


def packed(entries: Sequence[Entry], pack: Packer) -> tuple[int, bytes]:
    """A page's codec and body."""
    try:
        body = _encode(entries)
    except UnicodeEncodeError:  # a lone surrogate in a text's name
        body = encode([(*entry[:4], decode(_text(entry[4])), entry[5]) for entry in entries]).encode()
    return pack.data(body)


def unpacked(codec: int, body: bytes) -> list[Entry]:
    """The entries of a page. Raises ValueError for a damaged one, and for one of a newer version."""
    text = unpack(codec, bytes(body))
    try:
        return _decode(text)
    except msgspec.DecodeError:
        try:
            whole = msgspec.convert(decode(text), list[_WithData])  # it may name a lone surrogate
        except msgspec.ValidationError as error:
            raise ValueError(f"it is no page of events: {error}") from None
        return [(*entry[:4], Raw(encode(entry[4])), entry[5]) for entry in whole]


def entry_of(record: EventRecord) -> Entry:
    """A stored event, to be stored again."""
    data, texts = Raw(encode(record.data)), dict(record.texts)
    return record.agent, record.turn, record.kind, record.at, data, texts


def records(
    page: Any, *, agent: str | None = None, kinds: Collection[str] | None = None
) -> Iterator[EventRecord]:
    """The events of a page's row, in order: all, or those of an agent or of some kinds. Raises ValueError."""
    for seq, (path, turn, kind, at, data, texts) in enumerate(unpacked(page.codec, page.body), page.first):
        if (agent is None or path == agent) and (kinds is None or kind in kinds):
            yield EventRecord(
                session=page.session,
                seq=seq,
                agent=path,
                turn=turn,
                kind=kind,  # type: ignore[arg-type] # whatever the version that wrote it knew
                at=at,
                data=decode(_text(data)),
                texts=texts,
            )


def page_rows(session: str, events: Sequence[EventRecord], pack: Packer) -> list[tuple[Any, ...]]:
    """Rows for events of a session: a page has consecutive ones, at most `_MOST`."""
    rows = []
    for _, run in groupby(enumerate(events), key=lambda item: item[1].seq - item[0]):
        whole = [event for _, event in run]
        for start in range(0, len(whole), _MOST):
            some = whole[start : start + _MOST]
            rows.append(page_row(session, some[0].seq, [entry_of(event) for event in some], pack))
    return rows


def page_row(session: str, first: int, entries: Sequence[Entry], pack: Packer) -> tuple[Any, ...]:
    """A row of the table `pages`: session, first and last number, codec, body."""
    return (session, first, first + len(entries) - 1, *packed(entries, pack))


def _text(data: Raw) -> str:
    return bytes(data).decode()
