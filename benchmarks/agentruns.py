"""Are the values that a call needs in the prompt? `python benchmarks/agentruns.py`.

tau-bench airline: 200 recorded runs of an agent. Each is played into a context message by message; at each
recorded tool call the prompt is assembled under N tokens (preset `small`), and the argument values of the
call that were said earlier are looked for in it. Tokens sent in all stand beside those of sending the whole
history each time. `--prefix`: with the preset `tools`, how much of a prompt begins the next one, for a
provider's cache, between two compactions.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from recall import COUNTER, Remembered  # the file beside this one

from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.recall.embedding import Embedder, embedder_for
from orchestra.context.returned import Result
from orchestra.context.tokens import MESSAGE_TOKENS, REPLY_TOKENS
from orchestra.errors import UserError
from orchestra.values.messages import Reply, ToolCall

DATA = Path(__file__).parents[2] / "shared/data/taubench/gpt-4o-airline.json.gz"
NOT_LOOKED_UP = ("think", "calculate", "transfer_to_human_agents")
INSTRUCTIONS = "Help the customer with the airline's tools."


class Call(NamedTuple):
    """One recorded call under one budget: how many of the needed values are in the prompt."""

    budget: int
    there: int
    needed: int
    tokens: int
    whole: int
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--budgets", default="500,1000,2000,4000", help="tokens of the whole context")
    parser.add_argument("--runs", type=int, help="only the first so many runs")
    parser.add_argument("--embedding", default="none", help="none, auto, or a model's name")
    parser.add_argument("--prefix", action="store_true", help="measure the prefix that prompts share instead")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    budgets = [int(budget) for budget in options.budgets.split(",")]
    try:
        model = embedder_for(options.embedding)
    except UserError as error:
        sys.exit(str(error))
    embedder = Remembered(model) if model else None
    with gzip.open(options.data, "rt", encoding="utf-8") as stream:
        runs = json.load(stream)[: options.runs]
    if options.prefix:
        show_prefixes({budget: prefixes(runs, budget) for budget in budgets}, as_json=options.json)
        return
    calls = [call for run in runs for budget in budgets for call in play(run["traj"], budget, embedder)]
    rows = [row_of([call for call in calls if call.budget == budget], budget) for budget in budgets]
    figures = {"embedding": embedder.name if embedder else "none", "runs": len(runs), "rows": rows}
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"values said earlier that are in the prompt, {len(runs)} runs, embedding: {figures['embedding']}")
    print(
        f"{'budget':>8}{'calls':>8}{'values':>8}{'there %':>9}{'all %':>8}{'sent':>12}{'whole':>12}"
        f"{'ms CPU':>8}"
    )
    for row in rows:
        print(
            f"{row['budget']:>8,}{row['calls']:>8}{row['values']:>8}{row['there']:>9.1f}{row['all']:>8.1f}"
            f"{row['tokens']:>12,}{row['whole tokens']:>12,}{row['ms']:>8.2f}"
        )


def show_prefixes(found: dict[int, dict[str, float]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(found, indent=2))
        return
    print("share of a prompt that begins the next one, between compactions, preset tools")
    for budget, row in found.items():
        told = f"{row['compactions']:.0f} compactions in {row['prompts']:.0f} prompts"
        print(f"{budget:>8,}{row['kept %']:>8.1f} %  {told}")


def prefixes(runs: list[dict[str, Any]], budget: int) -> dict[str, float]:
    """All prompts of all runs, each beside the one before it."""
    kept = whole = compactions = prompts = 0
    for run in runs:
        policy = policy_for("tools", {"prompt_tokens": budget})
        context = Context("agent", INSTRUCTIONS, policy=policy, window=1_000_000, counter=COUNTER)
        before = ""
        for message in run["traj"]:
            if message["role"] == "assistant":
                prompt = context.prompt()
                shown = "\n".join(text_of((each,)) for each in prompt.messages)
                prompts += 1
                compactions += prompt.compaction is not None
                if before and prompt.compaction is None:
                    kept += len(os.path.commonprefix((before, shown)))  # noqa: RUF071 - of texts
                    whole += len(before)
                before = shown
            take(context, message)
    share = round(100 * kept / max(whole, 1), 1)
    return {"kept %": share, "compactions": compactions, "prompts": prompts}


def row_of(calls: list[Call], budget: int) -> dict[str, Any]:
    needed = sum(call.needed for call in calls)
    return {
        "budget": budget,
        "calls": len(calls),
        "values": needed,
        "there": round(100 * sum(call.there for call in calls) / needed, 1),
        "all": round(100 * sum(call.there == call.needed for call in calls) / len(calls), 1),
        "tokens": sum(call.tokens for call in calls),
        "whole tokens": sum(call.whole for call in calls),
        "ms": round(1000 * sum(call.seconds for call in calls) / len(calls), 2),
    }


def play(messages: list[dict[str, Any]], budget: int, embedder: Embedder | None) -> Iterator[Call]:
    """One run under one budget, with what each of its calls found."""
    policy = policy_for("small", {"prompt_tokens": budget})
    context = Context(
        "agent", INSTRUCTIONS, policy=policy, window=1_000_000, counter=COUNTER, embedder=embedder
    )
    past, whole = "", COUNTER.count(INSTRUCTIONS) + MESSAGE_TOKENS + REPLY_TOKENS
    for message in messages:
        role, text = message["role"], message.get("content") or ""
        if role == "assistant":
            calls = calls_of(message)
            needed = needed_by(calls, past.lower())
            if needed:
                started = time.process_time()
                prompt = context.prompt()
                seconds = time.process_time() - started
                if prompt.tokens > budget:
                    raise AssertionError(f"a prompt of {prompt.tokens} tokens under a budget of {budget}")
                shown = text_of(prompt.messages).lower()
                there = sum(stands_in(value, shown) for value in needed)
                yield Call(budget, there, len(needed), prompt.tokens, whole, seconds)
            text += "".join(f"\n{call.name} {call.arguments}" for call in calls)
        take(context, message)
        if role != "system":
            past += text + "\n"
            whole += COUNTER.count(text) + MESSAGE_TOKENS


def calls_of(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    )


def take(context: Context, message: dict[str, Any]) -> None:
    """One recorded message into the context."""
    role, text = message["role"], message.get("content") or ""
    if role == "user":
        context.add_input(text)
    elif role == "assistant":
        context.record_reply(Reply(text=text, calls=calls_of(message)))
    elif role == "tool":
        call = ToolCall(message["tool_call_id"], message["name"], "")
        context.record_results([Result(call=call, text=text)])


def needed_by(calls: tuple[ToolCall, ...], past: str) -> list[str]:
    """The different argument values of looked-up calls that were said before."""
    values: list[str] = []
    for call in calls:
        if call.name not in NOT_LOOKED_UP:
            try:
                values += leaves(json.loads(call.arguments))
            except json.JSONDecodeError:
                continue
    return [value for value in dict.fromkeys(values) if len(value) > 1 and stands_in(value, past)]


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in leaves(part)]
    return [] if isinstance(value, bool) or value is None else [str(value)]


def stands_in(value: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value.lower())}(?!\w)", text) is not None


def text_of(messages: tuple[Any, ...]) -> str:
    calls = "\n".join(f"{call.name} {call.arguments}" for m in messages for call in m.calls)
    return "\n".join(message.text for message in messages) + "\n" + calls


if __name__ == "__main__":
    main()
