"""Requests as agents make them, for tests of the extractive model."""

from __future__ import annotations

import json
from collections.abc import Sequence

from orchestra.context.fence import fence
from orchestra.models.extractive.model import Extractive
from orchestra.session.outputs import output_spec
from orchestra.values.drafts import OUTPUTS
from orchestra.values.messages import Message, OutputSpec, Reply, Request, ToolCall, ToolSpec

SEARCH = ToolSpec(
    "search_documents",
    "Find passages.",
    {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}},
)
READ = ToolSpec(
    "read_document",
    "Read a document.",
    {"type": "object", "properties": {"path": {"type": "string"}, "section": {"type": "string"}}},
)


def wanting(name: str) -> OutputSpec:
    return output_spec(OUTPUTS[name])


async def answer(
    text: str, output: str | None = None, *, more: Sequence[Message] = (), tools: Sequence[ToolSpec] = ()
) -> Reply:
    messages = (Message("system", "Do your work."), Message("user", text), *more)
    spec = wanting(output) if output else None
    return await Extractive().reply(Request(messages=messages, tools=tuple(tools), output=spec))


def passage(label: str, locator: str, title: str, section: str, text: str) -> str:
    return fence(f"[{label}] {locator} | {title} | {section}", text)


def searched(query: str, *passages: str, number: int = 1) -> list[Message]:
    """One search with its result."""
    call = ToolCall(f"t{number}", "search_documents", json.dumps({"query": query}))
    text = "\n".join(passages) or f"No passage matches {query!r}."
    return [Message("assistant", calls=(call,)), Message("tool", text, call_id=call.id)]


def brief(
    question: str, questions: Sequence[str], claims: Sequence[dict[str, object]], more: str = ""
) -> str:
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(questions, 1))
    lines = "\n".join(json.dumps(claim, ensure_ascii=False) for claim in claims)
    return (
        f"Question: {question}\nTitle: Bridges\nSub-questions:\n{listed}\n{more}\n\n{fence('Claims', lines)}"
    )


def claim(name: str, number: int, text: str, document: str = "a.md") -> dict[str, object]:
    quote = {"document": document, "title": document.title(), "text": text}
    return {"id": name, "question": number, "claim": text, "quotes": [quote]}
