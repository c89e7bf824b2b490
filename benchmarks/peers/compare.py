"""Workload W in orchestra, in bare loops and in its peers: interleaved, in one run, with ratios.

    python benchmarks/peers/compare.py                          all cells, three rounds (about 40 minutes)
    python benchmarks/peers/compare.py --rounds 1 --only orchestra,openai --cells "50 at once"
    python benchmarks/peers/compare.py --environments           make or mend the peers' environments

One session: 11 model calls and 6 tool calls with results of 6 KB; the longest chain has 5 calls. The client
is pinned to one core, the server (`server.py`) to another. In each round every cell runs every implementation
once, in an order of chance, so that a ratio compares what ran within minutes. orchestra runs its whole
`research_then_write`: journal on disk, manifests, exact token counts, quotes and report checked. Peers go
through the official client with its aiohttp transport. Environments lie in ~/.cache/orchestra-peers.
"""

# mypy: ignore-errors
from __future__ import annotations

import argparse
import collections
import json
import os
import random
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("ORCHESTRA_PEERS", Path.home() / ".cache" / "orchestra-peers"))
CORES = os.environ.get("BENCH_CORES", "0,1").split(",")
FLOOR = ("openai", "orjson", "httpx")
# shown name → module, environment, its packages
ALL = {
    "orchestra": ("orchestra_", "", ()),
    "aiohttp": ("floor_aiohttp", "floor", FLOOR),
    "openai": ("floor_openai", "floor", FLOOR),
    "agno": ("agno_", "agno", ("agno", "openai")),
    "agent-framework": (
        "agent_framework_",
        "agent-framework",
        ("agent-framework-core", "agent-framework-openai"),
    ),
    "autogen": ("autogen_", "autogen", ("autogen-agentchat", "autogen-ext[openai]")),
    "langgraph": ("langgraph_", "langgraph", ("langgraph", "langchain", "langchain-openai")),
    "openai-agents": ("openai_agents_", "openai-agents", ("openai-agents",)),
    "pydantic-ai": ("pydantic_ai_", "pydantic-ai", ("pydantic-ai-slim[openai]",)),
}
# cell → the server's latency in ms, the worker's arguments, the column by which it is compared
CELLS = {
    "50 at once, 0 ms": (0, "--concurrency 50 --sessions 300", "cpu_ms_a_call"),
    "500 at once, 200 ms": (200, "--concurrency 500 --sessions 500 --ramp 1 --warmup 1", "cpu_ms_a_call"),
    "10 a second, 200 ms": (200, "--rate 10 --sessions 80 --warmup 1", "added_p50_ms"),
    "import": (0, "--only-import", "import_cpu_s"),
    "agent": (0, "--agents 300", "agent_us"),
}
COLUMNS = (
    "cpu_ms_a_call",
    "sessions_a_second",
    "p50_ms",
    "p99_ms",
    "added_p50_ms",
    "added_p99_ms",
    "kib_a_session",
    "import_cpu_s",
    "import_mib",
    "agent_us",
    "agent_bytes",
)
IDEAL_MS = 1_000.0  # five calls of 200 ms, one behind the other


def python_of(environment: str) -> str:
    return str(CACHE / environment / "bin" / "python") if environment else sys.executable


def make_environments(wanted: list[str]) -> None:
    for name in wanted:
        _, environment, packages = ALL[name]
        if environment and not Path(python_of(environment)).exists():
            subprocess.run([sys.executable, "-m", "venv", str(CACHE / environment)], check=True)
        if environment:
            install = [python_of(environment), "-m", "pip", "install", "-q", "uvloop", "aiohttp", *packages]
            subprocess.run(install, check=True)


def start_server(port: int) -> subprocess.Popen:
    python = python_of("floor") if Path(python_of("floor")).exists() else sys.executable
    server = subprocess.Popen(["taskset", "-c", CORES[1], python, str(HERE / "server.py"), str(port)])
    for _ in range(200):
        try:
            ask(port, "/stats")
        except OSError:
            time.sleep(0.05)
        else:
            return server
    raise SystemExit("the server did not start")


