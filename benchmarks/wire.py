"""CPU of one model call and of one streamed chunk, beside the openai client and bare aiohttp.

    python benchmarks/wire.py [--rounds 3] [--calls 1500] [--quick]

The server is `orchestra simulate` in a process of its own, on another core where there is one. All clients
take turns in each round, so that a busy machine is busy for all of them; the table shows the least and the
median of the rounds. CPU is the client process's, all threads. Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import msgspec
import openai

from orchestra.models.opening import open_models
from orchestra.models.settings import Endpoint, TierSetting
from orchestra.values.messages import Message, Reply, Request

BARE_TIMES, CREATE_TIMES, CHUNK_US = 1.6, 0.15, 5.0
STREAM_TOKENS = 780
PATIENT: dict[str, Any] = {"max_retries": 0, "timeout": 600.0}
Call = Callable[[int], Awaitable[None]]


def history(kilobytes: float) -> list[dict[str, str]]:
    """Six messages of about this size in all."""
    text = "The council accepted the proposal after a long discussion of its merits. " * 200
    each = int(kilobytes * 1000 / 6) - 40
    roles = ("system", "user", "assistant", "user", "assistant", "user")
    return [{"role": role, "content": text[:each]} for role in roles]


class Clients:
    """Each client as an async function of a call's number; `streams`: the same for one stream, → chunks."""

    def __init__(self, url: str, stream_url: str) -> None:
        self.url, self.stream_url = url, stream_url
        self.stack = AsyncExitStack()

    async def __aenter__(self) -> Clients:
        enter = self.stack.enter_async_context
        self.session = await enter(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        self.openai = await enter(openai.AsyncOpenAI(base_url=self.url, api_key="k", **PATIENT))
        self.aio = await enter(
            openai.AsyncOpenAI(
                base_url=self.url, api_key="k", **PATIENT, http_client=openai.DefaultAioHttpClient()
            )
        )
        endpoints = [
            Endpoint(name="d", url=self.url, key="k", quirks={"tools": "native"}),
            Endpoint(name="o", url=self.url, key="k", transport="official", quirks={"tools": "native"}),
            Endpoint(name="s", url=self.stream_url, key="k", quirks={"tools": "native"}),
        ]
        tiers = {name: TierSetting(endpoint=name, model="m") for name in ("d", "o", "s")}
        self.models = await enter(open_models(endpoints, tiers))
        self.streamer = await enter(openai.AsyncOpenAI(base_url=self.stream_url, api_key="k", **PATIENT))
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.stack.aclose()

    def calls(self, messages: list[dict[str, str]]) -> dict[str, Call]:
        """One call each: the same history and one new message."""
        kept = tuple(Message(role=row["role"], text=row["content"]) for row in messages)  # type: ignore[arg-type]
        headers = {"Authorization": "Bearer k", "Content-Type": "application/json"}

        async def bare(n: int) -> None:
            body = msgspec.json.encode(
                {"model": "m", "messages": [*messages, {"role": "user", "content": f"{n}"}]}
            )
            async with self.session.post(
                f"{self.url}/chat/completions", data=body, headers=headers
            ) as response:
                reply = msgspec.json.decode(await response.read())
            assert reply["choices"][0]["message"]["content"]

        async def ours(tier: str, n: int) -> None:
            request = Request(messages=(*kept, Message(role="user", text=f"{n}")))
            assert (await self.models[tier].reply(request)).text

        async def create(client: openai.AsyncOpenAI, n: int) -> None:
            rows: Any = [*messages, {"role": "user", "content": f"{n}"}]
            reply = await client.chat.completions.create(model="m", messages=rows)
            assert reply.choices[0].message.content

        return {
            "aiohttp": bare,
            "direct": lambda n: ours("d", n),
            "official": lambda n: ours("o", n),
            "create+aio": lambda n: create(self.aio, n),
            "create": lambda n: create(self.openai, n),
        }

    def streams(self) -> dict[str, Callable[[], Awaitable[int]]]:
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}

        async def bare() -> int:
            chunks, rest = 0, b""
            async with self.session.post(f"{self.stream_url}/chat/completions", json=body) as response:
                async for data in response.content.iter_any():
                    *events, rest = (rest + data).split(b"\n\n")
                    for event in events:
                        if event.startswith(b"data: {"):
                            chunks += bool(msgspec.json.decode(event[6:])["choices"])
            return chunks

        async def direct() -> int:
            chunks = 0
            async for item in self.models["s"].stream(Request(messages=(Message(role="user", text="x"),))):
                chunks += not isinstance(item, Reply)
            return chunks

        async def create() -> int:
            chunks = 0
            stream: Any = await self.streamer.chat.completions.create(**body)  # type: ignore[call-overload]
            async for _ in stream:
                chunks += 1
            return chunks

        return {"aiohttp": bare, "direct": direct, "create": create}


