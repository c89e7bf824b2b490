"""A scripted server on loopback: it answers the n-th request with the n-th line of its script.

A line is bytes, or parts of them: between these an `anyio.Event` is waited for.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

DROP = object()
"""In a line: close the connection here."""
HANG = object()
"""In a line: say nothing more."""


@dataclass
class Seen:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.raw)  # type: ignore[no-any-return]


Line = bytes | Sequence[Any] | Callable[[Seen], Any]


@dataclass
class Server:
    """`script`: a line a request, the last one for all that follow."""

    script: list[Line]
    seen: list[Seen] = field(default_factory=list)
    open: int = 0
    connections: int = 0
    port: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.open -= 1
            self.closed.set()
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {
            name.lower(): value.strip() for name, _, value in (row.partition(":") for row in head[1:-2])
        }
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        seen = Seen(method, path, headers, raw)
        self.seen.append(seen)
        line: Any = self.script[min(len(self.seen), len(self.script)) - 1]
        if callable(line):
            line = line(seen)
        for part in [line] if isinstance(line, bytes) else line:
            if part is DROP:
                return False
            if part is HANG:
                await reader.read()
                return False
            if isinstance(part, anyio.Event):
                await part.wait()
                continue
            if isinstance(part, float):
                await asyncio.sleep(part)
                continue
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)
        return True


@asynccontextmanager
async def serving(*script: Line, host: str = "127.0.0.1") -> AsyncIterator[Server]:
    server = Server(list(script))
    listener = await asyncio.start_server(server.handle, host, 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()


def http(status: int, body: bytes, content_type: str = "application/json", **headers: str) -> bytes:
    rows = [f"HTTP/1.1 {status} X", f"content-type: {content_type}", f"content-length: {len(body)}"]
    rows += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(rows).encode() + b"\r\n\r\n" + body


def error(status: int, message: Any, **headers: str) -> bytes:
    """An error in OpenAI's shape, or `message` itself where that is an object."""
    body = message if isinstance(message, (dict, list)) else {"error": {"message": message, "type": "x"}}
    return http(status, json.dumps(body).encode(), **headers)


def completion(
    content: Any = "", *, calls: Any = None, finish: str = "stop", usage: Any = ..., **more: Any
) -> bytes:
    message = {"role": "assistant", "content": content, **more}
    if calls is not None:
        message["tool_calls"] = calls
        finish = "tool_calls" if finish == "stop" else finish
    body: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion",
        "model": "served",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if usage is ...:
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    if usage is not None:
        body["usage"] = usage
    return http(200, json.dumps(body).encode())


def call(name: str, arguments: Any, id: str | None = "call_1", **more: Any) -> dict[str, Any]:  # noqa: A002 - the wire's name
    made: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}, **more}
    if id is not None:
        made["id"] = id
    return made


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def piece(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(delta: Any = None, *, finish: str | None = None, **more: Any) -> bytes:
    body: dict[str, Any] = {"model": "served", **more}
    if delta is not None or finish:
        body["choices"] = [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


END = piece(b"data: [DONE]\n\n") + b"0\r\n\r\n"


def sse(*events: bytes) -> list[bytes]:
    """A whole stream: one chunk for each event, then the end mark."""
    return [HEAD, *(piece(one) for one in events), END]
