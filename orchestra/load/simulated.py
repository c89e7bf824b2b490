"""A simulated OpenAI-compatible endpoint: one asyncio protocol, no framework, exact counts."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from orchestra.load import embeddings, wire
from orchestra.load.behaviour import Behaviour, Say, Served
from orchestra.load.connection import Asked, Connection
from orchestra.load.limits import Limits
from orchestra.load.plain_script import by_schema, by_tools, words

_CUT_REPLY = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{"cho'


class Simulated:
    """The endpoint's one state: its counts, its limits and its dice.

    `served` counts what went out. Asked over HTTP, `GET /simulated` returns the same as JSON.
    """

    def __init__(
        self, behaviour: Behaviour | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        behaviour = self.behaviour = behaviour or Behaviour()
        self.served = Served()
        self.url = ""
        self._dice = random.Random(behaviour.seed)  # noqa: S311 - luck, not secrets
        self._limits = Limits(behaviour, clock)
        self._plain = words(behaviour.reply_tokens)
        self._connections: set[Connection] = set()
        self._count = self._exact if behaviour.exact_usage else _estimate

    def connection(self) -> Connection:
        return Connection(self)

    def opened(self, connection: Connection) -> None:
        self._connections.add(connection)
        self.served.connections += 1
        self.served.connections_open += 1

    def closed(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self.served.connections_open -= 1

    def close(self) -> None:
        for connection in list(self._connections):
            connection.drop()

    def answer(self, connection: Connection, method: bytes, path: bytes, head: bytes, body: bytes) -> None:
        """One request, whole: the reply is written to its connection, now or later."""
        path = path.partition(b"?")[0].removeprefix(b"/v1")
        if path == b"/simulated":
            connection.send(wire.response(200, msgspec.json.encode(self.served)))
        elif self.behaviour.key is not None and f"Bearer {self.behaviour.key}".encode() not in head:
            self._refuse(connection, 401, "Incorrect API key provided.", "invalid_api_key")
        elif path == b"/models" and method == b"GET":
            connection.send(wire.models(self.behaviour.models, self.behaviour.window))
        elif path == b"/chat/completions" and method == b"POST":
            self._complete(connection, body)
        elif path == b"/embeddings" and method == b"POST":
            self._embed(connection, body)
        else:
            self._refuse(connection, 404, f"Not Found: {method.decode()} {path.decode()}", "not_found")

    def _refuse(
        self, connection: Connection, status: int, message: str, code: str, wait: float = 0.0
    ) -> None:
        self.served.count(self.served.statuses, status)
        extra = b"retry-after: %d\r\n" % max(1, round(wait + 0.5)) if wait else b""
        connection.send(wire.error(self.behaviour.provider, status, message, code, extra))

    def _complete(self, connection: Connection, body: bytes) -> None:
        behaviour, served = self.behaviour, self.served
        served.requests += 1
        try:
            asked = msgspec.json.decode(body, type=Asked)
        except msgspec.DecodeError as wrong:
            self._refuse(connection, 400, f"Could not parse the JSON body: {wrong}", "invalid_json")
            return
        served.count(served.models, asked.model)
        given = self._count(bytes(asked.messages))
        if given > behaviour.window:
            message = (
                f"This model's maximum context length is {behaviour.window} tokens. "
                f"However, your messages resulted in {given} tokens."
            )
            self._refuse(connection, 400, message, "context_length_exceeded")
            return
        if self._turned_away(connection, given):
            return
        self._reply(connection, asked, self._say(asked, body), given)

    def _turned_away(self, connection: Connection, given: int) -> bool:
        """Whether a limit or a fault came first; it is answered then."""
        over = self._limits.over(given, self.served.in_flight)
        if over is not None:
            self._refuse(connection, 429, over.message, "rate_limit_exceeded", over.wait_seconds)
            return True
        faults = self.behaviour.faults
        fault = faults.strike(self._dice) if faults.any else ""
        if fault:
            self._fail(connection, fault)
        return bool(fault)

    def _embed(self, connection: Connection, body: bytes) -> None:
        """Vectors, under the same limits, faults and time to the first byte as replies."""
        behaviour, served = self.behaviour, self.served
        try:
            asked = msgspec.json.decode(body, type=embeddings.Asked)
        except msgspec.DecodeError as wrong:
            self._refuse(connection, 400, f"Could not parse the JSON body: {wrong}", "invalid_json")
            return
        served.embedded += 1
        given = self._count(body)
        if self._turned_away(connection, given):
            return
        reply = wire.response(200, embeddings.body_of(asked, given))
        wait = behaviour.latency.first_seconds * behaviour.latency.factor(self._dice)
        connection.later(wait, reply, lambda: None)

    def _reply(self, connection: Connection, asked: Asked, say: Say, given: int) -> None:
        served, latency = self.served, self.behaviour.latency
        said = (say.text, say.reasoning, *(call.arguments for call in say.calls))
        made = max(1, sum(self._count(text.encode()) for text in said if text))
        served.calls += len(say.calls)
        usage = wire.usage_of(given, made)
        factor = latency.factor(self._dice)
        first, each = latency.first_seconds * factor, latency.token_seconds * factor
        if asked.stream:
            served.streams += 1
            wanted = self.behaviour.usage_in_streams and bool(
                (asked.stream_options or {}).get("include_usage")
            )
            events = wire.stream_events(served.requests, asked.model, say, usage if wanted else None)
            connection.stream(events, first, each, lambda: self._done(given, made))
        else:
            limits = self._limits.headers() if self.behaviour.says_limits else b""
            completion = wire.completion(served.requests, asked.model, say, usage)
            body = wire.response(200, completion, extra=limits)
            connection.later(first + each * made, body, lambda: self._done(given, made))

    def _done(self, given: int, made: int) -> None:
        self._limits.made(made)
        self.served.replies += 1
        self.served.input_tokens += given
        self.served.output_tokens += made

    def _say(self, asked: Asked, body: bytes) -> Say:
        if not self.behaviour.scripts and asked.response_format is None and asked.tool_choice is None:
            return Say(self._plain)
        decoded: dict[str, Any] = msgspec.json.decode(body)
        for script in (*self.behaviour.scripts, by_tools, by_schema):
            say = script(decoded)
            if say is not None:
                return say
        return Say(self._plain)

    def _fail(self, connection: Connection, fault: str) -> None:
        self.served.count(self.served.faults, fault)
        if fault == "drop":
            connection.drop()
        elif fault == "cut":
            connection.send(_CUT_REPLY)
            connection.drop()
        elif fault == "not_json":
            connection.send(wire.response(200, b"upstream connect error", b"text/plain"))
        elif fault.startswith("error_"):
            status = int(fault.removeprefix("error_"))
            message = "The server had an error while processing your request."
            self._refuse(connection, status, message, "server_error", 1.0 if status == 429 else 0.0)
        # "hang": nothing is written; the connection lives until the client gives up

    def _exact(self, text: bytes) -> int:
        from orchestra.context.tokens import counter_for

        tokens: int = counter_for("gpt-4o").count(text.decode("utf-8", "replace"))
        return tokens


def _estimate(text: bytes) -> int:
    return (len(text) + 3) // 4


@asynccontextmanager
async def simulated(
    behaviour: Behaviour | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    endpoint: Simulated | None = None,
) -> AsyncIterator[Simulated]:
    """Serves until the context ends; `port` 0 takes a free one. `url` on the result is the base URL.

    `endpoint`: one that is made already, in place of a plain one of this behaviour.
    """
    endpoint = endpoint or Simulated(behaviour)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(endpoint.connection, host, port, backlog=4_096)
    bound = server.sockets[0].getsockname()
    endpoint.url = f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}/v1"
    try:
        yield endpoint
    finally:
        server.close()
        endpoint.close()
