"""What a crash costs: nothing that was recorded.

    python -m benchmarks.crash [--kills 100] [--seed 7] [--json] [--check]

A run of 11 model calls and 6 tool calls (3 of them writes) against a simulated endpoint is killed with
SIGKILL at a random moment and resumed: every fourth kill falls into one of the writer's commits, every
third run is killed twice. Bars (issue 6): every run ends with the undisturbed run's report; the endpoint
counts at most the calls that were open at a kill beyond 11; no write happens twice.

A call is open from when it is sent until its reply is recorded. `answered` counts those open calls whose
reply the endpoint had sent: they fell into the few ms of the reply's commit.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from msgspec import Struct

from orchestra.load.behaviour import Behaviour, Call, Latency, Say
from orchestra.load.research_script import Research
from orchestra.load.simulated import Simulated, simulated

CALLS, WRITES, AT_ONCE = 11, 3, 3
LATENCY = Latency(first_seconds=0.05, spread=0.3)
# Commits of an undisturbed run; a kill falls into one of the first so many.
COMMITS = 24
COMMIT_SECONDS = 0.002
SIDE_BY_SIDE = 2
PATIENCE_SECONDS = 120


class Noting:
    """The research script with one search, after which a note is filed."""

    def __init__(self) -> None:
        self._research = Research(searches=1)

    def __call__(self, body: Mapping[str, Any]) -> Say | None:
        names = {tool.get("function", {}).get("name") for tool in body.get("tools") or ()}
        results = sum(message.get("role") == "tool" for message in body.get("messages", ()))
        if "file_note" in names and results == 1:
            return Say(calls=(Call("file_note", json.dumps({"note": "looked"})),))
        return self._research(body)


class Kill(Struct, frozen=True):
    """When: `seconds` into the work, or `after` seconds into the commit of that number."""

    seconds: float = 0.0
    commit: int = 0
    after: float = 0.0


class Round(Struct, kw_only=True):
    """What came of one run. `open`: calls that a kill cut off, and of them `answered` by the endpoint."""

    kills: int = 0
    in_commit: int = 0
    requests: int = 0
    open: int = 0
    answered: int = 0
    most_open: int = 0
    written: int = 0
    twice: int = 0
    same: bool = False
    fault: str = ""


class Outcome(Struct, frozen=True):
    """One process: whether it was killed, how long its work took, what was in flight at a kill."""

    killed: bool
    seconds: float
    in_flight: int


class Undisturbed(Struct, frozen=True):
    """What the runs are held against; `index`: of the documents, ready made."""

    report: dict[str, Any]
    index: Path
    seconds: float


async def start(folder: Path, url: str, kill: Kill | None, *, resume: bool) -> anyio.abc.Process:
    command = [sys.executable, "-m", "benchmarks.crash_worker", str(folder), url]
    command += ["--resume"] if resume else []
    if kill is not None and kill.commit:
        command += ["--kill-commit", str(kill.commit), "--kill-after", str(kill.after)]
    return await anyio.open_process(command, stderr=sys.stderr.fileno())


async def work(
    folder: Path, endpoint: Simulated, kill: Kill | None = None, *, resume: bool = False
) -> Outcome:
    """Run, and kill at its moment."""
    process = await start(folder, endpoint.url, kill, resume=resume)
    assert process.stdout is not None
    in_flight = 0
    with anyio.fail_after(PATIENCE_SECONDS):
        try:
            await process.stdout.receive()
            began = took = time.perf_counter()
            if kill is not None and not kill.commit:
                with anyio.move_on_after(kill.seconds):
                    await process.wait()
                if process.returncode is None:
                    in_flight = endpoint.served.in_flight
                    process.kill()
            else:
                await process.stdout.receive()
            took = time.perf_counter()
        except anyio.EndOfStream:
            began = took = 0.0  # killed by its own hand
            in_flight = endpoint.served.in_flight
        code = await process.wait()
    await process.aclose()
    if code not in (0, -9):
        raise RuntimeError(f"The worker ended with code {code}.")
    return Outcome(code == -9, took - began, in_flight)


def recorded_replies(folder: Path) -> int:
    with sqlite3.connect(folder / "store.db") as store:
        return int(store.execute("SELECT count(*) FROM events WHERE kind = 'reply'").fetchone()[0])


def begun(folder: Path) -> bool:
    """Whether the session's beginning was recorded; one that was not is simply asked again."""
    with sqlite3.connect(folder / "store.db") as store:
        return bool(store.execute("SELECT count(*) FROM sessions").fetchone()[0])


def plan(dice: random.Random, number: int, seconds: float) -> list[Kill]:
    """The kills of one run."""
    kills: list[Kill] = []
    for _ in range(2 if number % 3 == 0 else 1):
        if (number + len(kills)) % 4 == 0:
            kills.append(Kill(commit=dice.randint(1, COMMITS), after=dice.uniform(0, COMMIT_SECONDS)))
        else:
            kills.append(Kill(seconds=dice.uniform(0, seconds)))
    return kills


