"""What is left of a long talk after many compactions, with summarisers that are good, bad and broken.

    python -m benchmarks.compactions [--json] [--check] [--no-peers]

60 turns, 40 planted facts (3 of them corrected later) in English and Chinese, a prompt of 4,000 tokens. The
small model's summaries are scripted: faithful, forgetful (drops a third), wrong (changes a digit, flips a
negation), verbose (longer than what it covers), failing (an error, nothing, a refusal). After every tenth
turn from the 20th on each fact is asked for: is it in the prompt, or brought back by the agent's `recall`
within 1,000 tokens? And does it stand in the next prompt when the user asks for it? Every prompt is searched
for wrong values, and for corrected ones without their mark. `rules` is the run without a model.
Peers run the same scripts in environments of their own under
~/.cache/orchestra-peers (`python -m venv langchain`, `pip install langchain tiktoken msgspec`, and the same
for openai-agents); one that is not there is left out with a line.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import msgspec
from msgspec import Struct

from benchmarks.compactions_scripts import KINDS, draft, wrong
from benchmarks.compactions_talk import PLANTED, TURNS, Planted, as_json, filler, said
from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.tokens import counter_for
from orchestra.errors import ModelUnreachable
from orchestra.models.scripted import Scripted
from orchestra.models.summariser import ModelSummariser, drafted
from orchestra.values.messages import Reply, Request, ToolCall

BUDGET = 4_000
RECALL_TOKENS = 1_000
ASKED = (20, 30, 40, 50, 60)
COUNTER = counter_for("gpt-4o")
PEERS = ("langchain", "openai-agents")
CACHE = Path("~/.cache/orchestra-peers").expanduser()


class Score(Struct, kw_only=True):
    """`asked` = `in_prompt` + `recalled` + `lost`; `unanswered`: with the question as the next input the fact
    is not in the prompt by itself. Of the prompts, `wrong` show a value that nobody said,
    `stale` one that was corrected, without its mark; for peers the words of the correction are mark enough.
    """

    who: str
    kind: str
    compactions: int = 0
    taken: int = 0
    refused: int = 0
    asked: int = 0
    in_prompt: int = 0
    recalled: int = 0
    lost: int = 0
    unanswered: int = 0
    wrong: int = 0
    stale: int = 0
    peak: int = 0
    examples: list[str] = msgspec.field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="fail unless nothing is lost and nothing wrong")
    parser.add_argument("--budget", type=int, default=BUDGET, help="tokens of the prompt")
    parser.add_argument("--no-peers", action="store_true", help="leave the peers out")
    options = parser.parse_args()
    scores = [anyio.run(ours, kind, options.budget) for kind in (*KINDS, "rules")]
    if not options.no_peers:
        for peer in PEERS:
            scores += theirs(peer, options.budget)
    if options.json:
        print(json.dumps([msgspec.to_builtins(score) for score in scores], indent=2, ensure_ascii=False))
    else:
        table(scores)
    if options.check:
        bad = [
            score
            for score in scores
            if score.who == "orchestra"
            and (
                score.lost
                or score.unanswered
                or score.wrong
                or score.stale
                or score.compactions < 5
                or score.peak > options.budget
            )
        ]
        sys.exit(f"not held by: {', '.join(score.kind for score in bad)}" if bad else 0)


def table(scores: list[Score]) -> None:
    heads = (
        "who",
        "kind",
        "compactions",
        "taken",
        "refused",
        "asked",
        "in_prompt",
        "recalled",
        "lost",
        "unanswered",
        "wrong",
        "stale",
        "peak",
    )
    print(" ".join(f"{head:>{13 if at < 2 else 11}}" for at, head in enumerate(heads)))
    for score in scores:
        cells = [str(getattr(score, head)) for head in heads]
        print(" ".join(f"{cell:>{13 if at < 2 else 11}}" for at, cell in enumerate(cells)))
        for example in score.examples[:3]:
            print(f"{'':>28}{example}")


async def ours(kind: str, budget: int = BUDGET) -> Score:
    """The talk through a context, its compactions through the small model."""
    score = Score(who="orchestra", kind=kind)
    policy = policy_for("chat", {"prompt_tokens": budget})
    context = Context("chat", "You help to plan a retreat.", policy=policy, window=128_000, counter=COUNTER)
    calls = 0

    def answer(request: Request) -> object:
        nonlocal calls
        calls += 1
        told = draft(kind, request.messages[-1].text, calls)
        return ModelUnreachable(told) if isinstance(told, str) else json.dumps(told)

    small = Scripted(answer)
    summariser = ModelSummariser(small.reply, "small") if kind != "rules" else None

    async def prompt_text() -> str:
        plan = context.due()
        task = context.summary_task(plan) if plan and summariser else None
        if plan and task and summariser:
            context.compact(plan, await drafted(summariser, task))
        prompt = context.prompt()
        score.peak = max(score.peak, prompt.tokens)
        return "\n".join(message.text for message in prompt.messages)

    for turn in range(1, TURNS + 1):
        user, assistant = filler(turn)
        context.add_input(" ".join((user, *said(turn, "user"))))
        text = await prompt_text()
        look(score, text, turn)
        for number, result in enumerate(said(turn, "tool")):
            call = ToolCall(f"c{turn}.{number}", "look_up", json.dumps({"turn": str(number)}))
            context.record_reply(Reply(calls=(call,)))
            context.record_results([Result(call=call, text=result)])
            look(score, await prompt_text(), turn)
        context.record_reply(Reply(text=" ".join((*said(turn, "assistant"), assistant))))
        if turn in ASKED:
            text = await prompt_text()
            for fact in current(turn):
                ask(score, fact, text, context.recall(fact.question, RECALL_TOKENS))
                asked = context.fork()
                asked.add_input(fact.question)
                shown = "\n".join(message.text for message in asked.prompt().messages)
                if not holds(fact.value, shown):
                    score.unanswered += 1
                    score.examples.append(f"not in the prompt when asked: {fact.text}")
    score.compactions = len(context.reports)
    score.taken = sum(1 for report in context.reports if report.version)
    score.refused = sum(1 for report in context.reports if report.refused)
    return score


def current(turn: int) -> list[Planted]:
    """The facts that were said by a turn's end and hold then."""
    return [fact for fact in PLANTED if fact.turn <= turn and not 0 < fact.until <= turn]


