"""What the journal costs: CPU for each recorded call, and bytes against the text that was new.

    python -m benchmarks.journal [--sessions 20] [--turns 40] [--text FOLDER] [--json]

A call is a prompt and a reply: two events with 6 KB of new text, after a prompt that repeats all before
it. Bars (issue 6): at most 0.15 ms of CPU for a call, and for an agent of 40 turns at most 1.5 times the
bytes of its new text. Beside it: sqlite3's executemany of the same rows, already redacted, hashed and
compressed, in commits of the same size; and LangGraph's SQLite checkpointer on the same turns, where a
virtual environment with langgraph and langgraph-checkpoint-sqlite is in ~/.cache/orchestra-peers/langgraph.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.lowlevel
from msgspec import Struct

from orchestra.journal.journal import Journal
from orchestra.journal.prompts import Moment, PromptTrail, Sent, read_prompt, reply_event
from orchestra.journal.rows import SessionStart
from orchestra.values.messages import Message, Reply, ToolCall, ToolSpec
from orchestra.values.usage import Usage

TEXT_CHARACTERS = 6_000
REPEATS = 5


class Entry(Struct, frozen=True):
    """A line of a manifest, of the size that real ones have."""

    block: str
    zone: str
    source: str
    tokens: int
    why: str
    fate: str = "kept"
    born: int = 1


class Manifest(Struct, frozen=True):
    agent: str
    turn: int
    usable: int
    entries: tuple[Entry, ...]


def texts(folder: Path | None, count: int) -> Iterator[str]:
    """Texts of TEXT_CHARACTERS, all different: from a folder's files, or words drawn by chance."""
    if folder is not None:
        whole = "".join(
            path.read_text(errors="replace") for path in sorted(folder.rglob("*")) if path.is_file()
        )
        for number in range(count):
            start = number * TEXT_CHARACTERS % max(len(whole) - TEXT_CHARACTERS, 1)
            yield f"{number} {whole[start : start + TEXT_CHARACTERS]}"[:TEXT_CHARACTERS]
        return
    draw = random.Random(7)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(draw.choices(letters, range(26, 0, -1), k=draw.randint(2, 11))) for _ in range(3_000)]
    for _ in range(count):
        yield " ".join(draw.choices(words, range(3_000, 0, -1), k=TEXT_CHARACTERS // 5))[:TEXT_CHARACTERS]


def turns_of(new: list[str], session: str) -> Iterator[tuple[Moment, Sent, Reply]]:
    """One agent's calls; each adds the call before with its result, the state and the input stay last."""
    tool = ToolSpec("search_documents", "Find passages.", {"type": "object", "properties": {"query": {}}})
    first, last = (
        Message("system", "Answer one question from sources. " * 20),
        Message("user", "The question?"),
    )
    messages: list[Message] = [first]
    entries = [Entry("b1", "fixed", "role", 180, "the role's instructions")]
    for turn, text in enumerate(new, start=1):
        state = Message("user", f"State: {turn - 1} done, {len(new) - turn} to do.")
        tail = (
            Entry(f"b{turn}s", "state", "state", 20, "always"),
            Entry("b2", "input", "task", 9, "the task"),
        )
        calls = (ToolCall(f"call_{turn}", "search_documents", json.dumps({"query": f"term {turn}"})),)
        reply = Reply(text=f"I look for term {turn}.", calls=calls, model="m", usage=Usage(1, 4_000, 40))
        sent = Sent(
            (*messages, state, last), (tool,), Manifest("researcher.1", turn, 9_000, (*entries, *tail))
        )
        yield Moment(session, "researcher.1", turn, 1.0 + turn), sent, reply
        messages += [Message("assistant", reply.text, calls), Message("tool", text, call_id=calls[0].id)]
        entries.append(Entry(f"b{turn}c", "history", "search_documents", 30, "call of this turn", born=turn))
        entries.append(Entry(f"b{turn}r", "history", "search_documents", 1500, "its result", born=turn))


async def record(path: Path, agents: dict[str, list[tuple[Moment, Sent, Reply]]]) -> float:
    """CPU seconds of all threads to record these agents, opening and closing not counted."""
    async with Journal.open(path) as journal:
        for session in agents:
            await journal.begin(SessionStart(id=session, question="What?", created=1.0))
        await journal.flush()
        began = time.process_time()
        trails = {session: PromptTrail() for session in agents}
        for calls in zip(*agents.values(), strict=True):
            for moment, sent, reply in calls:
                await trails[moment.session].record(journal.record, moment, sent)
                await journal.record(reply_event(moment, reply, {"tier": "small"}))
            await anyio.lowlevel.checkpoint()
        await journal.flush()
        spent = time.process_time() - began
        session, turns = next(iter(agents.items()))
        read = await read_prompt(journal, session, "researcher.1")
        assert read.messages == tuple(turns[-1][1].messages), "what was read is not what was recorded"
    return spent


def plainly(path: Path, store: Path) -> float:
    """CPU seconds of sqlite3 alone for the same rows in a table of the same shape."""
    source = sqlite3.connect(store)
    tables = {}
    for name in ("blobs", "pages"):
        rows = source.execute(f"SELECT * FROM {name}").fetchall()
        schema = source.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
        tables[name] = (schema, rows)
    source.close()
    target = sqlite3.connect(path, isolation_level=None)
    target.execute("PRAGMA page_size = 8192")
    target.execute("PRAGMA journal_mode = WAL")
    target.execute("PRAGMA synchronous = NORMAL")
    for schema, _ in tables.values():
        target.execute(schema)
    began = time.process_time()
    for name, (_, rows) in tables.items():
        marks = ",".join("?" * len(rows[0]))
        for start in range(0, len(rows), 256):
            target.execute("BEGIN IMMEDIATE")
            target.executemany(f"INSERT INTO {name} VALUES ({marks})", rows[start : start + 256])
            target.execute("COMMIT")
    spent = time.process_time() - began
    target.close()
    return spent


def measure(sessions: int, turns: int, folder: Path | None) -> dict[str, float]:
    supply = texts(folder, sessions * turns)
    agents = {}
    for number in range(sessions):
        name = f"20261130-000000-{number:08d}"
        agents[name] = list(turns_of([next(supply) for _ in range(turns)], name))
    calls = sessions * turns
    ours, plain = [], []
    with tempfile.TemporaryDirectory() as temporary:
        for number in range(REPEATS):
            store = Path(temporary, f"journal{number}.db")
            ours.append(anyio.run(record, store, agents))
            plain.append(plainly(Path(temporary, f"plain{number}.db"), store))
        one = Path(temporary, "one.db")
        first = dict([next(iter(agents.items()))])
        anyio.run(record, one, first)
        stored = one.stat().st_size
    [calls_of_one] = first.values()
    new = sum(len(text.encode()) for text in {m.text for _, sent, _ in calls_of_one for m in sent.messages})
    peer = langgraph(new_texts(calls_of_one))
    milliseconds = sorted(ours)[REPEATS // 2] / calls * 1_000
    base = sorted(plain)[REPEATS // 2] / calls * 1_000
    return {
        "calls": calls,
        "cpu_ms_per_call": milliseconds,
        "sqlite3_ms_per_call": base,
        "ratio": milliseconds / base,
        "new_bytes": new,
        "stored_bytes": stored,
        "stored_share": stored / new,
        **{f"langgraph_{name}": value for name, value in peer.items()},
    }


def new_texts(calls: list[tuple[Moment, Sent, Reply]]) -> list[str]:
    """The text that each turn added."""
    seen: set[str] = set()
    found = []
    for _, sent, _ in calls:
        fresh = [message.text for message in sent.messages if message.text not in seen]
        seen.update(fresh)
        found.append("\n".join(fresh))
    return found


def langgraph(turns: list[str]) -> dict[str, float]:
    """What LangGraph's checkpointer makes of the same turns; nothing where it is not installed."""
    python = Path.home() / ".cache/orchestra-peers/langgraph/bin/python"
    if not python.exists():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        texts_file = Path(folder, "texts.json")
        texts_file.write_text(json.dumps(turns), encoding="utf-8")
        script = Path(__file__).with_name("journal_langgraph.py")
        done = subprocess.run([python, script, texts_file], capture_output=True, text=True, check=False)
    found: dict[str, float] = json.loads(done.stdout) if done.returncode == 0 else {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--text", type=Path, help="a folder whose files are the new text")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(arguments.sessions, arguments.turns, arguments.text)
    if arguments.json:
        print(json.dumps(found))
        return
    print_table(found, arguments.turns)


def print_table(found: dict[str, float], turns: int) -> None:
    cpu, base, share = found["cpu_ms_per_call"], found["sqlite3_ms_per_call"], found["stored_share"]
    print(
        f"{found['calls']:,.0f} calls of two events and {TEXT_CHARACTERS:,} characters, median of {REPEATS}"
    )
    print(f"journal        {cpu:8.3f} ms CPU a call (at most 0.150)")
    print(f"sqlite3 alone  {base:8.3f} ms CPU a call; the journal takes {found['ratio']:.1f} times that")
    print(f"new text       {found['new_bytes']:8,.0f} bytes, one agent of {turns} turns")
    print(f"store          {found['stored_bytes']:8,.0f} bytes, {share:.2f} of the text (at most 1.50)")
    if "langgraph_bytes" not in found:
        print("LangGraph's checkpointer is not installed (see the head of this file)")
        return
    size, spent = found["langgraph_bytes"], found["langgraph_cpu_ms"]
    share = size / found["new_bytes"]
    print(f"LangGraph      {size:8,.0f} bytes, {share:.1f} of the text; {spent:.3f} ms CPU a turn")


if __name__ == "__main__":
    main()
