"""What a crash costs: nothing that was recorded.

    python -m benchmarks.crash [--kills 100] [--seed 7] [--stream] [--json] [--check]

A run of 11 model calls and 6 tool calls (3 of them writes) against a simulated endpoint is killed with
SIGKILL at a random moment and resumed: every fourth kill falls into one of the writer's commits, every
third run is killed twice. Bars (issue 6): every run ends with the undisturbed run's report; the endpoint
counts at most the calls that were in flight at a kill beyond 11; no write happens twice.

All times are the endpoint's. A call that was made again was either in flight at the kill (received, and not
wholly answered), or answered and not yet on disk: for those the age is printed, from the reply's last byte
to the kill. None may be older than 50 ms, the reply's way to the disk, unless the machine did not run the
process meanwhile (`cpu`: what it got of a processor). Kills that are aimed at a commit hit that way on
purpose and are told apart from those at random moments.
"""

from __future__ import annotations

import argparse
import json
import os
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

from benchmarks.crash_clock import Clocked, Killed, Lost, answered, cpu_seconds, in_flight, lost_calls
from benchmarks.crash_worker import STREAM
from benchmarks.verdict import end
from orchestra.load.behaviour import Behaviour, Call, Latency, Say
from orchestra.load.research_script import Research
from orchestra.load.simulated import simulated

CALLS, WRITES = 11, 3
# From a reply's last byte until it is on disk; more counts only where the process had that much of a
# processor meanwhile: one that the machine did not run could not read the reply either.
MOST_SECONDS, STARVED_SECONDS = 0.05, 0.02
LATENCY = Latency(first_seconds=0.05, token_seconds=0.0002, spread=0.3)
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


class Plan(Struct, frozen=True):
    """When to kill: `seconds` into the work, or `after` seconds into the commit of that number."""

    seconds: float = 0.0
    commit: int = 0
    after: float = 0.0


class Round(Struct, kw_only=True):
    """What came of one run. `in_flight`: calls at its kills, `lost`: those that were made again."""

    kills: list[Killed] = []
    requests: int = 0
    in_flight: int = 0
    lost: list[Lost] = []
    written: int = 0
    twice: int = 0
    same: bool = False
    fault: str = ""


class Outcome(Struct, frozen=True):
    """One process: when it was killed (None: it was not), and how long its work took."""

    killed: Killed | None
    seconds: float


class Undisturbed(Struct, frozen=True):
    """What the runs are held against; `index`: of the documents, ready made."""

    report: dict[str, Any]
    index: Path
    seconds: float


async def start(folder: Path, url: str, kill: Plan | None, *, resume: bool) -> anyio.abc.Process:
    command = [sys.executable, "-m", "benchmarks.crash_worker", str(folder), url]
    command += ["--resume"] if resume else []
    if kill is not None and kill.commit:
        command += ["--kill-commit", str(kill.commit), "--kill-after", str(kill.after)]
    return await anyio.open_process(command, stderr=sys.stderr.fileno())


async def work(folder: Path, endpoint: Clocked, kill: Plan | None = None, *, resume: bool = False) -> Outcome:
    """Run, and kill at its moment."""
    process = await start(folder, endpoint.url, kill, resume=resume)
    assert process.stdout is not None
    endpoint.client = process.pid
    killed, said = None, b""
    began = took = time.monotonic()
    with anyio.fail_after(PATIENCE_SECONDS):
        try:
            said = await process.stdout.receive()
            began = took = time.monotonic()
            if kill is not None and not kill.commit:
                with anyio.move_on_after(kill.seconds):
                    await process.wait()
                if process.returncode is None:
                    killed = Killed(process.pid, time.monotonic(), cpu_seconds(process.pid), aimed=False)
                    process.kill()
            while True:
                said += await process.stdout.receive()
                took = time.monotonic()
        except anyio.EndOfStream:
            code = await process.wait()
    await process.aclose()
    if code not in (0, -9):
        raise RuntimeError(f"The worker ended with code {code}.")
    if code == -9 and kill is not None and kill.commit:
        _, at, ran, *_ = said[said.index(b"killed") :].split()  # by its own hand, and said so before
        killed = Killed(process.pid, float(at), float(ran), aimed=True)
    return Outcome(killed if code == -9 else None, took - began)


def begun(folder: Path) -> bool:
    """Whether the session's beginning was recorded; one that was not is simply asked again."""
    with sqlite3.connect(folder / "store.db") as store:
        return bool(store.execute("SELECT count(*) FROM sessions").fetchone()[0])


def plan(dice: random.Random, number: int, seconds: float) -> list[Plan]:
    """The kills of one run."""
    kills: list[Plan] = []
    for _ in range(2 if number % 3 == 0 else 1):
        if (number + len(kills)) % 4 == 0:
            kills.append(Plan(commit=dice.randint(1, COMMITS), after=dice.uniform(0, COMMIT_SECONDS)))
        else:
            kills.append(Plan(seconds=dice.uniform(0, seconds)))
    return kills