def ask(port: int, path: str) -> bytes:
    return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).read()


def run(port: int, cell: str, name: str, seconds: float) -> dict:
    """One implementation in one cell; {"failed": why} where it did not come to an end."""
    latency, arguments, _ = CELLS[cell]
    module, environment, _ = ALL[name]
    ask(port, f"/latency?ms={latency}")
    own = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    own |= {"BENCH_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "sk-bench"}
    if not environment:
        own["PYTHONPATH"] = str(HERE.parent.parent)
    command = ["taskset", "-c", CORES[0], python_of(environment), str(HERE / "worker.py")]
    command += ["--implementation", module, *arguments.split()]
    try:
        done = subprocess.run(command, env=own, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {seconds:g} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        return {"failed": done.stderr.strip().splitlines()[-1:] or f"exit code {done.returncode}"}
    found = json.loads(lines[-1].removeprefix("RESULT "))
    if found.get("errors") or ("calls_a_session" in found and not found["complete"]):
        found["failed"] = found["first_error"] or "the server did not see every result"
    if cell.startswith("10 a second") and found.get("p50_ms"):
        found["added_p50_ms"] = found["p50_ms"] - IDEAL_MS
        found["added_p99_ms"] = found["p99_ms"] - IDEAL_MS
    return found


def show(runs: dict, names: list[str]) -> None:
    """A table for each cell: medians, the least value, the ratio to the bare loop over the client."""
    for cell, (_, _, key) in CELLS.items():
        rows = {name: [run for run in runs[cell, name] if "failed" not in run] for name in names}
        rows = {name: found for name, found in rows.items() if found}
        if not rows:
            continue
        columns = [column for column in COLUMNS if any(column in found[0] for found in rows.values())]
        base = statistics.median(run[key] for run in rows["openai"]) if "openai" in rows else None
        print(f"\n{cell}\n\n| | n | {' | '.join(columns)} | least | x openai |")
        print("|---" * (len(columns) + 4) + "|")
        middle = {name: statistics.median(run[key] for run in found) for name, found in rows.items()}
        for name in sorted(rows, key=lambda name: middle[name]):
            values = [median_of(rows[name], column) for column in columns]
            least = min(run[key] for run in rows[name])
            ratio = f"{middle[name] / base:.2f}" if base else "-"
            print(f"| {name} | {len(rows[name])} | {' | '.join(values)} | {least:.4g} | {ratio} |")


def median_of(found: list[dict], column: str) -> str:
    values = [run[column] for run in found if run.get(column) is not None]
    return f"{statistics.median(values):,.4g}" if values else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(ALL), help="names, with commas between")
    parser.add_argument("--cells", default="", help="beginnings of cells, with semicolons between")
    parser.add_argument("--seconds", type=float, default=300.0, help="for one run")
    parser.add_argument("--port", type=int, default=8397)
    parser.add_argument("--environments", action="store_true")
    options = parser.parse_args()
    names = options.only.split(",")
    if options.environments:
        make_environments(names)
        return
    names = [name for name in names if Path(python_of(ALL[name][1])).exists()]
    starts = [start.strip() for start in options.cells.split(";")]
    jobs = [(cell, name) for cell in CELLS for name in names if any(cell.startswith(each) for each in starts)]
    jobs = [job for job in jobs if not (job[0] == "agent" and ALL[job[1]][1] == "floor")]
    runs = collections.defaultdict(list)
    server = start_server(options.port)
    try:
        for number in range(options.rounds):
            random.Random(number).shuffle(jobs)
            for cell, name in jobs:
                found = run(options.port, cell, name, options.seconds)
                runs[cell, name].append(found)
                print(number + 1, cell, name, found.get("failed", "ok"), file=sys.stderr, flush=True)
    finally:
        server.terminate()
    show(runs, names)


if __name__ == "__main__":
    main()
