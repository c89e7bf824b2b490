"""Runs one implementation in an interpreter of its own and prints one JSON line. Started by compare.py."""

# mypy: ignore-errors
from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import json
import os
import statistics
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "implementations")]

parser = argparse.ArgumentParser()
parser.add_argument("--implementation", required=True)
parser.add_argument("--concurrency", type=int, default=1)
parser.add_argument("--sessions", type=int, default=10)
parser.add_argument("--rate", type=float, default=0.0, help="open loop: so many sessions a second")
parser.add_argument("--ramp", type=float, default=0.0, help="seconds over which a closed loop starts")
parser.add_argument("--warmup", type=int, default=3)
parser.add_argument("--agents", type=int, default=0, help="make so many agents and measure that")
parser.add_argument("--only-import", action="store_true")
parser.add_argument("--hold", type=float, default=0.0, help="seconds to wait before the measurement")
options = parser.parse_args()
SERVER = os.environ["BENCH_BASE_URL"].rsplit("/", 1)[0]
CALLS = ("planner", "research0", "research1", "research_final", "writer", "other")


def memory_kib(field: str = "VmRSS") -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0


def reset_peak() -> None:
    """The peak of the memory is counted from here."""
    Path("/proc/self/clear_refs").write_text("5")


def ask(path: str) -> dict:
    return json.loads(urllib.request.urlopen(SERVER + path).read())


def share(values: list[float], at: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(at * len(ordered)))]


async def make_agents(implementation, found: dict) -> None:
    """Time with a warm cache, size with so many alive; tools and models are shared, as in real use."""
    import tracemalloc

    await implementation.setup()
    number = options.agents
    for _ in range(3):
        implementation.make_agent()
    best = float("inf")
    for _ in range(5):
        gc.collect()
        gc.disable()
        began = time.perf_counter()
        for _ in range(number):
            implementation.make_agent()
        best = min(best, (time.perf_counter() - began) / number)
        gc.enable()
    kept = [None] * number
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for at in range(number):
        kept[at] = implementation.make_agent()
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    found.update(agent_us=round(best * 1e6, 2), agent_bytes=round((after - before) / number))


async def run_sessions(implementation, found: dict) -> None:
    await implementation.setup()
    for number in range(options.warmup):
        await implementation.session(-1 - number)
    gc.collect()
    gc.freeze()  # what is there now stays; a server of any of these would do the same
    ask("/reset")
    base = memory_kib()
    reset_peak()
    await asyncio.sleep(options.hold)
    seconds: list[float] = []
    errors: list[str] = []

    async def one(number: int, began: float) -> None:
        try:
            await implementation.session(number)
        except Exception as error:  # noqa: BLE001 - counted and reported, never hidden
            errors.append(f"{type(error).__name__}: {error}"[:300])
        else:
            seconds.append(time.perf_counter() - began)

    began, cpu = time.perf_counter(), time.process_time()
    if options.rate:
        await open_loop(one, began)
    else:
        await closed_loop(one)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    peak = memory_kib("VmHWM")
    served = ask("/stats")
    close = getattr(implementation, "close", None)
    if close is not None:
        at = time.process_time()
        await close()  # what was put off until now is paid too
        cpu += time.process_time() - at
    done = max(1, len(seconds))
    found.update(
        done=len(seconds),
        errors=len(errors),
        first_error=errors[0] if errors else "",
        calls_a_session=sum(served[kind] for kind in CALLS) / done,
        complete=served["writer_ok"] == done and served["research_ok"] == 9 * done,
        sessions_a_second=len(seconds) / wall,
        cpu_ms_a_call=cpu / done / 11 * 1e3,
        p50_ms=statistics.median(seconds) * 1e3 if seconds else None,
        p99_ms=share(seconds, 0.99) * 1e3 if seconds else None,
        kib_a_session=(peak - base) / max(1, options.concurrency),
        peak_mib=peak / 1024,
    )


async def open_loop(one, began: float) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(options.sessions):
            due = began + number / options.rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(one(number, due))


async def closed_loop(one) -> None:
    numbers = iter(range(options.sessions))

    async def lane(place: int) -> None:
        await asyncio.sleep(options.ramp * place / options.concurrency)
        for number in numbers:
            await one(number, time.perf_counter())

    async with asyncio.TaskGroup() as group:
        for place in range(options.concurrency):
            group.create_task(lane(place))


def main() -> None:
    found: dict = {}
    cpu, wall = time.process_time(), time.perf_counter()
    implementation = importlib.import_module(options.implementation)
    found["import_cpu_s"] = time.process_time() - cpu
    found["import_s"] = time.perf_counter() - wall
    found["import_mib"] = memory_kib() / 1024
    if not options.only_import:
        import uvloop

        uvloop.run((make_agents if options.agents else run_sessions)(implementation, found))
    print("RESULT " + json.dumps(found))
    sys.stdout.flush()
    os._exit(0)  # do not wait for the background threads of libraries


main()
