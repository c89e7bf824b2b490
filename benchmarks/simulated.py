"""How much a simulated endpoint can serve: its CPU a request, and what that makes a second.

    python benchmarks/simulated.py [--requests 20000]

The client writes whole requests to 32 plain sockets and reads whole replies, so that it costs little. The
server's CPU is read from /proc, so a busy machine changes the wall-clock figure and hardly the ceiling.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Iterable

import msgspec
from wire import history, serve

_TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def request_of(messages: list[dict[str, str]], *, stream: bool) -> bytes:
    body = msgspec.json.encode({"model": "m", "messages": messages, "stream": stream})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def drive(host: str, port: int, request: bytes, turns: Iterable[int], *, stream: bool) -> None:
    """Requests on one connection, one after another."""
    reader, writer = await asyncio.open_connection(host, port, limit=1 << 20)
    for _ in turns:
        writer.write(request)
        if stream:
            await reader.readuntil(b"\r\n0\r\n\r\n")
            continue
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]))
    writer.close()


async def flood(address: str, request: bytes, count: int, *, stream: bool) -> None:
    host, _, port = address.rpartition(":")
    turns = iter(range(count))
    async with asyncio.TaskGroup() as group:
        for _ in range(32):
            group.create_task(drive(host, int(port), request, turns, stream=stream))


def main() -> int:
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    parser.add_argument("--requests", type=int, default=20_000)
    options = parser.parse_args()
    process, url = serve(None, 60)
    address = url.removeprefix("http://").removesuffix("/v1")
    try:
        for kilobytes, stream in ((0.5, False), (13.0, False), (0.5, True)):
            request = request_of(history(kilobytes), stream=stream)
            asyncio.run(flood(address, request, 500, stream=stream))
            before, started = cpu_seconds(process.pid), time.perf_counter()
            asyncio.run(flood(address, request, options.requests, stream=stream))
            cpu = (cpu_seconds(process.pid) - before) / options.requests
            wall = (time.perf_counter() - started) / options.requests
            kind = "streams of 60 tokens" if stream else "replies"
            print(
                f"{kilobytes:g} KB, {kind}: {cpu * 1e6:.0f} µs of CPU each, "
                f"ceiling {1 / cpu:,.0f}/s on one core; {1 / wall:,.0f}/s were asked for here"
            )
    finally:
        process.terminate()
        process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
