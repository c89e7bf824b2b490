"""One connection to an endpoint, and what comes back on it: HTTP/1.1, parsed by llhttp (httptools).

A connection carries one exchange at a time. Whoever sends waits for the head, for more of the body, or for
all of it; nothing else is woken for a reply, and one timer serves all connections to a server.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import httptools

from orchestra.models.compatible.transport import named
from orchestra.models.compatible.watch import Watch
from orchestra.models.settings import Times

# So much of a stream waits unread before the endpoint is made to pause, in bytes.
_UNREAD = 1 << 20
# A timer may come this much early, in seconds.
_EARLY_SECONDS = 0.002
_HEAD, _MORE, _ALL, _BODY = range(4)


class Lost(Exception):
    """An exchange came to nothing. `what` goes on from "Endpoint x (model y) ".

    `stale`: the connection ended before a byte of the reply, as one does that was kept too long.
    """

    def __init__(self, what: str, *, stale: bool = False) -> None:
        super().__init__(what)
        self.what = what
        self.stale = stale


class Wire(asyncio.Protocol):
    """`status` and `headers` stand once the head has come, `whole` is True at the end.

    `keep`: it can serve again. `gone` is called once, when the connection has ended. `fields` are the
    header's fields as they came; the parser puts them and the pieces of the body where they belong itself.
    """

    def __init__(self, times: Times, gone: Callable[[Wire], None], watch: Watch) -> None:
        self.status = 0
        self.fields: dict[bytes, bytes] = {}
        self._parts: list[bytes] = []
        self.on_header = self.fields.setdefault
        self.on_body = self._parts.append
        self.whole = True
        self.open = False
        self.keep = False
        self.idle_since = 0.0
        self._times = times
        self._gone = gone
        self.loop = asyncio.get_running_loop()
        self._parser: Any = httptools.HttpResponseParser(self)
        # What other clients take from home-made servers is taken here too.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._transport: Any = None
        self._waiter: asyncio.Future[Any] | None = None
        self._wanted = _HEAD
        self._error: Lost | None = None
        self._last = b""  # what was not taken of a body that is whole
        self._unread = 0
        self._paused = False
        self._coming = False  # a byte of the reply was there
        self._begun = False  # its head was
        self._sent_at = self._last_at = 0.0
        self._watch = watch
        first, total = times.first_byte_seconds, times.total_seconds
        self._soonest = min(math.inf if first is None else first, math.inf if total is None else total)

    # What the asker calls.

    def send(self, request: bytes) -> None:
        """Begin an exchange, on a connection that holds nothing of the last one."""
        self.whole = self._coming = self._begun = False
        self._sent_at = self._last_at = now = self.loop.time()
        self._transport.write(request)
        due = now + self._soonest
        if self._watch.at > due:
            self._watch.by(due)

    def ask(self, request: bytes) -> asyncio.Future[bytes]:
        """Begin an exchange; the future has the reply's whole body in the end, or Lost."""
        self.send(request)
        self._wanted = _BODY
        self._waiter = waiter = self.loop.create_future()
        return waiter

    @property
    def headers(self) -> dict[str, str]:
        """By their names in lower case; of a name that came twice, what came first."""
        return named(self.fields)

    async def head(self) -> None:
        """Returns when status and headers are there. Raises Lost, as all that waits here."""
        while not self._begun:
            await self._wait(_HEAD)

    async def rest(self) -> None:
        """Returns when the reply is whole; `take` has its body then."""
        while not self.whole:
            await self._wait(_ALL)

    async def more(self) -> bytes:
        """What has come of the body since last asked, b"" at its end."""
        while not self._parts and not self.whole:
            await self._wait(_MORE)
        return self.take()

    def take(self) -> bytes:
        """What has come of the body and was not taken yet, without waiting."""
        if self._paused:
            self._paused = False
            self._last_at = self.loop.time()
            self._transport.resume_reading()
            self._watch.by(self._due())
        self._unread = 0
        if self.whole:
            last, self._last = self._last, b""
            return last
        return self._joined()

    def _joined(self) -> bytes:
        """The pieces that have come; a single one as it is."""
        whole = b"".join(self._parts)
        self._parts.clear()
        return whole

    def close(self) -> None:
        """End the connection at once."""
        self.open = False
        if self._transport is not None:
            self._transport.abort()

    async def _wait(self, wanted: int) -> None:
        if self._error is not None:
            raise self._error
        self._wanted = wanted
        self._waiter = self.loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        if self._error is not None:
            waiter.set_exception(self._error)
        elif self._wanted == _BODY:
            last, self._last = self._last, b""
            waiter.set_result(last)
        else:
            waiter.set_result(None)

    # What the event loop calls.

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        # Written at once and not when the loop comes round: what others do meanwhile would delay it, and the
        # bodies of all that ask in this round would wait together.
        transport.set_write_buffer_limits(high=0)
        self.open = True

    def data_received(self, data: bytes) -> None:
        if self.whole:  # words that nobody asked for
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            what = "inside its reply" if self._begun else "or does not speak HTTP"
            self._fail(f"dropped the connection {what} ({error})")
            return
        except httptools.HttpParserUpgrade:
            self._fail("does not speak HTTP any more (it switched protocols)")
            return
        if self.whole:
            self._wake()
            return
        self._last_at = self.loop.time()
        if not self._coming:
            self._coming = True
            self._unread = 0
            self._watch.by(self._due())  # from now on it is pauses that are limited
        self._unread += len(data)
        wanted = self._wanted
        if (wanted == _HEAD and self._begun) or (wanted == _MORE and self._parts):
            self._wake()
        if wanted < _ALL and self._unread > _UNREAD and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def connection_lost(self, error: Exception | None) -> None:
        self.open = False
        if not self.whole and self._error is None:
            headers = self.headers
            framed = "content-length" in headers or "transfer-encoding" in headers
            told = str(error) if error is not None else "Server disconnected"
            if self._begun and not framed and error is None:
                self._last, self.whole = self._joined(), True  # such a body ends with its connection
            elif self._begun:
                self._error = Lost(f"dropped the connection inside its reply ({told})")
            else:
                what = f"dropped the connection before its reply ({told})"
                self._error = Lost(what, stale=not self._coming)
            self._wake()
        self._gone(self)

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self.whole:  # a second reply to one request, of which nothing is kept
            self.keep = False
            self.fields = self.fields.copy()

    def on_headers_complete(self) -> None:
        if not self.whole:
            status = self.status = self._parser.get_status_code()
            self._begun = status >= 200
            self.keep = self._parser.should_keep_alive()

    def on_message_complete(self) -> None:
        if self.whole:
            return
        if self._begun:
            self._last, self.whole = self._joined(), True
        else:  # 100 to 199: the reply proper is still to come
            self.fields.clear()

    # Time.

    def _due(self) -> float:
        times = self._times
        pause = times.silence_seconds if self._coming else times.first_byte_seconds
        due = math.inf if times.total_seconds is None else self._sent_at + times.total_seconds
        return due if pause is None or self._paused else min(due, self._last_at + pause)

    def look(self, now: float) -> float:
        """For the watch: fail where a limit is reached; else when the next one will be."""
        if self.whole or not self.open:
            return math.inf
        due = self._due()
        if now < due - _EARLY_SECONDS:
            return due
        times = self._times
        if times.total_seconds is not None and due == self._sent_at + times.total_seconds:
            self._fail(f"was not done within {times.total_seconds:g} s")
        elif self._coming:
            self._fail(f"fell silent for {times.silence_seconds:g} s inside its reply")
        else:
            self._fail(f"sent no first byte within {times.first_byte_seconds:g} s")
        return math.inf

    def _fail(self, what: str) -> None:
        self._error = Lost(what)
        self._wake()
        self.close()
