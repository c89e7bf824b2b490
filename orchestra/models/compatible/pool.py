"""The connections to one server: made, kept while they are of use, and closed."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections import deque
from typing import Any

import anyio
from aiohappyeyeballs import start_connection
from yarl import URL

from orchestra.errors import ModelError
from orchestra.models.compatible.failures import refused, unreachable
from orchestra.models.compatible.transport import Place
from orchestra.models.compatible.watch import Watch
from orchestra.models.compatible.wire import Wire
from orchestra.models.settings import Times

# Servers close what is idle after 5 s (uvicorn) and more; some see a request cross that, which is retried.
_IDLE_SECONDS = 15.0
_ADDRESS_SECONDS = 10.0
_CLOSE_SECONDS = 1.0
# RFC 8305: so long until the next address is tried beside the one before.
_NEXT_ADDRESS_SECONDS = 0.25


class Pool:
    """As many connections as are asked for; the one used last is used first.

    How many may be in flight is the governor's business, not the pool's. `ca_file`: see Network.
    """

    def __init__(
        self, url: URL, times: Times, ca_file: str | None, *, idle_seconds: float = _IDLE_SECONDS
    ) -> None:
        self._host = url.raw_host or ""
        self._port = url.port or 80
        self._times = times
        self._tls = _context(ca_file) if url.scheme == "https" else None
        self._idle_seconds = idle_seconds
        self._idle: deque[Wire] = deque()
        self._live: set[Wire] = set()
        self._watch: Watch | None = None
        self._sweep: asyncio.TimerHandle | None = None
        self._addresses: tuple[float, list[Any]] = (0.0, [])
        self._looking: anyio.Event | None = None  # somebody asks for the addresses
        self._empty: anyio.Event | None = None

    def take(self) -> Wire | None:
        """A connection that has served before, None where there is none."""
        idle = self._idle
        while idle:
            wire = idle.pop()
            if wire.open:
                return wire
        return None

    def give_back(self, wire: Wire) -> None:
        """Keep it for the next call, if its reply was read to the end; else close it."""
        if not (wire.whole and wire.keep and wire.open):
            wire.close()
            return
        wire.fields.clear()  # an idle connection holds nothing of its last reply
        wire.idle_since = wire.loop.time()
        self._idle.append(wire)
        if self._sweep is None:
            self._sweep = wire.loop.call_later(self._idle_seconds, self._close_idle)

    async def connect(self, place: Place) -> Wire:
        """A new connection. Raises ModelUnreachable, and ModelRefused for a certificate."""
        seconds = self._times.connect_seconds or self._times.total_seconds
        try:
            async with asyncio.timeout(seconds):
                wire = await self._connected()
        except TimeoutError as error:
            raise unreachable(place, f"did not take the connection within {seconds or 0:g} s") from error
        except OSError as error:
            raise self._failed(place, error) from error
        self._live.add(wire)
        return wire

    async def close(self) -> None:
        """Returns when every connection has ended, those in use too."""
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        self._idle.clear()
        if not self._live:
            return
        self._empty = anyio.Event()
        for wire in self._live:
            wire.close()
        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
            await self._empty.wait()

    async def _connected(self) -> Wire:
        loop = asyncio.get_running_loop()
        name = self._host if self._tls is not None else None
        found = await self._found(loop)
        if len(found) == 1:
            host, port = found[0][4][:2]
            _, wire = await loop.create_connection(
                self._wire, host, port, ssl=self._tls, server_hostname=name, family=found[0][0]
            )
            return wire
        sock = await start_connection(
            found, happy_eyeballs_delay=_NEXT_ADDRESS_SECONDS, interleave=1, loop=loop
        )
        try:
            _, wire = await loop.create_connection(self._wire, sock=sock, ssl=self._tls, server_hostname=name)
        except BaseException:
            sock.close()
            raise
        return wire

    def _wire(self) -> Wire:
        if self._watch is None:
            self._watch = Watch(self._live)
        return Wire(self._times, self._gone, self._watch)

    async def _found(self, loop: asyncio.AbstractEventLoop) -> list[Any]:
        """The host's addresses, asked for once for all that connect within some seconds.

        Who waits meanwhile goes on with all others: through a lock, one would in each turn of the loop, and
        of a hundred that begin together the last would wait for a hundred turns.
        """
        while loop.time() >= self._addresses[0]:
            if self._looking is not None:
                await self._looking.wait()
                continue
            self._looking = looking = anyio.Event()
            try:
                found = list(await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM))
                self._addresses = (loop.time() + _ADDRESS_SECONDS, found)
            finally:
                self._looking = None
                looking.set()
        return self._addresses[1]

    def _gone(self, wire: Wire) -> None:
        self._live.discard(wire)
        if self._live:
            return
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        if self._empty is not None:
            self._empty.set()

    def _close_idle(self) -> None:
        """Close what nobody wanted for so long, and come again while something is kept."""
        loop = asyncio.get_running_loop()
        self._sweep = None
        idle = self._idle
        until = loop.time() - self._idle_seconds
        while idle and (not idle[0].open or idle[0].idle_since <= until):
            idle.popleft().close()
        if idle:
            self._sweep = loop.call_at(idle[0].idle_since + self._idle_seconds, self._close_idle)

    def _failed(self, place: Place, error: OSError) -> ModelError:
        if isinstance(error, ssl.SSLError | ssl.CertificateError):
            return refused(
                place,
                f"has a certificate that is not trusted ({error}): set SSL_CERT_FILE to its authority's",
            )
        told = f"{self._host} port {self._port}: {reason(error)}"
        return unreachable(place, f"cannot be reached ({told}): check that it runs and that its url is right")


def reason(error: OSError) -> str:
    """The system's words ("Connection refused"), which asyncio replaces by its own."""
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or str(error)


def _context(ca_file: str | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=ca_file)
