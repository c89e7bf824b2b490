"""The adapter's own two requests: the repair turn, and the check whether tools are known."""

from __future__ import annotations

import msgspec

from orchestra.models.compatible.interpret import Read
from orchestra.models.compatible.schemas import schema_text
from orchestra.values.messages import Message, Request, ToolSpec

_QUOTED = 4_000
"""Characters of the bad reply that are shown again; more would not help a model that went astray."""


def repair_request(request: Request, bad: Read) -> Request:
    """The same request with the bad reply and what was wrong with it."""
    words = [f"Your reply cannot be used: {bad.problem}."]
    if bad.finish == "length":
        words.append("Answer again, much shorter.")
    else:
        words.append("Answer again, and mend only that.")
    if request.output is not None and bad.no_json:
        schema = schema_text(request.output.schema)
        words.append(f"Reply with one JSON object and nothing else, by this JSON schema:\n{schema}")
    messages = request.messages
    if bad.text and bad.finish != "length":
        messages = (*messages, Message(role="assistant", text=bad.text[:_QUOTED]))
    return msgspec.structs.replace(
        request, messages=(*messages, Message(role="user", text=" ".join(words))), purpose="repair"
    )


_CHECK_TOOL = ToolSpec(
    "report_ready",
    "Report that you are ready.",
    {
        "type": "object",
        "properties": {"ready": {"type": "boolean"}},
        "required": ["ready"],
        "additionalProperties": False,
    },
)


def check_request() -> Request:
    """A request that only a tool call answers."""
    return Request(
        messages=(
            Message(role="system", text="Answer by calling the tool."),
            Message(role="user", text="Call report_ready with ready=true."),
        ),
        tools=(_CHECK_TOOL,),
        tool_choice="required",
        max_output_tokens=256,
        purpose="check",
    )
