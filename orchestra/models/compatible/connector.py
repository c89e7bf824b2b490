"""aiohttp's connector, which also says whether a connection had been used before."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

import aiohttp
from aiohttp.connector import Connection

_REUSED: ContextVar[bool] = ContextVar("orchestra_connection_reused", default=False)


class Connector(aiohttp.TCPConnector):
    """Connections as ever. `reused` tells the task that asked last what it was given."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._used: WeakSet[Any] = WeakSet()

    async def connect(self, req: Any, traces: Any, timeout: Any) -> Connection:  # noqa: ASYNC109 - aiohttp's name
        connection = await super().connect(req, traces, timeout)
        protocol = connection.protocol
        _REUSED.set(protocol in self._used)
        self._used.add(protocol)
        return connection


def reused() -> bool:
    """True where the connection that this task was given last had served before."""
    return _REUSED.get()