async def one(number: int, kills: list[Plan], undisturbed: Undisturbed, into: dict[int, Round]) -> None:
    """A run that is killed so, resumed until it ends, and looked at."""
    done = into[number] = Round()
    endpoint = Clocked(Behaviour(latency=LATENCY, scripts=(Noting(),), seed=number))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(undisturbed.index, folder / "documents.db")
        async with simulated(endpoint=endpoint):
            left, resume, killed = list(kills), False, True
            while killed:
                kill = left.pop(0) if left else None
                outcome = await work(folder, endpoint, kill, resume=resume)
                killed = outcome.killed is not None
                if outcome.killed is not None:
                    done.kills.append(outcome.killed)
                resume = begun(folder)
        done.requests = endpoint.served.requests
        done.in_flight = sum(in_flight(endpoint.seen, kill.at) for kill in done.kills)
        done.lost = lost_calls(endpoint.seen, done.kills)
        lines = (folder / "notes.txt").read_text(encoding="utf-8").split()
        done.written, done.twice = len(lines), len(lines) - len(set(lines))
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        done.same = comparable(report) == undisturbed.report
        if not done.same:
            done.fault = f"the report of run {number} differs"


def comparable(report: dict[str, Any]) -> dict[str, Any]:
    """All but the session's name, its time, and its tokens, which count the endpoint's ids of calls."""
    calls = {tier: usage["calls"] for tier, usage in report["usage"].items()}
    return {**report, "session": "", "seconds": 0, "usage": calls}


async def undisturbed_runs(home: Path) -> Undisturbed:
    """Three of them; the first makes the index."""
    took, index = [], home / "0" / "documents.db"
    endpoint = Clocked(Behaviour(latency=LATENCY, scripts=(Noting(),)))
    async with simulated(endpoint=endpoint):
        for number in range(3):
            folder = home / str(number)
            folder.mkdir()
            if number:
                shutil.copy(index, folder / "documents.db")
            took.append((await work(folder, endpoint)).seconds)
        assert endpoint.served.requests == 3 * CALLS, endpoint.served
        assert len({each.body for each in endpoint.seen}) == CALLS  # so that what comes again is known
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return Undisturbed(comparable(report), index, statistics.median(took))


async def measure(count: int, seed: int) -> dict[str, Any]:
    dice = random.Random(seed)
    rounds: dict[int, Round] = {}
    places = anyio.Semaphore(SIDE_BY_SIDE)
    with tempfile.TemporaryDirectory() as name:
        undisturbed = await undisturbed_runs(Path(name))

        async def placed(number: int, kills: list[Plan]) -> None:
            async with places:
                await one(number, kills, undisturbed, rounds)

        async with anyio.create_task_group() as group:
            for number in range(count):
                group.start_soon(placed, number, plan(dice, number, undisturbed.seconds))
    return account_of(list(rounds.values()), undisturbed.seconds)


def account_of(rounds: list[Round], seconds: float) -> dict[str, Any]:
    lost = [each for done in rounds for each in done.lost]
    kills = [each for done in rounds for each in done.kills]
    return {
        "runs": len(rounds),
        "undisturbed_seconds": round(seconds, 3),
        "kills": len(kills),
        "kills_in_commit": sum(kill.aimed for kill in kills),
        "killed_twice": sum(len(each.kills) > 1 for each in rounds),
        "same_report": sum(each.same for each in rounds),
        "calls_beyond": sum(each.requests - CALLS for each in rounds),
        "in_flight_at_kills": sum(each.in_flight for each in rounds),
        "made_again_in_flight": sum(each.age is None for each in lost),
        **answered("at_random", [each for each in lost if each.age is not None and not each.aimed]),
        **answered("in_commit", [each for each in lost if each.age is not None and each.aimed]),
        "too_late": sum((each.age or 0.0) > MOST_SECONDS and each.ran > STARVED_SECONDS for each in lost),
        "unaccounted": sum(each.requests - CALLS - len(each.lost) for each in rounds),
        "writes_twice": sum(each.twice for each in rounds),
        "writes_missing": sum(WRITES - each.written + each.twice for each in rounds),
        "faults": [each.fault for each in rounds if each.fault],
    }


def bars(found: dict[str, Any]) -> list[str]:
    """Every bar that is missed."""
    missed = []
    if found["same_report"] != found["runs"]:
        missed.append(f"{found['runs'] - found['same_report']} runs ended with another report")
    if found["unaccounted"]:
        missed.append(f"{found['unaccounted']} calls beyond {CALLS} that no kill explains")
    if found["too_late"]:
        missed.append(
            f"{found['too_late']} calls were made again that had been answered {MOST_SECONDS} s before"
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
    parser.add_argument("--stream", action="store_true", help="agents stream, and begin tools early")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a bar is missed")
    options = parser.parse_args()
    if options.stream:
        os.environ[STREAM] = "1"
    found = anyio.run(measure, options.kills, options.seed)
    end(found, bars(found), options, width=28)


if __name__ == "__main__":
    main()
