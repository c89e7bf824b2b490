"""The event loop of a command: uvloop where it is installed, which halves the cost of what waits."""

from __future__ import annotations

import importlib.util
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

T = TypeVar("T")


def run_loop(function: Callable[..., Awaitable[T]], *arguments: object) -> T:
    """Run an async function to its end."""
    fast = importlib.util.find_spec("uvloop") is not None
    return anyio.run(function, *arguments, backend_options={"use_uvloop": fast})
