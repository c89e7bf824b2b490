"""What the journal records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

EventKind = Literal[
    "started",
    "prompt",
    "call",
    "reply",
    "tool_called",
    "tool_returned",
    "compacted",
    "handoff",
    "verified",
    "finished",
    "failed",
    "note",
    "intended",
    "approval",
    "stopped",
    "resumed",
    "said",
    "answered",
    "steered",
]


class Event(Struct, frozen=True, kw_only=True, gc=False):
    """One row of the journal.

    `agent`: its path in the session ("planner", "researcher.2"), "" for the session itself.
    `turn`: the agent's model call it belongs to, from 1; 0 before the first.
    `data`: small JSON values only; long texts go into `texts`, name → text, and are stored once by hash.
    `at`: seconds since the epoch.
    """

    session: str
    agent: str
    turn: int
    kind: EventKind
    at: float
    data: Mapping[str, Any]
    texts: Mapping[str, str] = {}
