"""A conversation of 300 turns with 300 tools and a tool result of 1 MB every 20 turns.

    python -m benchmarks.longtalk [--turns N] [--policy NAME] [--progress] [--json] [--check]

Through the product's own path: a runtime with its journal in a file, a session, a conversation, a
scripted model that calls one tool a turn. CPU (process time, all threads) and memory are taken after each
turn. The mean over a stretch of the talk has all that large results and summaries cost, the median does not.
Every prompt is held to its budget, and what was said in the first turns is looked for in the last prompt.

At first what stands for the past fills its part of the prompt, and turns get dearer because there is more
to show: under `chat` for 120 turns, under `tools` for 100. So the talk is measured from the first time that
a pinned fact has no room: the turns after it in two equal parts of whole cycles, and the second may cost at
most 1.15 times the first. What the turns before take is printed and not held to anything.

Memory grows by about 45 KB a turn, and by at most 60. What was said is kept: large results compressed (11 KB
of their 50), index, pins, records, summaries 12, shared caches that fill up 4; the rest is room that the C
library has not given back, 15 MB in all, hardly more after 300 turns (37 KB a turn from 200 to 600).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio
from msgspec import Struct, structs, to_builtins

from orchestra.eval.generated import generate
from orchestra.eval.policies import choose
from orchestra.eval.prompts import count
from orchestra.eval.run import settings_for
from orchestra.eval.scenario import Generated
from orchestra.models.scripted import Scripted
from orchestra.runtime import Runtime
from orchestra.tools.port import Effects, ToolOutput
from orchestra.tools.toolbox import Toolbox
from orchestra.values.events import Event
from orchestra.values.messages import Reply, Request, ToolCall, ToolSpec
from orchestra.values.roles import Role
from orchestra.values.usage import Usage

WINDOW = 16_000
EVERY = 20
FLAT = 1.15
GROWTH = 60
"""KB a turn at most; the large results by themselves are 50."""
EARLY = (
    "Before anything else, never ship anything on a Friday.",
    "The order number is KX-4471 and the budget is 48,000 euros.",
    "Our contact is Ms Okonkwo in Rotterdam, and she must not be called before 10:30.",
)
FACTS = ("never ship anything on a Friday", "KX-4471", "48,000 euros", "must not be called before 10:30")
VERBS = "list find count check weigh price move label sort book cancel trace print scan pack".split()
NOUNS = (
    "crates pallets invoices drivers routes depots scales permits contracts seals tyres lanes ramps forks "
    "gates shifts badges lockers pumps valves"
).split()
SMALL_TALK = (
    "The {noun} at gate {n} look odd to me, what would you do about them?",
    "Somebody left {n} {noun} in the yard again. Who could that have been?",
    "Let us go on with the {noun}. I would take the {n} that stand nearest.",
    "My brother thinks {noun} are overrated. Tell me what speaks for them.",
    "Is there anything new about the {noun} since we looked at {n} of them?",
)


class Figures(Struct, kw_only=True):
    """CPU in ms a turn: while the prompt fills, up to turn `full`, then in two parts, and last to first.

    `median`: of turns; `mean`: with all that large results cost. Memory in MB; `growth`: KB a turn since.
    `peak`: of the budget. `facts`: share of the early ones in the last prompt. `offered`: tools in it.
    """

    turns: int
    tools: int
    large_results: int
    full: int
    median_filling: float
    median_first: float
    median_last: float
    median_ratio: float
    mean_filling: float
    mean_first: float
    mean_last: float
    mean_ratio: float
    rss_first: float
    rss_last: float
    growth: float
    peak: float
    over_budget: int
    facts: float
    compactions: int
    offered: int


class YardTool:
    """One of the 300; every so often it brings a megabyte."""

    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, spec: ToolSpec, result: Callable[[], str]) -> None:
        self.spec = spec
        self._result = result

    async def call(self, arguments: object) -> ToolOutput:
        return ToolOutput(text=self._result())


class Talk:
    """The script and what is measured."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.turn = 0
        self.called = False
        self.peak = 0.0
        self.over = 0
        self.compactions = 0
        self.full = 0
        self.usable = 0
        self.last: Request | None = None
        self.specs = tuple(_spec(verb, noun) for verb in VERBS for noun in NOUNS)

    def tools(self) -> Toolbox:
        return Toolbox(YardTool(spec, self.result) for spec in self.specs)

    def said(self) -> str:
        if self.turn <= len(EARLY):
            return EARLY[self.turn - 1]
        text = SMALL_TALK[self.turn % len(SMALL_TALK)]
        return text.format(noun=NOUNS[self.turn * 7 % len(NOUNS)], n=self.turn % 17 + 2)

    def result(self) -> str:
        if self.turn % EVERY == 0:
            needle = f"seal {self.turn * 31} was broken at dock {self.turn}"
            return generate(Generated(kind="log", size=1_000_000, holds=((0.6, needle),), seed=self.turn))
        return json.dumps({"turn": self.turn, "found": self.turn * 3 % 41, "place": f"shed {self.turn % 9}"})

    def answer(self, request: Request) -> Reply:
        self.last = request
        usage = Usage(calls=1, input_tokens=request.tokens, output_tokens=20)
        if request.purpose == "summary":
            fields = dict.fromkeys("constraints exclusions decisions done open entities numbers".split(), ())
            told = {"goal": "", "narrative": "They went through the yard, shed by shed."}
            text = json.dumps({**fields, **told})
            assert request.output is not None
            return Reply(text=text, value=request.output.validate(text), usage=usage)
        if not self.called and request.tools:
            self.called = True
            names = [spec.name for spec in request.tools if "_" in spec.name and spec.name != "find_tools"]
            name = names[self.turn % len(names)]
            call = ToolCall(f"c{self.turn}", name, json.dumps({"what": f"number {self.turn}"}))
            return Reply(calls=(call,), finish="calls", usage=usage)
        return Reply(text=f"I looked at them; shed {self.turn % 9} is where I would begin.", usage=usage)

    def watch(self, event: Event) -> None:
        if event.kind == "compacted":
            self.compactions += 1
            self.full = self.full or (self.turn if event.data["unpinned"] else 0)
        if event.kind == "call" and event.data.get("purpose") != "summary" and self.usable:
            taken = event.data["tokens"] / self.usable
            self.peak = max(self.peak, taken)
            self.over += taken > 1


