"""Scopes that end by themselves, or when somebody ends them."""

from __future__ import annotations

import asyncio
import math
from functools import cache

import anyio


def within(seconds: float | None) -> anyio.CancelScope:
    """A scope that is cancelled after so many seconds; None: only when somebody cancels it."""
    deadline = math.inf if seconds is None else asyncio.get_running_loop().time() + seconds
    return _kind()(deadline=deadline)


@cache
def _kind() -> type[anyio.CancelScope]:
    """The class of this program's scopes; anyio's own name for it finds it out anew for each scope."""
    return type(anyio.CancelScope())
