"""The server that all implementations ask: HTTP by hand, replies made beforehand.

It decides from the request alone: the role's mark in the instructions, and how many results a researcher has.
`GET /stats`, `GET /reset`, `GET /latency?ms=200`. Run: server.py PORT.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import workload

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
KINDS = ("planner", "research0", "research1", "research_final", "writer", "other")


def _reply(message: dict[str, Any]) -> bytes:
    finish = "tool_calls" if "tool_calls" in message else "stop"
    usage = {"prompt_tokens": 1_200, "completion_tokens": 200, "total_tokens": 1_400}
    body = json.dumps(
        {
            "id": "chatcmpl-000000000001",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": "mock-model",
            "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}],
            "usage": usage,
        }
    ).encode()
    return _HEAD % len(body) + body


def _says(value: Any) -> bytes:
    return _reply({"content": json.dumps(value)})


def _calls(turn: int) -> bytes:
    arguments = json.dumps({"query": f"evidence for the sub-question, round {turn}"})
    function = {"name": "search", "arguments": arguments}
    call = {"id": f"call_{turn}00000000000", "type": "function", "function": function}
    return _reply({"content": None, "tool_calls": [call]})


def _findings(part: int) -> bytes:
    claims = [
        {
            "statement": workload.claim(hit),
            "quotes": [{"source": f"s{hit + 1}", "text": workload.statement(hit)}],
        }
        for hit in range(3 * part, 3 * part + 3)
    ]
    return _says({"claims": claims, "gaps": ["Nothing was found on the years before 2026."]})


def _draft() -> bytes:
    def sentence(hit: int) -> dict[str, Any]:
        words = " which says how far the depth of a queue goes with the load of a site"
        return {"text": workload.claim(hit).rstrip(".") + "," + words + ".", "claims": [f"c{hit + 1}"]}

    sections = [
        {"heading": f"Part {part + 1}", "sentences": [sentence(3 * part + number) for number in range(3)]}
        for part in range(3)
    ]
    return _says({"title": "A report", "summary": [sentence(0), sentence(3)], "sections": sections})


PLAN = _says({"title": "Capacity planning", "questions": workload.QUESTIONS})
CALLS = (_calls(1), _calls(2))
FINDINGS = tuple(_findings(part) for part in range(3))
DRAFT = _draft()
OTHER = _reply({"content": "Hello."})
STATEMENTS = [f"Site R{hit} served".encode() for hit in range(9)]


class Counts:
    """What was asked; `writer_ok` had all nine claims, `research_ok` all earlier results in full."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.reset()

    def reset(self) -> None:
        self.kinds = dict.fromkeys(KINDS, 0)
        self.writer_ok = 0
        self.research_ok = 0
        self.bytes_in = 0

    def stats(self) -> bytes:
        checks = {"writer_ok": self.writer_ok, "research_ok": self.research_ok, "bytes_in": self.bytes_in}
        return json.dumps({**self.kinds, **checks}).encode()

    def answer(self, body: bytes) -> bytes:
        self.bytes_in += len(body)
        at = body.find(b"ROLE:") + 5
        if body.startswith(b"researcher", at):
            turn = body.count(b'"tool_call_id"')
            kind = KINDS[1 + min(turn, 2)]
            self.research_ok += body.count(b"example.org/doc/") >= workload.HITS * turn
            part = next((part for part in range(3) if b"Part %d:" % (part + 1) in body), 0)
            reply = CALLS[turn] if turn < 2 else FINDINGS[part]
        elif body.startswith(b"planner", at):
            kind, reply = "planner", PLAN
        elif body.startswith(b"writer", at):
            kind, reply = "writer", DRAFT
            self.writer_ok += all(text in body for text in STATEMENTS)
        else:
            kind, reply = "other", OTHER
        self.kinds[kind] += 1
        return reply


class Connection(asyncio.Protocol):
    """One client's connection; one request at a time, as HTTP/1.1 clients do."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._parts: list[bytes] = []
        self._missing = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport  # uvloop's is no asyncio.Transport

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        self._missing = max(0, self._missing - len(data))
        if self._missing:
            return
        whole = b"".join(self._parts)
        end = whole.find(b"\r\n\r\n")
        if end < 0:
            self._parts = [whole]
            return
        length = _length(whole[:end])
        self._missing = end + 4 + length - len(whole)
        if self._missing > 0:
            self._parts = [whole]
            return
        self._parts.clear()
        self._missing = 0
        self._answer(whole, end)

    def _answer(self, whole: bytes, end: int) -> None:
        if whole.startswith(b"POST"):
            reply = self._counts.answer(whole[end + 4 :])
            if self._counts.seconds:
                asyncio.get_running_loop().call_later(self._counts.seconds, self._transport.write, reply)
            else:
                self._transport.write(reply)
            return
        path = whole.split(b" ", 2)[1]
        if path.startswith(b"/latency?ms="):
            self._counts.seconds = float(path.partition(b"=")[2]) / 1_000
        elif path == b"/reset":
            self._counts.reset()
        body = self._counts.stats()
        self._transport.write(_HEAD % len(body) + body)


def _length(head: bytes) -> int:
    lower = head.lower()
    at = lower.find(b"content-length:")
    return int(lower[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0


async def main(port: int) -> None:
    counts = Counts()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(counts), "127.0.0.1", port, backlog=16_384)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        import uvloop

        uvloop.run(main(int(sys.argv[1])))
    except ImportError:
        asyncio.run(main(int(sys.argv[1])))