def ask(score: Score, fact: Planted, prompt: str, recalled: str) -> None:
    score.asked += 1
    if holds(fact.value, prompt):
        score.in_prompt += 1
    elif holds(fact.value, recalled):
        score.recalled += 1
    else:
        score.lost += 1
        score.examples.append(f"lost: {fact.text}")


def look(score: Score, prompt: str, turn: int) -> None:
    """Count a prompt that shows what was never said, or what holds no longer without saying so."""
    bare = re.sub(r"turns? \d+", "", prompt)
    for fact in PLANTED:
        for whole in (fact.text, fact.value):
            bare = re.sub(re.escape(whole.rstrip(".。")), "", bare, flags=re.IGNORECASE)
    found = [wrong(fact) for fact in PLANTED if wrong(fact) and holds(wrong(fact), bare, ignore_case=True)]
    if found:
        score.wrong += 1
        score.examples += [f"turn {turn}: {value}" for value in found[:1]]
    stale = [fact for fact in PLANTED if 0 < fact.until < turn and holds(fact.value, prompt)]
    stale = [fact for fact in stale if not marked(fact, prompt, strict=score.who == "orchestra")]
    if stale:
        score.stale += 1
        score.examples += [f"turn {turn}: {stale[0].value}, corrected in turn {stale[0].until}"]


def marked(fact: Planted, prompt: str, *, strict: bool) -> bool:
    """Whether a prompt says of a corrected value that it holds no longer."""
    told = any(other.turn == fact.until and other.text in prompt for other in PLANTED)
    return f"{fact.value} holds no longer" in prompt or (told and not strict)


def holds(value: str, text: str, *, ignore_case: bool = False) -> bool:
    flags = re.IGNORECASE if ignore_case else 0
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9]|[.,]\d)", text, flags) is not None


def theirs(peer: str, budget: int) -> list[Score]:
    """A peer's prompts for the same scripts, scored in the same way; it has no recall."""
    python = CACHE / peer / "bin" / "python"
    if not python.exists():
        print(f"{peer}: not installed in {CACHE / peer}, left out", file=sys.stderr)
        return []
    script = Path(__file__).with_name(f"compactions_{peer.replace('-', '_')}.py")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    run = subprocess.run(
        [str(python), str(script), str(budget)],
        input=as_json(),
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if run.returncode:
        print(f"{peer}: did not run, left out: {run.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return []
    scores = []
    for line in run.stdout.splitlines():
        told = json.loads(line)
        score = Score(who=peer, kind=told["kind"], compactions=told["compactions"], taken=told["compactions"])
        for turn, prompt in enumerate(told["prompts"], start=1):
            score.peak = max(score.peak, COUNTER.count(prompt))
            look(score, prompt, turn)
            if turn in ASKED:
                for fact in current(turn):
                    ask(score, fact, prompt, "")
        scores.append(score)
    return scores


if __name__ == "__main__":
    main()
