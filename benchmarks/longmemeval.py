"""Is the right session in the prompt? `python benchmarks/longmemeval.py`.

Three real LongMemEval_S haystacks of about 104,000 tokens, 26 questions: each haystack is loaded turn by turn
into a chat agent's context, each question asked with the context limited to N tokens. A session counts when a
part of it stands in the prompt. A question of several sessions counts by the share of them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from recall import COUNTER, Remembered, limited  # the file beside this one

from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.recall.embedding import Embedder, embedder_for
from orchestra.errors import UserError

DATA = Path(__file__).parents[2] / "shared/data/longmemeval_mini/lme_s_3haystacks.json.gz"


class Asked(NamedTuple):
    """One question under one budget: the share of its sessions in the prompt, 0 to 1, and seconds of CPU."""

    budget: int
    share: float
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--budgets", default="1000,2000,4000,8000", help="tokens of the whole context")
    parser.add_argument("--embedding", default="none", help="none, auto, or a model's name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    budgets = [int(budget) for budget in options.budgets.split(",")]
    try:
        model = embedder_for(options.embedding)
    except UserError as error:
        sys.exit(str(error))
    with gzip.open(options.data, "rt", encoding="utf-8") as stream:
        haystacks = json.load(stream)
    embedder = Remembered(model) if model else None
    found = [one for haystack in haystacks for one in ask_all(haystack, budgets, embedder)]
    figures: dict[str, Any] = {
        "embedding": embedder.name if embedder else "none",
        "questions": len(found) // len(budgets),
    }
    for budget in budgets:
        mine = [one for one in found if one.budget == budget]
        figures[str(budget)] = round(100 * sum(one.share for one in mine) / len(mine), 1)
    figures["ms"] = round(1000 * sum(one.seconds for one in found) / len(found), 2)
    if options.json:
        print(json.dumps(figures))
        return
    print(
        f"right session in the prompt, % of {figures['questions']} questions; "
        f"embedding: {figures['embedding']}"
    )
    print("".join(f"{budget:>9,}" for budget in budgets) + f"{'ms CPU':>9}")
    print("".join(f"{figures[str(budget)]:>9.1f}" for budget in budgets) + f"{figures['ms']:>9.2f}")


def ask_all(haystack: dict[str, Any], budgets: list[int], embedder: Embedder | None) -> Iterator[Asked]:
    context = Context(
        "chat",
        "Help the user.",
        policy=policy_for("chat"),
        window=1_000_000,
        counter=COUNTER,
        embedder=embedder,
    )
    session_of: dict[str, str] = {}
    sessions = zip(
        haystack["haystack_session_ids"],
        haystack["haystack_dates"],
        haystack["haystack_sessions"],
        strict=True,
    )
    for name, date, turns in sessions:
        for turn in turns:
            session_of[context.add_said(turn["role"], turn["content"], when=date)] = name
    context.recollector.find("index what was said", 100)
    for budget in budgets:
        settled = limited(context, budget)
        for question, gold in zip(haystack["questions"], haystack["answer_session_ids"], strict=True):
            wanted = set(gold) & set(session_of.values())
            if not wanted:
                continue
            if embedder:
                embedder.embed([question])
            agent = settled.fork()
            started = time.process_time()
            agent.add_input(question)
            prompt = agent.prompt()
            seconds = time.process_time() - started
            if prompt.tokens > budget:
                raise AssertionError(f"a prompt of {prompt.tokens} tokens under a budget of {budget}")
            shown = {entry.block for entry in prompt.manifest.entries if entry.fate in ("kept", "trimmed")}
            shown |= {hit.id for hit in agent.recollector.last.hits} if agent.recollector.last else set()
            there = {session_of[block] for block in shown if block in session_of}
            yield Asked(budget, len(wanted & there) / len(wanted), seconds)


if __name__ == "__main__":
    main()
