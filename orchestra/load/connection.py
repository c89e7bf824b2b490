"""One client's connection to a simulated endpoint: HTTP/1.1 by hand, for speed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from orchestra.load.behaviour import Served
from orchestra.load.wire import STREAM_END, STREAM_HEAD


class Asked(Struct):
    """What is needed of a request; `messages` stay as they came until a script wants them."""

    model: str = ""
    messages: msgspec.Raw = msgspec.Raw(b"[]")
    stream: bool = False
    stream_options: dict[str, Any] | None = None
    response_format: Any = None


class Host(Protocol):
    """What a connection is told about, and asks for answers."""

    @property
    def served(self) -> Served: ...

    def opened(self, connection: Connection) -> None: ...

    def closed(self, connection: Connection) -> None: ...

    def answer(
        self, connection: Connection, method: bytes, path: bytes, head: bytes, body: bytes
    ) -> None: ...


class Connection(asyncio.Protocol):
    """Reads requests one after another and writes replies when they are due.

    A request with `Transfer-Encoding: chunked` is answered with 411: clients of JSON endpoints know the
    length of what they send.
    """

    def __init__(self, endpoint: Host) -> None:
        self._endpoint = endpoint
        self._buffer = b""
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._endpoint.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        if self._busy:
            self._endpoint.served.abandoned += 1
            self._free()
        self._endpoint.closed(self)

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        self._read()

    def _read(self) -> None:
        """Answer the requests that are whole. One at a time: the next waits for the reply before it."""
        while not self._busy and self._buffer:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self._buffer[:end]
            length = _content_length(head)
            if length is None:
                self.send(b"HTTP/1.1 411 Length Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                self.drop()
                return
            start = end + 4
            if len(self._buffer) < start + length:
                if b"100-continue" in head:
                    self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
                return
            body = self._buffer[start : start + length]
            self._buffer = self._buffer[start + length :]
            method, path, _ = head[: head.index(b"\r\n") if b"\r\n" in head else None].split(b" ", 2)
            self._endpoint.answer(self, method, path, head, body)

    def send(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def drop(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def later(self, seconds: float, data: bytes, done: Callable[[], None]) -> None:
        """Write a whole reply after so many seconds."""
        if seconds <= 0:
            self.send(data)
            done()
            return
        self._take()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._finish, data, done)

    def stream(self, events: list[bytes], first: float, each: float, done: Callable[[], None]) -> None:
        """Write events: the first after `first` seconds, the others `each` seconds apart."""
        if each <= 0:
            self.later(first, STREAM_HEAD + b"".join(events) + STREAM_END, done)
            return
        self._take()
        left = iter([STREAM_HEAD + events[0], *events[1:]])

        def next_event() -> None:
            event = next(left, None)
            if event is None:
                self._finish(STREAM_END, done)
                return
            self.send(event)
            self._timer = asyncio.get_running_loop().call_later(each, next_event)

        self._timer = asyncio.get_running_loop().call_later(first, next_event)

    def _finish(self, data: bytes, done: Callable[[], None]) -> None:
        self._timer = None
        self.send(data)
        done()
        self._free()
        self._read()

    def _take(self) -> None:
        self._busy = True
        served = self._endpoint.served
        served.in_flight += 1
        served.busiest = max(served.busiest, served.in_flight)

    def _free(self) -> None:
        self._busy = False
        self._endpoint.served.in_flight -= 1


def _content_length(head: bytes) -> int | None:
    """Of the body, 0 where there is none, None where it is not said."""
    lower = head.lower()
    at = lower.find(b"\r\ncontent-length:")
    if at < 0:
        return None if b"\r\ntransfer-encoding:" in lower else 0
    end = lower.find(b"\r\n", at + 2)
    return int(lower[at + 17 : end if end > 0 else None])
