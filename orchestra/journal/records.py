"""What is read from the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from orchestra.values.events import EventKind
from orchestra.values.usage import NO_USAGE, Usage

# "waiting": for a person.
# "running" is also what a killed process leaves behind; "cut off" is how such a session is read.
Status = Literal["running", "waiting", "done", "partial", "failed", "interrupted", "cut off"]


class SessionRecord(Struct, frozen=True, kw_only=True):
    """One session. `created` and `finished` are seconds since the epoch, `finished` None until it ends.

    `title` is the question's beginning on one line; the whole question is the text `question` (a hash).
    `owner` is `host:pid` of the process that writes or wrote it.
    """

    id: str
    title: str
    question: str
    workflow: str
    status: Status
    created: float
    finished: float | None
    owner: str
    config: Mapping[str, Any]


class SessionTotals(Struct, frozen=True):
    """What a session has used so far: its agents' number and the sum over its replies."""

    agents: int = 0
    usage: Usage = NO_USAGE


class EventRecord(Struct, frozen=True, kw_only=True):
    """One event as stored.

    `seq` counts from 1 in its session; `texts` maps a name to what `Reader.text` takes.
    """

    session: str
    seq: int
    agent: str
    turn: int
    kind: EventKind
    at: float
    data: Mapping[str, Any]
    texts: Mapping[str, str]


class Order(Struct, frozen=True, kw_only=True):
    """What a person asks of a session: `stop` (of it, an `agent`, a `tool`), `approve` or `refuse` (`key`).

    `number` is the store's, 0 before it is there; `at` in seconds since the epoch.
    """

    session: str
    what: Literal["stop", "approve", "refuse"]
    agent: str = ""
    tool: str = ""
    key: str = ""
    reason: str = ""
    who: str = ""
    at: float = 0.0
    number: int = 0


class Fork(Struct, frozen=True, kw_only=True):
    """A new session from a recorded point of another: its `id`, when it is made, the last event in common."""

    id: str
    at: int
    created: float
