"""A workflow of your own: a plain async function that asks agents and passes on what they hand over.

Two researchers look at the same question from two sides; their findings stay apart.

    python examples/own_workflow.py
"""

from __future__ import annotations

from pathlib import Path

import anyio

from orchestra import HandOff, Runtime, Session
from orchestra.values.drafts import Findings

LIBRARY = Path(__file__).parent / "library"


async def two_sides(session: Session, topic: str) -> dict[str, HandOff[Findings]]:
    """For and against, each researcher in a context of its own; a failure is a status, never a None."""
    sides = ("benefits", "risks")

    async def study(number: int, side: str) -> HandOff[Findings]:
        return await session.ask("researcher", f"Question: What are the {side} of {topic}?")

    return dict(zip(sides, await session.each(sides, study), strict=True))


async def main() -> None:
    async with Runtime() as runtime:
        found = await runtime.run(two_sides, "caffeine in tea", documents=LIBRARY)
    for side, handoff in found.items():
        print(f"{side}: {handoff.status}, {handoff.tokens} of {handoff.cap} tokens")
        for claim in handoff.value.claims[:3] if handoff.value else ():
            print(f"  - {claim.statement}")


if __name__ == "__main__":
    anyio.run(main)