async def one(number: int, kills: list[Kill], undisturbed: Undisturbed, into: dict[int, Round]) -> None:
    """A run that is killed so, resumed until it ends, and looked at."""
    done = into[number] = Round()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(undisturbed.index, folder / "documents.db")
        async with simulated(Behaviour(latency=LATENCY, scripts=(Noting(),), seed=number)) as endpoint:
            left, resume, killed = list(kills), False, True
            while killed:
                kill = left.pop(0) if left else None
                outcome = await work(folder, endpoint, kill, resume=resume)
                killed = outcome.killed
                if killed:
                    account(done, folder, endpoint, outcome.in_flight)
                    done.in_commit += bool(kill and kill.commit)
                resume = begun(folder)
            done.requests = endpoint.served.requests
        lines = (folder / "notes.txt").read_text(encoding="utf-8").split()
        done.written, done.twice = len(lines), len(lines) - len(set(lines))
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        done.same = comparable(report) == undisturbed.report
        if not done.same:
            done.fault = f"the report of run {number} differs"


def account(done: Round, folder: Path, endpoint: Simulated, in_flight: int) -> None:
    """What was open when the process was killed, with so many calls in flight at the endpoint."""
    open_calls = endpoint.served.requests - done.open - recorded_replies(folder)
    done.kills += 1
    done.open += open_calls
    done.most_open = max(done.most_open, open_calls)
    done.answered += max(open_calls - in_flight, 0)


def comparable(report: dict[str, Any]) -> dict[str, Any]:
    """All but the session's name, its time, and its tokens, which count the endpoint's ids of calls."""
    calls = {tier: usage["calls"] for tier, usage in report["usage"].items()}
    return {**report, "session": "", "seconds": 0, "usage": calls}


async def undisturbed_runs(home: Path) -> Undisturbed:
    """Three of them; the first makes the index."""
    took, index = [], home / "0" / "documents.db"
    async with simulated(Behaviour(latency=LATENCY, scripts=(Noting(),))) as endpoint:
        for number in range(3):
            folder = home / str(number)
            folder.mkdir()
            if number:
                shutil.copy(index, folder / "documents.db")
            took.append((await work(folder, endpoint)).seconds)
        assert endpoint.served.requests == 3 * CALLS, endpoint.served
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return Undisturbed(comparable(report), index, statistics.median(took))


async def measure(count: int, seed: int) -> dict[str, Any]:
    dice = random.Random(seed)
    rounds: dict[int, Round] = {}
    places = anyio.Semaphore(SIDE_BY_SIDE)
    with tempfile.TemporaryDirectory() as name:
        undisturbed = await undisturbed_runs(Path(name))

        async def placed(number: int, kills: list[Kill]) -> None:
            async with places:
                await one(number, kills, undisturbed, rounds)

        async with anyio.create_task_group() as group:
            for number in range(count):
                group.start_soon(placed, number, plan(dice, number, undisturbed.seconds))
    return account_of(list(rounds.values()), undisturbed.seconds)


def account_of(rounds: list[Round], seconds: float) -> dict[str, Any]:
    return {
        "runs": len(rounds),
        "undisturbed_seconds": round(seconds, 3),
        "kills": sum(each.kills for each in rounds),
        "kills_in_commit": sum(each.in_commit for each in rounds),
        "killed_twice": sum(each.kills > 1 for each in rounds),
        "same_report": sum(each.same for each in rounds),
        "calls_beyond": sum(each.requests - CALLS for each in rounds),
        "open_at_kills": sum(each.open for each in rounds),
        "answered_but_not_recorded": sum(each.answered for each in rounds),
        "most_open_at_a_kill": max(each.most_open for each in rounds),
        "writes_twice": sum(each.twice for each in rounds),
        "writes_missing": sum(WRITES - each.written + each.twice for each in rounds),
        "over": sum(each.requests - CALLS > each.open for each in rounds),
        "faults": [each.fault for each in rounds if each.fault],
    }


def bars(found: dict[str, Any]) -> list[str]:
    """Every bar that is missed."""
    missed = []
    if found["same_report"] != found["runs"]:
        missed.append(f"{found['runs'] - found['same_report']} runs ended with another report")
    if found["over"]:
        missed.append(f"{found['over']} runs made more calls again than were open at their kills")
    if found["most_open_at_a_kill"] > AT_ONCE:
        missed.append(
            f"{found['most_open_at_a_kill']} calls were open at a kill, of {AT_ONCE} agents at work"
        )
    if found["writes_twice"] or found["writes_missing"]:
        missed.append(f"{found['writes_twice']} writes twice, {found['writes_missing']} never")
    if found["kills"] < found["runs"] * 0.8:
        missed.append(f"only {found['kills']} kills fell into {found['runs']} runs")
    return missed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100, help="runs that are killed at least once")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a bar is missed")
    options = parser.parse_args()
    found = anyio.run(measure, options.kills, options.seed)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        for name, value in found.items():
            print(f"{name.replace('_', ' '):<28} {value}")
    missed = bars(found)
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    if options.check and missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
