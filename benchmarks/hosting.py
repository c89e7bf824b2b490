"""Ten thousand sessions through one process: what stays of them.

    python benchmarks/hosting.py [--sessions 10000] [--at-once 100]

Each session is the whole `research_then_write` of `benchmarks/peers`, over HTTP against its server. Memory is
compared after the last session and after the first thousand: bar 5 %. Open files (less kept connections, as
many as calls at once), tasks and threads have to be what they were.
"""

# mypy: ignore-errors
from __future__ import annotations

import argparse
import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

PEERS = Path(__file__).parent / "peers"


def memory_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def open_files() -> int:
    """Without sockets: the pool keeps as many connections as there were calls at once."""
    links = (Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd"))
    return sum(not os.readlink(link).startswith("socket:") for link in links if os.path.islink(link))


def room() -> tuple[float, int, int, int]:
    gc.collect()
    return memory_mib(), open_files(), len(asyncio.all_tasks()), threading.active_count()


async def serve(implementation, number: int, at_once: int) -> None:
    numbers = iter(range(number))

    async def lane() -> None:
        for each in numbers:
            await implementation.session(each)

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(lane())
    await implementation._runtime.kit.journal.flush()


async def measure(options: argparse.Namespace) -> int:
    import orchestra_ as implementation

    await implementation.setup()
    await serve(implementation, 1_000, options.at_once)
    first = room()
    print(
        f"after 1,000: {first[0]:.1f} MiB, {first[1]} files, {first[2]} tasks, {first[3]} threads", flush=True
    )
    began, done = time.perf_counter(), 1_000
    while done < options.sessions:
        await serve(implementation, 1_000, options.at_once)
        done += 1_000
        now = room()
        print(
            f"after {done:,}: {now[0]:.1f} MiB, {now[1]} files, {now[2]} tasks, {now[3]} threads", flush=True
        )
    growth = now[0] / first[0] - 1
    kept = now[1] <= first[1] and now[2] <= first[2] and now[3] <= first[3] + 1
    print(
        f"grown by {growth:.1%} (bar 5 %), {(done - 1_000) / (time.perf_counter() - began):.0f} sessions a second"
    )
    await implementation.close()
    return 0 if growth <= 0.05 and kept else 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--at-once", type=int, default=100)
    parser.add_argument("--port", type=int, default=8396)
    options = parser.parse_args()
    sys.path[:0] = [str(PEERS), str(PEERS / "implementations"), str(PEERS.parent.parent)]
    os.environ["BENCH_BASE_URL"] = f"http://127.0.0.1:{options.port}/v1"
    server = subprocess.Popen([sys.executable, str(PEERS / "server.py"), str(options.port)])
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{options.port}/stats", timeout=1).read()
                break
            except OSError:
                time.sleep(0.1)
        sys.exit(asyncio.run(measure(options)))
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
