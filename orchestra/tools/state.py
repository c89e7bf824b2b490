"""`update_state`: an agent proposes changes to its task state; code merges them or says why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from orchestra.context.context import Context
from orchestra.context.state import Field, Patch
from orchestra.errors import ToolArguments
from orchestra.tools.port import Effects, ToolOutput
from orchestra.values.messages import ToolSpec

NAME = "update_state"
FIELDS: tuple[str, ...] = get_args(Field)
WAYS = ("set", "add", "remove")

SPEC = ToolSpec(
    name=NAME,
    description="Change one field of the task state. What contradicts the user's words is refused.",
    parameters={
        "type": "object",
        "properties": {
            "field": {"type": "string", "enum": list(FIELDS)},
            "value": {"type": "string", "description": "One short line; facts as key=value."},
            "how": {"type": "string", "enum": list(WAYS), "description": "Lists take add and remove."},
        },
        "required": ["field", "value", "how"],
        "additionalProperties": False,
    },
)


class StateTool:
    """The tool over one context's state. Offered to roles that name it among their tools."""

    __slots__ = ("_context",)
    spec = SPEC
    effects: Effects = "read"  # nothing outside the agent changes
    seconds: float | None = None

    def __init__(self, context: Context) -> None:
        self._context = context

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        field, value, how = (arguments.get(name) for name in ("field", "value", "how"))
        if field not in FIELDS or how not in WAYS or not isinstance(value, str):
            raise ToolArguments(
                f"{NAME} needs a field ({', '.join(FIELDS)}), a value and how ({', '.join(WAYS)})."
            )
        (change,) = self._context.propose_state(Patch(field, value, how))
        said = f"Refused: {change.refused}." if change.refused else "Done."
        return ToolOutput(text=said, ephemeral=True)


def state_tool(context: Context) -> StateTool:
    return StateTool(context)
