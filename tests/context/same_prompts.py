"""Do two trees show models the same, to the bit? `python tests/context/same_prompts.py OTHER_TREE`

For whoever makes the context leaner. Both trees have the same talks, drawn at random from a fixed seed, and
the whole of each prompt is written down: messages, tools, manifest and tokens, what left and what came back.
`--lines` prints one line a prompt for this tree alone, `--also FILE ARGUMENT ...` then takes the prompts of
a program instead, as a benchmark.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from orchestra.context.assembly import Prompt
from orchestra.context.context import Context
from orchestra.context.policy import MECHANISMS, PRESETS, policy_for
from orchestra.context.returned import Result
from orchestra.context.state import Patch
from orchestra.context.tokens import counter_for
from orchestra.errors import ContextOverflow, InputError
from orchestra.models.counts import Calibration
from orchestra.values.messages import OutputSpec, Reply, ToolCall, ToolSpec

TALKS = 400
WORDS = (
    "The order number is KX-4471 and the budget is 48,000 euros. Never ship anything on a Friday. "
    "A build backend must have a hook. 构建后端必须提供钩子。 It runs at 10:30 on 3 May 2026; not before. "
    "See https://example.org/doc/7 | Ms Okonkwo in Rotterdam\u00a0said so. ```code``` \ud83d half. /slash"
).split(" ")
TOOLS = tuple(
    ToolSpec(
        name, f"{name.title()} for words. More of it.", {"type": "object", "title": name, "properties": {}}
    )
    for name in ("search", "read", "recall")
)
OUTPUTS = (None, OutputSpec("Findings", {"type": "object", "title": "Findings"}, str))


def text(luck: random.Random, most: int) -> str:
    said = luck.choice((" ", " ", "\n", "  ", "\t")).join(luck.choices(WORDS, k=luck.randint(1, most)))
    return luck.choice(("{}",) * 9 + (" {}", "{}\n", "")).format(said)


def result(luck: random.Random, call: ToolCall) -> Result:
    kind = luck.randrange(12)
    said = text(luck, luck.choice((5, 60, 60, 400, 4_000)))
    passages = kind < 5
    if passages:
        said = "\n\n".join(f"[s{n}] doc | {n}\n```\n{text(luck, 60)}\n```" for n in range(luck.randint(1, 6)))
        said = luck.choice(("", "Found.\n\n")) + said
    elif kind == 5:
        said = json.dumps([{"id": n, "text": said[:80], "none": None} for n in range(luck.randint(1, 200))])
    elif kind == 6:
        said = f"<html><body><p>{said}</p></body></html>"
    elif kind == 7:
        said = ""
    counted = passages and luck.random() < 0.7
    return Result(
        call=call,
        text=said,
        passages=passages,
        failed=kind == 8,
        ephemeral=kind in (4, 9),
        archived=kind != 10,
        tokens=COUNTER.count(said) if counted else 0,
    )


def step(luck: random.Random, context: Context, number: int) -> Context:
    """One thing that happens to a context."""
    at, what = 1e9 + 37 * number, luck.randrange(24)
    if what < 12:
        calls = tuple(
            ToolCall(f"c{number}_{n if luck.random() < 0.9 else 0}", luck.choice(TOOLS).name, args(luck))
            for n in range(luck.choice((1, 1, 2, 3)))
        )
        context.record_reply(Reply(text=luck.choice(("", text(luck, 9))), calls=calls, reasoning="so"), at=at)
        answered = [result(luck, call) for call in calls]
        luck.shuffle(answered)
        context.record_results(answered[: luck.choice((3, 3, 3, 3, 1))], at=luck.choice((at, 0.0)))
    elif what < 15:
        context.record_reply(Reply(text=text(luck, 200)), at=at)
    elif what < 18:
        context.add_input(text(luck, luck.choice((20, 20, 700))), at=at)
    elif what == 18:
        context.add_data(luck.choice(("memory", "knowledge")), "notes | 1", text(luck, 300), query="x", at=at)
    elif what == 19:
        context.patch_state(Patch(luck.choice(("facts", "todo", "constraints")), text(luck, 9), "add"))
    elif what == 20:
        context.add_said("Ann", text(luck, 40), at=at)
    elif what == 21:
        block = luck.choice(context.blocks).id if context.blocks else "b1"
        luck.choice((context.pin, context.mark_used))(block)
    elif what == 22:
        other = context.fork()
        other.add_input(text(luck, 9), at=at)
        return luck.choice((context, other))
    else:
        tell("recalled", context.recall(luck.choice(("r1", "r2", "KX-4471", text(luck, 4))), 300))
    return context


def args(luck: random.Random) -> str:
    return json.dumps({"query": text(luck, luck.choice((3, 3, 60)))}, ensure_ascii=luck.random() < 0.5)


def talk(seed: int) -> None:
    luck = random.Random(seed)
    without = luck.choice(((), (), (), tuple(luck.sample(MECHANISMS, 2))))
    policy = policy_for(luck.choice(PRESETS), {"without": without, "restate_after": luck.choice((50, 2_000))})
    window = luck.choice((1_500, 4_000, 16_000, 128_000))
    context = Context("a.1", text(luck, 30), policy=policy, window=window, counter=COUNTER)
    if luck.random() < 0.9:
        context.add_input(text(luck, 30), at=1e9)
    for number in range(luck.randint(1, 30)):
        try:
            context = step(luck, context, number)
            if luck.random() < 0.7:
                tools = luck.choice((TOOLS, TOOLS, TOOLS, TOOLS[:1], ()))
                output, ask = luck.choice(OUTPUTS), luck.choice(("", "", "", "Finish."))
                enforced, critical = luck.random() < 0.5, luck.random() < 0.1
                if luck.random() < 0.05:
                    context.too_long(None)
                context.prompt(tools, output, enforced=enforced, ask=ask, critical=critical, at=1e9 + number)
        except (ContextOverflow, InputError) as error:
            tell("error", str(error))
    tell("reports", [(each.level, each.before, each.after) for each in context.take_reports()])
    tell("archive", [(each.ref, each.source, each.text, each.query, each.turn) for each in context.archive])
    tell("blocks", [(block.number, block.place, block.entry) for block in context.blocks])


def calibrated(seed: int) -> None:
    luck, count = random.Random(seed), Calibration()
    ratio, offset = luck.uniform(0.3, 4.0), luck.choice((0, 90, 2_000))
    for _ in range(luck.randint(1, 200)):
        counted = luck.choice((0, 12, luck.randint(1, 500), luck.randint(1, 90_000)))
        count.saw(counted, int(offset + ratio * counted * luck.uniform(0.9, 1.1)) if counted else 7)
        tell("count", [count.corrected(counted), *count.expected(counted), count.margin(), count.spread])
        tell("line", [count.ratio, count.offset])


def told(prompt: Prompt) -> Any:
    messages = [(m.role, m.text, m.calls, m.call_id, m.reasoning) for m in prompt.messages]
    left = prompt.compaction
    return (
        messages,
        prompt.tools,
        prompt.output.name if prompt.output is not None else "",
        prompt.manifest,
        [(block.number, block.place, block.tokens) for block in prompt.blocks],
        (prompt.tokens, prompt.output_tokens, prompt.cache_until, prompt.squeezed),
        (left.level, left.before, left.target, [block.number for block in left.blocks]) if left else None,
    )


def tell(what: str, value: Any) -> None:
    raw = json.dumps(msgspec.to_builtins(value))  # half characters too, which are no UTF-8
    LINES.append(f"{what} {hashlib.sha256(raw.encode()).hexdigest()}")


def watched() -> None:
    """Every prompt of every context is told from now on."""
    make = Context.as_it_is

    def as_it_is(self: Context, *args: Any, **named: Any) -> Prompt:
        prompt = make(self, *args, **named)
        tell(f"prompt {prompt.tokens} {len(prompt.messages)}", told(prompt))
        return prompt

    Context.as_it_is = as_it_is  # type: ignore[method-assign]  # seen from outside, in this program alone


def lines(tree: str) -> list[str]:
    """What this program says when it runs in a tree."""
    at = {**os.environ, "PYTHONPATH": tree, "PYTHONHASHSEED": "0"}
    given = [sys.executable, str(Path(__file__).resolve()), "--lines", *sys.argv[2:]]
    return subprocess.run(
        given, cwd=tree, env=at, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split("\n")


def differences(mine: list[str], others: list[str]) -> Iterator[str]:
    if len(mine) != len(others):
        yield f"{len(mine)} and {len(others)} lines"
    for number, (one, other) in enumerate(zip(mine, others, strict=False)):
        if one != other:
            yield f"line {number}: {one} / {other}"


def say(*told: str) -> None:
    sys.stdout.write("\n".join((*told, "")))


LINES: list[str] = []
COUNTER = counter_for("gpt-4o")


def main() -> None:
    if sys.argv[1] != "--lines":
        here = lines(str(Path(__file__).resolve().parents[2]))
        found = list(differences(here, lines(str(Path(sys.argv[1]).resolve()))))
        prompts = sum(line.startswith("prompt") for line in here)
        say(*found[:20], f"{prompts:,} prompts, {len(found)} differences")
        sys.exit(bool(found))
    watched()
    if sys.argv[2:3] == ["--also"]:
        sys.argv = sys.argv[3:]
        out, sys.stdout = sys.stdout, sys.stderr
        with contextlib.suppress(SystemExit):
            runpy.run_path(sys.argv[0], run_name="__main__")
        sys.stdout = out
    else:
        for seed in range(TALKS):
            talk(seed)
            if not seed % 4:
                calibrated(seed)
    say(*LINES)


if __name__ == "__main__":
    main()
