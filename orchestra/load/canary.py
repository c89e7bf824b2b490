"""Canaries: strings that belong to one session and must never be seen in another's."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Literal

Kind = Literal["question", "fact", "document", "result"]
_KINDS: dict[Kind, str] = {"question": "q", "fact": "f", "document": "d", "result": "r"}
_MARK = "canary-"
# A fixed form, so that finding them costs one pass over a text whatever the number of sessions.
_CANARY = re.compile(rf"{_MARK}([0-9a-f]{{8}})[qfdr]")

# The load session that the current task works for; tasks that it starts inherit it.
current: ContextVar[int] = ContextVar("orchestra_load_session")


def canary(session: int, kind: Kind) -> str:
    """The session's string of this kind, one word."""
    return f"{_MARK}{session:08x}{_KINDS[kind]}"


def sessions_in(text: str) -> set[int]:
    """The numbers of the sessions whose canaries stand in `text`."""
    if _MARK not in text:
        return set()
    return {int(number, 16) for number in _CANARY.findall(text)}
