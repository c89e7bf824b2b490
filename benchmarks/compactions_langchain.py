"""LangChain's SummarizationMiddleware on the talk: run by `benchmarks.compactions` in its own environment.

Summarises at three quarters of the budget and keeps the newest 40 % verbatim; its own token counter.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from langchain.agents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from benchmarks.compactions_scripts import KINDS, prose


class Small(BaseChatModel):
    """The scripted model: sums up whatever it is shown."""

    kind: str
    calls: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        self.calls += 1
        text = "\n".join(str(message.content) for message in messages)
        message = AIMessage(prose(self.kind, text, self.calls))
        return ChatResult(generations=[ChatGeneration(message=message)])


def main() -> None:
    budget = int(sys.argv[1])
    turns = json.load(sys.stdin)["turns"]
    for kind in KINDS:
        print(json.dumps({"kind": kind, **run(kind, turns, budget)}))


def run(kind: str, turns: list[list[dict[str, str]]], budget: int) -> dict[str, Any]:
    middleware: SummarizationMiddleware = SummarizationMiddleware(
        Small(kind=kind), trigger=("tokens", int(0.75 * budget)), keep=("tokens", int(0.4 * budget))
    )
    messages: list[AnyMessage] = []
    prompts: list[str] = []
    compactions = errors = 0
    for turn, told in enumerate(turns):
        user, *results, assistant = told
        messages.append(HumanMessage(user["text"]))
        for result in results:
            call = {"name": "look_up", "args": {}, "id": f"c{turn}"}
            messages += [
                AIMessage("", tool_calls=[call]),
                ToolMessage(result["text"], tool_call_id=f"c{turn}"),
            ]
        try:
            changed = middleware.before_model({"messages": messages}, None)  # type: ignore[arg-type, typeddict-item]
        except RuntimeError:
            changed, errors = (
                None,
                errors + 1,
            )  # the agent's run would end here; the talk goes on for the figures
        if changed is not None:
            compactions += 1
            messages = [message for message in changed["messages"] if message.type != "remove"]
        prompts.append("\n".join(str(message.content) for message in messages))
        messages.append(AIMessage(assistant["text"]))
    return {"compactions": compactions, "errors": errors, "prompts": prompts}


if __name__ == "__main__":
    main()
