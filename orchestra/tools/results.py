"""How a tool's result is recorded, and comes back from its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from orchestra.tools.outputs import output_of
from orchestra.tools.port import ToolOutput
from orchestra.tools.toolbox import ToolResult
from orchestra.values.messages import ToolCall

NOTHING = ToolOutput()


def result_data(place: int, result: ToolResult) -> dict[str, Any]:
    """What is recorded beside the texts; `place`: of the call in its reply."""
    data: dict[str, Any] = {
        "tool": result.call.name,
        "id": result.call.id,
        "n": place,
        "seconds": round(result.seconds, 4),
        "passages": len(result.output.passages),
        "error": result.error,
    }
    if result.output.added:
        data["added"] = result.output.added
    return {**data, "unknown": True} if result.unknown else data


def result_of(call: ToolCall, data: Mapping[str, Any], texts: Mapping[str, str], at: float) -> ToolResult:
    """The result again."""
    return ToolResult(
        call=call,
        output=structs.replace(output_of(texts), added=tuple(data.get("added", ()))),
        error=data["error"],
        seconds=data["seconds"],
        at=at,
        unknown=data.get("unknown", False),
    )


def unknown_result(call: ToolCall, error: str) -> ToolResult:
    """A call of which it is not known whether it took effect."""
    return ToolResult(call=call, output=NOTHING, error=error, unknown=True)
