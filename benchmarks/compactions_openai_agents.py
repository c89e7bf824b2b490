"""The OpenAI Agents SDK's compaction session on the talk, in an environment of its own.

The compaction itself happens at OpenAI; here a scripted client stands in for it, which keeps the user's
messages, as the endpoint's documentation says, and puts a scripted summary in place of the encrypted item.
Compacts at three quarters of the budget, counted as four characters a token.
"""

from __future__ import annotations

import asyncio
import json
import sys
from types import SimpleNamespace
from typing import Any

from agents.memory import OpenAIResponsesCompactionSession, SQLiteSession

from benchmarks.compactions_scripts import KINDS, prose


class Responses:
    """`client.responses` with `compact` alone."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.calls = 0

    async def compact(self, **asked: Any) -> Any:
        self.calls += 1
        items = asked["input"]
        summary = prose(self.kind, "\n".join(text_of(item) for item in items), self.calls)
        kept = [item for item in items if item.get("role") == "user"]
        return SimpleNamespace(output=[*kept, {"role": "assistant", "content": summary}], usage=None)


async def main() -> None:
    budget = int(sys.argv[1])
    turns = json.load(sys.stdin)["turns"]
    for kind in KINDS:
        print(json.dumps({"kind": kind, **await run(kind, turns, budget)}))


async def run(kind: str, turns: list[list[dict[str, str]]], budget: int) -> dict[str, Any]:
    responses = Responses(kind)

    def full(context: dict[str, Any]) -> bool:
        return sum(len(text_of(item)) for item in context["session_items"]) / 4 > 0.75 * budget

    session = OpenAIResponsesCompactionSession(
        "talk",
        SQLiteSession("talk"),
        client=SimpleNamespace(responses=responses),  # type: ignore[arg-type]
        compaction_mode="input",
        should_trigger_compaction=full,
    )
    prompts: list[str] = []
    errors = 0
    for turn, told in enumerate(turns):
        user, *results, assistant = told
        await session.add_items([{"role": "user", "content": user["text"]}])
        for result in results:
            call = {"type": "function_call", "name": "look_up", "arguments": "{}", "call_id": f"c{turn}"}
            output = {"type": "function_call_output", "call_id": f"c{turn}", "output": result["text"]}
            await session.add_items([call, output])  # type: ignore[list-item]
        prompts.append("\n".join(text_of(item) for item in await session.get_items()))
        await session.add_items([{"role": "assistant", "content": assistant["text"]}])
        try:
            await session.run_compaction({"compaction_mode": "input"})
        except RuntimeError:
            errors += 1
    return {"compactions": responses.calls - errors, "errors": errors, "prompts": prompts}


def text_of(item: Any) -> str:
    """The text of a session item, whatever its shape."""
    content = item.get("content", item.get("output", ""))
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in content)


if __name__ == "__main__":
    asyncio.run(main())
