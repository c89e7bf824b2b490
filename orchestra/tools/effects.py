"""Tools that change something outside: never silently done twice.

A call of such a tool is recorded as intended, durably, before it runs, and has a key that is the same in
every run over the record. After a crash the key is there and the result is not: then the tool's own
`check(key)` says what came of it, and a tool that has none is not called again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from orchestra.tools.port import Tool, ToolOutput

_KEY: ContextVar[str] = ContextVar("orchestra_idempotency_key", default="")
Check = Callable[[str], Awaitable[ToolOutput | None]]

UNKNOWN = (
    "Outcome unknown: the run was cut off while {name} ran, so it may or may not have taken effect. "
    "It was not called again. Find out before you repeat it."
)
UNANSWERED = (
    "Outcome unknown: {name} did not answer within {seconds:g} s, so it may or may not have taken effect. "
    "Find out before you repeat it."
)
STOPPED = "Outcome unknown: {name} was {reason}, while it ran; it may or may not have taken effect."


def idempotency_key() -> str:
    """Inside a tool with effects="write": this call's key, to be handed on to what it changes; else ""."""
    return _KEY.get()


@contextmanager
def keyed(key: str) -> Iterator[None]:
    """The block's tool call has this key; tasks and threads it starts see it too."""
    token = _KEY.set(key)
    try:
        yield
    finally:
        _KEY.reset(token)


def key_for(session: str, agent: str, turn: int, place: int) -> str:
    """32 hex digits, the same in every run over the record."""
    named = "\n".join((session, agent, str(turn), str(place)))
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def check_of(tool: Tool) -> Check | None:
    """The tool's own `check(key)`: the output of the call with that key, None where it had no effect."""
    return getattr(tool, "check", None)
