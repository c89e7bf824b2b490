"""What a person is asked before something is done, and what the person says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from orchestra.errors import ToolArguments
from orchestra.roles.conditions import Condition, condition_of
from orchestra.tools.port import Tool
from orchestra.tools.toolbox import decode_arguments
from orchestra.values.messages import ToolCall

ANY_TOOL = "*"
NEVER = "never"


class Asked(Struct, frozen=True, kw_only=True):
    """What a person is asked. `key` names it in its session, the same in every run over the record.

    `agent` and `tool` are "" for a stage of a workflow; `detail`: a call's arguments, or more words.
    """

    key: str
    what: str
    agent: str = ""
    tool: str = ""
    detail: str = ""


class Answer(Struct, frozen=True, kw_only=True):
    """What a person said, and who."""

    approved: bool
    reason: str = ""
    by: str = ""


REFUSED = "A person refused this call{reason}. Go on without it."


def refusal(answer: Answer) -> str:
    """A refusal as a result for the model."""
    return REFUSED.format(reason=f": {answer.reason}" if answer.reason else "")


def asks(tool: Tool, arguments: Mapping[str, Any], rules: Mapping[str, str]) -> bool:
    """Whether a person has to agree to this call. `rules`: the role's, by tool, over the tool's own."""
    rule: str | Condition = getattr(tool, "approve", NEVER)
    if rules:
        rule = rules.get(tool.spec.name, rules.get(ANY_TOOL, rule))
    if rule == NEVER:
        return False
    condition = condition_of(rule) if isinstance(rule, str) else rule
    return condition(arguments)


def may_ask(tool: Tool, call: ToolCall, rules: Mapping[str, str]) -> bool:
    """The same for a call whose arguments may not be readable: then it is not known."""
    try:
        return asks(tool, decode_arguments(call), rules)
    except ToolArguments:
        return True