async def cpu_of(call: Call, calls: int, in_flight: int) -> float:
    """Microseconds of CPU a call, with so many in flight."""
    numbers = iter(range(calls))

    async def worker() -> None:
        for n in numbers:
            await call(n)

    started = time.process_time()
    async with asyncio.TaskGroup() as group:
        for _ in range(in_flight):
            group.create_task(worker())
    return (time.process_time() - started) / calls * 1e6


async def measure(url: str, stream_url: str, options: argparse.Namespace) -> bool:
    """The tables; True where every bar holds."""
    good = True
    async with Clients(url, stream_url) as clients:
        for kilobytes in (0.5, 13.0):
            for in_flight in (1, 50, 500):
                rows = clients.calls(history(kilobytes))
                found: dict[str, list[float]] = {name: [] for name in rows}
                for turn in range(options.rounds + 1):  # the first warms up
                    for name, call in rows.items():
                        slow = name.startswith("create")
                        calls = max(in_flight * 2, options.calls // (6 if slow else 1))
                        cpu = await cpu_of(call, calls if turn else in_flight * 2, in_flight)
                        if turn:
                            found[name].append(cpu)
                good &= show(kilobytes, in_flight, found)
        good &= await measure_streams(clients, options.rounds)
    return good


def show(kilobytes: float, in_flight: int, found: dict[str, list[float]]) -> bool:
    least = {name: min(values) for name, values in found.items()}
    print(f"\n{kilobytes:g} KB, {in_flight} in flight: µs of CPU a call, least (median)")
    for name, values in found.items():
        ratio = least[name] / least["aiohttp"]
        print(f"  {name:12}{least[name]:9.0f} ({statistics.median(values):.0f})  {ratio:5.2f} x aiohttp")
    bare = least["direct"] / least["aiohttp"]
    create = least["direct"] / min(least["create"], least["create+aio"])
    good = bare <= BARE_TIMES and (in_flight < 500 or create <= CREATE_TIMES)
    print(
        f"  direct: {bare:.2f} x aiohttp (bar {BARE_TIMES}), {create:.3f} x the cheaper create"
        f"{f' (bar {CREATE_TIMES})' if in_flight == 500 else ''}{'' if good else '   MISSED'}"
    )
    return good


async def measure_streams(clients: Clients, rounds: int) -> bool:
    """CPU of a chunk in streams of 780 tokens, one after another."""
    rows = clients.streams()
    found: dict[str, list[float]] = {name: [] for name in rows}
    for turn in range(rounds + 1):
        for name, stream in rows.items():
            started, chunks = time.process_time(), 0
            for _ in range(2 if name == "create" else 20):
                chunks += await stream()
            if turn:
                found[name].append((time.process_time() - started) / chunks * 1e6)
    print(f"\nStreams of {STREAM_TOKENS} tokens: µs of CPU a chunk, least (median)")
    for name, values in found.items():
        print(f"  {name:12}{min(values):9.2f} ({statistics.median(values):.2f})")
    good = min(found["direct"]) <= CHUNK_US
    print(f"  direct: bar {CHUNK_US} µs{'' if good else '   MISSED'}")
    return good


def serve(core: int | None, tokens: int) -> tuple[subprocess.Popen[str], str]:
    """A simulated endpoint in its own process; its base URL."""
    code = "from orchestra.cli.simulate import simulate; simulate()"
    command = [sys.executable, "-c", code, "--port", "0", "--plain", "--reply-tokens", str(tokens)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    if core is not None:
        os.sched_setaffinity(process.pid, {core})
    assert process.stdout is not None
    return process, process.stdout.readline().rpartition(" ")[2].strip()


async def left_open(url: str) -> int:
    """Connections that the server still has, beside the one that asks."""
    await asyncio.sleep(0.5)
    async with (
        aiohttp.ClientSession() as session,
        session.get(url.removesuffix("/v1") + "/simulated") as response,
    ):
        return int((await response.json())["connections_open"]) - 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=1_500)
    parser.add_argument("--quick", action="store_true", help="one short round, for a look")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.calls = 1, 500
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > 1:
        os.sched_setaffinity(0, {cores[0]})
    core = cores[-1] if len(cores) > 1 else None
    servers = [serve(core, 60), serve(core, STREAM_TOKENS)]
    try:
        good = asyncio.run(measure(servers[0][1], servers[1][1], options))
        for _, url in servers:
            count = asyncio.run(left_open(url))
            print(f"connections left open at {url}: {count}")
            good &= count == 0
    finally:
        for process, _ in servers:
            process.terminate()
            process.wait()
    print("every bar holds" if good else "a bar was missed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