def _spec(verb: str, noun: str) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {"what": {"type": "string", "description": f"Which {noun}, in a few words."}},
        "required": ["what"],
    }
    return ToolSpec(
        f"{verb}_{noun}", f"{verb.title()} the {noun} of the yard and say what came of it.", schema
    )


def rss_mb() -> float:
    """Of this process; 0 where /proc does not tell."""
    statm = Path("/proc/self/statm")
    pages = int(statm.read_text(encoding="ascii").split()[1]) if statm.exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def measure(turns: int, policy: str, progress: bool) -> Figures:
    """The whole talk."""
    talk = Talk(turns)
    tools = talk.tools()
    role = Role(
        name="yard", description="Runs a yard.", instructions="You run a yard with the user.",
        tools=tools.names, steps="small", final="small", context=choose(policy, {}).preset,
    )  # fmt: skip
    cpu: list[float] = []
    memory: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        settings = structs.replace(settings_for(choose(policy, {})), store=str(Path(folder, "store.db")))
        model = Scripted(talk.answer, window=WINDOW)
        model.requests = _Nothing()
        async with (
            Runtime(settings, models={"small": model}, roles=[role]) as runtime,
            runtime.session("a long talk", watch=talk.watch) as session,
        ):
            conversation = session.conversation("yard", tools=tools)
            for turn in range(1, turns + 1):
                talk.turn, talk.called = turn, False
                talk.usable = conversation.context.budget.usable
                began = time.process_time()
                outcome = await conversation.say(talk.said())
                cpu.append(1_000 * (time.process_time() - began))
                assert outcome.status == "done", outcome.reason
                memory.append(rss_mb())
                if progress:
                    print(f"turn {turn}: {cpu[-1]:.1f} ms, {memory[-1]:.0f} MB", file=sys.stderr)
            offered = len(talk.last.tools) if talk.last is not None else 0
    return figures(talk, cpu, memory, offered)


class _Nothing(list[Request]):
    """The scripted model keeps what it was asked; here that would be all prompts of the talk."""

    def append(self, item: Request) -> None: ...


def figures(talk: Talk, cpu: list[float], memory: list[float], offered: int) -> Figures:
    """Two equal parts of the talk since its prompt was full, both of whole cycles where it is long enough."""
    full = -(-min(talk.full or EVERY, talk.turns // 2) // EVERY) * EVERY
    part = (talk.turns - full) // 2 // EVERY * EVERY or max((talk.turns - full) // 2, 1)
    filling, first, last = cpu[:full], cpu[full : full + part], cpu[-part:]
    assert talk.last is not None
    shown = " ".join("\n".join(message.text for message in talk.last.messages).split())
    medians, means = [(of(first), of(last)) for of in (statistics.median, statistics.mean)]
    return Figures(
        turns=talk.turns,
        tools=len(talk.specs),
        large_results=talk.turns // EVERY,
        full=full,
        median_filling=statistics.median(filling),
        median_first=medians[0],
        median_last=medians[1],
        median_ratio=medians[1] / medians[0],
        mean_filling=statistics.mean(filling),
        mean_first=means[0],
        mean_last=means[1],
        mean_ratio=means[1] / means[0],
        rss_first=memory[0],
        rss_last=memory[-1],
        growth=1_000 * statistics.linear_regression(range(full, talk.turns), memory[full:]).slope,
        peak=talk.peak,
        over_budget=talk.over,
        facts=sum(bool(count(fact, shown)) for fact in FACTS) / len(FACTS),
        compactions=talk.compactions,
        offered=offered,
    )


def problems(found: Figures) -> list[str]:
    """What is not as it should be."""
    slower = "times what one cost when the prompt was first full"
    limits = (
        (found.median_ratio > FLAT, f"a turn at the end costs {found.median_ratio:.2f} {slower}"),
        (found.mean_ratio > FLAT, f"with large results it costs {found.mean_ratio:.2f} {slower}"),
        (found.growth > GROWTH, f"memory grows by {found.growth:.0f} KB a turn"),
        (found.over_budget > 0, f"{found.over_budget} prompts are over their budget"),
        (found.facts < 1, f"only {found.facts:.0%} of the early facts are in the last prompt"),
    )
    return [sentence for wrong, sentence in limits if wrong]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--policy", default="chat")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="fail unless all is flat and kept")
    parser.add_argument("--progress", action="store_true", help="a line every 20 turns")
    options = parser.parse_args()
    found = anyio.run(measure, options.turns, options.policy, options.progress)
    if options.json:
        print(json.dumps(to_builtins(found), indent=2))
    else:
        for name, value in to_builtins(found).items():
            print(f"{name:>16} {value:>12,.2f}" if isinstance(value, float) else f"{name:>16} {value:>12,}")
    wrong = problems(found)
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    sys.exit(1 if options.check and wrong else 0)


if __name__ == "__main__":
    main()
