"""What is left when everything goes wrong at once: nothing but results and clear sentences.

    python -m benchmarks.faults [--sessions 200] [--share 0.1] [--seed 7] [--stream] [--json] [--check]

Sessions run at once in one process against a simulated endpoint that drops, cuts, hangs, refuses and
answers nonsense, each with the share given, slowly; another process locks the store for 5 s; every tenth
session is stopped or cancelled at a random moment. Bars (issue 6): every session ends in a result or one
sentence; no call without its result, no task, connection, file or reservation is left; the journal checks
clean.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from msgspec import Struct

from benchmarks.verdict import end
from orchestra import OrchestraError, Runtime, Session, research_then_write
from orchestra.config.load import load_settings
from orchestra.journal import upkeep
from orchestra.journal.journal import Journal
from orchestra.load.behaviour import Behaviour, Call, Faults, Latency, Say
from orchestra.load.research_script import Research
from orchestra.load.simulated import Simulated, simulated
from orchestra.log import configure

LIBRARY = Path(__file__).parent.parent / "examples" / "library"
QUESTION = "How long should tea steep, how hot should the water be and what does the timer do?"
LATENCY = Latency(first_seconds=0.1, token_seconds=0.001, spread=1.0)
LOCKED_SECONDS = 5.0
CANCELLED_SHARE = 0.1
STARTING_SECONDS = 2.0  # sessions start over this time, so that faults meet them at different steps
ENDPOINT = """
[endpoints.odd]
url = "{url}"
first_byte_seconds = 3
silence_seconds = 3
stream = {stream}

[tiers.small]
endpoint = "odd"
model = "small"
price_in = 1.0
price_out = 2.0

