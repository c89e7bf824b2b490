"""What the doctor finds: `python -m benchmarks.doctor [--json] [--check]`.

Thirty sick prompts, made by planting one disease into a recorded prompt, ten of each kind; thirty healthy
ones, recorded from research runs over examples/library and from chats through a Context. Found: the right
disease at the right block. Precision counts findings: of all that were made, those that name a planted
disease; on healthy prompts each finding is a false alarm. Bars (issue 5): at least 28 of 30, and silence.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import anyio

from benchmarks.doctor_plants import Case, sick
from benchmarks.doctor_talks import Recorded, chats, research, spread
from orchestra.context.doctor.diagnosis import diagnose
from orchestra.context.doctor.finding import Finding

LEAST_FOUND = 28


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="exit code 1 when a bar is missed")
    options = parser.parse_args()
    figures = measure()
    print(json.dumps(figures, indent=2, ensure_ascii=False)) if options.json else show(figures)
    if options.check and (figures["found"] < LEAST_FOUND or figures["false alarms"]):
        sys.exit(1)


def measure() -> dict[str, Any]:
    """Counts, shares from 0 to 1, milliseconds of CPU for one prompt."""
    runs = anyio.run(research)
    talks = {name: chat.prompts for name, chat in chats().items()}
    every = [*runs, *(prompt for prompts in talks.values() for prompt in prompts)]
    healthy = [*spread(runs, 12), *(prompt for prompts in talks.values() for prompt in spread(prompts, 4))][
        :30
    ]
    cases = sick(every)
    start = time.process_time()
    found = [examined(case.prompt) for case in cases]
    alarms = [(prompt.name, finding) for prompt in healthy for finding in examined(prompt)]
    spent = time.process_time() - start
    others = [(prompt.name, finding) for prompt in every for finding in examined(prompt)]
    hits = [any(right(case, finding) for finding in known) for case, known in zip(cases, found, strict=True)]
    true = sum(right(case, finding) for case, known in zip(cases, found, strict=True) for finding in known)
    made = sum(map(len, found)) + len(alarms)
    return {
        "sick": len(cases),
        "healthy": len(healthy),
        "found": sum(hits),
        "false alarms": len(alarms),
        "recall": sum(hits) / len(cases),
        "precision": true / made if made else 1.0,
        "recorded": len(every),
        "alarms on all recorded": len(others),
        "ms": spent * 1e3 / (len(cases) + len(healthy)),
        "cases": [
            {
                "disease": case.disease,
                "what": case.what,
                "prompt": case.prompt.name,
                "found": hit,
                "said": told(known),
            }
            for case, hit, known in zip(cases, hits, found, strict=True)
        ],
        "alarms": [f"{name}: {finding.block} {finding.sentence}" for name, finding in (*alarms, *others)],
    }


def examined(prompt: Recorded) -> tuple[Finding, ...]:
    return diagnose(prompt.messages, prompt.tools, prompt.manifest)


def right(case: Case, finding: Finding) -> bool:
    return finding.disease == case.disease and finding.block in case.blocks


def told(findings: tuple[Finding, ...]) -> list[str]:
    return [f"{one.disease} {one.block}: {one.sentence}" for one in findings]


def show(figures: dict[str, Any]) -> None:
    for case in figures["cases"]:
        mark = "found " if case["found"] else "MISSED"
        print(
            f"{mark}  {case['disease']:<10} {case['what']:<24} {case['prompt']:<28} {len(case['said'])} said"
        )
        for line in () if case["found"] and len(case["said"]) == 1 else case["said"]:
            print(f"          {line[:150]}")
    for line in figures["alarms"]:
        print(f"ALARM   {line[:150]}")
    every = f"{figures['alarms on all recorded']} on all {figures['recorded']} recorded"
    print(
        f"\n{figures['found']} of {figures['sick']} sick found; {figures['false alarms']} false alarms on "
        f"{figures['healthy']} healthy ({every})\n"
        f"recall {figures['recall']:.2f}, precision {figures['precision']:.2f}; "
        f"{figures['ms']:.1f} ms a prompt"
    )


if __name__ == "__main__":
    main()
