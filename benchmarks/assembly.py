"""What it costs to build what a model sees: `python benchmarks/assembly.py [--json]`.

Beside it in the same run, as a yardstick: writing the same messages out with json.dumps and counting
their tokens, once for every prompt, which is what a loop without a context does.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable

from msgspec import structs

from orchestra.context.assembly import Frame, Prompt, assemble
from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.state import Patch
from orchestra.context.tokens import counter_for
from orchestra.values.messages import Message, Reply, ToolCall, ToolSpec

COUNTER = counter_for("gpt-4o")
WORDS = "A build backend must have a hook that returns the name of the wheel it wrote. 构建后端必须提供钩子。"
TOOL = ToolSpec(
    "search_documents",
    "Search the documents for passages. Returns the best ones with their labels.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    figures = measure()
    if parser.parse_args().json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name:<52} {value:>12,.3f}")


def measure() -> dict[str, float]:
    """Microseconds of CPU, bytes, shares from 0 to 1, and a ratio (below 1: less than the yardstick)."""
    COUNTER.load()
    context = long_context(66)
    prompt = context.prompt((TOOL,))
    whole = cpu(lambda: context.prompt((TOOL,)), 400)
    naive = cpu(lambda: written_and_counted(prompt), 40)
    half = structs.replace(context.budget, usable=prompt.tokens // 2)
    frame = Frame(tools=prompt.sheet)
    grown = growing_run(40, window=200_000)
    compacted = growing_run(40, window=16_000)
    return {
        "blocks in the prompt": len(context.blocks),
        "tokens in the prompt": prompt.tokens,
        "assemble it, us CPU": whole,
        "assemble it into half its tokens, us CPU": cpu(
            lambda: assemble(context.blocks, half, COUNTER, frame), 100
        ),
        "json.dumps and count it, us CPU": naive,
        "assemble : dumps and count": whole / naive,
        "record a reply and a 2 KB result, us CPU": cpu(step(long_context(1)), 400),
        "make a context, us CPU": cpu(make, 20_000),
        "make a context, bytes": made_bytes(),
        "first prompt of a new context, us CPU": cpu(first_prompt, 2_000),
        "prefix kept over 40 turns, no compaction": grown["prefix"],
        "prefix kept over 40 turns, 16k window, between compactions": compacted["prefix"],
        "compactions in those": compacted["compactions"],
        "1.2 MB result: shown and recorded, us CPU": cpu(large_result, 5),
    }


def cpu(work: Callable[[], object], times: int) -> float:
    """Microseconds of CPU for one call: the best of five rounds."""
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for _ in range(times):
            work()
        best = min(best, time.process_time() - start)
    return best / times * 1e6


def make() -> Context:
    return Context("researcher.1", WORDS, policy=POLICY, window=128_000, counter=COUNTER)


POLICY = policy_for("research")


def first_prompt() -> Prompt:
    context = make()
    context.add_input("Question: what must a build backend provide?")
    return context.prompt((TOOL,))


def fill(context: Context, steps: int) -> None:
    context.add_data("knowledge", "notes.md", WORDS * 4, query="build", at=1e9)
    context.add_input("Question: what must a build backend provide?", at=1e9)
    for at in range(steps):
        step(context, at)()


def step(context: Context, first: int = 0) -> Callable[[], None]:
    number = first

    def work() -> None:
        nonlocal number
        number += 1
        calls = tuple(call_of(number, k) for k in (1, 2))
        context.record_reply(Reply(calls=calls), at=1e9 + number)
        results = [Result(call=call, text=f"{number} {WORDS * 8}") for call in calls]
        context.record_results(results, at=1e9 + number)

    return work


def call_of(number: int, position: int) -> ToolCall:
    query = json.dumps({"query": f"hook {number} {position}"})
    return ToolCall(f"call_{number}_{position}", TOOL.name, query)


def long_context(steps: int) -> Context:
    context = Context("long", WORDS, policy=policy_for("tools"), window=400_000, counter=COUNTER)
    fill(context, steps)
    return context


def written_and_counted(prompt: Prompt) -> int:
    body = json.dumps({"messages": [plain(message) for message in prompt.messages]})
    return len(body) + sum(COUNTER.count(message.text) for message in prompt.messages)


def plain(message: Message) -> dict[str, object]:
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    told = {"role": message.role, "content": message.text}
    return {**told, "tool_calls": calls, "tool_call_id": message.call_id}


def growing_run(turns: int, window: int) -> dict[str, float]:
    """The share of each prompt's tokens that the next one begins with, without the compactions."""
    context = Context("chat", WORDS, policy=policy_for("tools"), window=window, counter=COUNTER)
    context.add_input("Question: what must a build backend provide?", at=1e9)
    context.patch_state(Patch("constraints", "Only quote what the documents say.", "add"))
    before = context.prompt((TOOL,))
    kept = total = compactions = 0
    for turn in range(turns):
        step(context, turn)()
        context.patch_state(Patch("step", f"reading passage {turn}"))
        if turn % 5 == 4:
            context.record_reply(Reply(text=f"Step {turn} is done. {WORDS}"), at=1e9)
            context.add_input(f"And what about hook {turn}? 还有呢？", at=1e9)
        prompt = context.prompt((TOOL,))
        if prompt.compaction is None:
            kept += COUNTER.count(beginning(rendered(before), rendered(prompt)))
            total += COUNTER.count(rendered(before))
        else:
            compactions += 1
        before = prompt
    return {"prefix": kept / total, "compactions": compactions}


def beginning(first: str, second: str) -> str:
    """What both texts begin with."""
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return first[:at]
    return first


def rendered(prompt: Prompt) -> str:
    """As a chat template would: role, calls and text, one message after the other."""
    return "".join(f"<{m.role} {m.call_id}>{m.text}{m.calls or ''}</>" for m in prompt.messages)


def made_bytes() -> float:
    make()
    tracemalloc.start()
    kept = [make() for _ in range(1_000)]
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size / len(kept)


LARGE = json.dumps([{"id": n, "name": f"row {n}", "note": None, "text": WORDS} for n in range(5_000)])


def large_result() -> None:
    context = make()
    call = ToolCall("call_1", TOOL.name, "{}")
    context.record_reply(Reply(calls=(call,)))
    context.record_results([Result(call=call, text=LARGE)])


if __name__ == "__main__":
    main()