[tiers.large]
endpoint = "odd"
model = "large"
price_in = 1.0
price_out = 2.0
"""
ODD = (
    Say(""),
    Say('{"claims": ['),
    Say("I would rather not."),
    Say(calls=(Call("no_such_tool", "{}"),)),
    Say(calls=(Call("search_documents", "[1"),)),
    Say(calls=(Call("search_documents", '{"query": 7, "more": true}'),)),
    Say("", reasoning="Let me think."),
)


class Odd:
    """The research script, which says something odd now and then."""

    def __init__(self, share: float, seed: int) -> None:
        self._research = Research()
        self._share = share
        self._dice = random.Random(seed)

    def __call__(self, body: Mapping[str, Any]) -> Say | None:
        if self._dice.random() < self._share:
            return self._dice.choice(ODD)
        return self._research(body)


class Ends(Struct):
    """How the sessions ended, and what is wrong."""

    sentences: Counter[str]
    wrong: list[str]
    examples: dict[str, str]
    results: int = 0
    partial: int = 0
    cancelled: int = 0


async def one(host: Runtime, number: int, dice: random.Random, ends: Ends) -> None:
    """A session; every tenth is stopped, or its task cancelled."""
    end = dice.uniform(0.2, 8.0) if dice.random() < CANCELLED_SHARE else None
    await anyio.sleep(dice.uniform(0, STARTING_SECONDS))
    with anyio.CancelScope() as scope:
        try:
            async with (
                host.session(QUESTION, documents=LIBRARY) as session,
                anyio.create_task_group() as group,
            ):
                if end is not None:
                    group.start_soon(interrupt, session, scope, end, number % 2 == 0)
                report = await research_then_write(session, session.question)
                group.cancel_scope.cancel()
            ends.results += 1
            ends.partial += bool(report.partial)
        except* OrchestraError as errors:
            for error in leaves(errors):
                sentence = str(error)
                ends.sentences[type(error).__name__] += 1
                ends.examples[sentence[:60]] = sentence
                if "\n" in sentence or not sentence.strip():
                    ends.wrong.append(f"not a sentence: {sentence!r}")
    ends.cancelled += scope.cancelled_caught


async def interrupt(session: Session, scope: anyio.CancelScope, seconds: float, politely: bool) -> None:
    await anyio.sleep(seconds)
    if politely:
        session.stop("interrupted", who="the benchmark")
    else:
        scope.cancel()


def leaves(group: BaseExceptionGroup[Any]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        found += leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found


def lock(store: Path) -> None:
    """Another program that holds the store for a while."""
    with sqlite3.connect(store, isolation_level=None, timeout=30) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(LOCKED_SECONDS)
        other.execute("ROLLBACK")


async def locked(store: Path) -> None:
    await anyio.sleep(STARTING_SECONDS)
    await anyio.to_thread.run_sync(lock, store)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


async def run_all(
    folder: Path, endpoint: Simulated, options: argparse.Namespace, ends: Ends
) -> dict[str, Any]:
    """All sessions in one runtime; what is held when they have ended."""
    (folder / "orchestra.toml").write_text(
        ENDPOINT.format(url=endpoint.url, stream=str(options.stream).lower()), encoding="utf-8"
    )
    flags = {"store": str(folder / "store.db"), "small": "small", "large": "large", "endpoint": "odd"}
    settings = load_settings(flags, environ={}, folder=folder).settings
    dice = random.Random(options.seed)
    async with Runtime(settings) as host:
        before = len(asyncio.all_tasks())
        async with anyio.create_task_group() as group:
            group.start_soon(locked, folder / "store.db")
            for number in range(options.sessions):
                group.start_soon(one, host, number, random.Random(dice.random()), ends)
        spend = host.kit.spend
        return {
            "tasks_left": len(asyncio.all_tasks()) - before,
            "tokens_held": spend._held_tokens,
            "dollars_held": round(spend._held_cost, 9),
        }


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    configure("critical")
    share = options.share
    faults = Faults(**dict.fromkeys(Faults.__struct_fields__, share))
    behaviour = Behaviour(
        latency=LATENCY, faults=faults, scripts=(Odd(share, options.seed),), seed=options.seed
    )
    ends = Ends(Counter(), [], {})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        async with simulated(behaviour) as endpoint:
            await run_all(
                folder, endpoint, with_sessions(options, 1), Ends(Counter(), [], {})
            )  # what is loaded once is open now
            files = open_files()
            held = await run_all(folder, endpoint, options, ends)
            await anyio.sleep(0.1)  # the endpoint's side of the closed connections
            served = endpoint.served
        seconds = time.perf_counter() - began
        gc.collect()
        async with Journal.open(folder / "store.db") as journal:
            wrong = await journal.do(upkeep.check)
            statuses = Counter(session.status for session in await journal.sessions(None))
    return {
        "sessions": options.sessions,
        "seconds": round(seconds, 1),
        "results": ends.results,
        "partial": ends.partial,
        "cancelled": ends.cancelled,
        "sentences": dict(ends.sentences),
        "examples": list(ends.examples.values())[:5],
        "statuses": dict(statuses),
        "requests": served.requests,
        "faults": served.faults,
        **held,
        "connections_left": served.connections_open,
        "files_left": max(open_files() - files, 0),
        "journal_faults": list(wrong[:5]),
        "wrong": ends.wrong[:5],
    }


def with_sessions(options: argparse.Namespace, sessions: int) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(options), "sessions": sessions})


def bars(found: dict[str, Any]) -> list[str]:
    """Every bar that is missed."""
    ended = found["results"] + found["cancelled"] + sum(found["sentences"].values())
    missed = [f"{found['sessions'] - ended} sessions have no end"] if ended != found["sessions"] else []
    zero = ("tasks_left", "tokens_held", "dollars_held", "connections_left", "files_left")
    missed += [f"{found[name]} {name.replace('_', ' ')}" for name in zero if found[name]]
    missed += [*found["journal_faults"], *found["wrong"]]
    left = set(found["statuses"]) & {"running", "waiting", "cut off"}
    return missed + [f"sessions are {status}" for status in sorted(left)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--share", type=float, default=0.1, help="of requests, for each fault")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--stream", action="store_true", help="agents stream, and begin tools early")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a bar is missed")
    options = parser.parse_args()
    found = anyio.run(measure, options)
    end(found, bars(found), options, width=20)


if __name__ == "__main__":
    main()
