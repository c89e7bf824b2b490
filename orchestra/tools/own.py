"""The tools that are made for each agent, over its own context alone."""

from __future__ import annotations

from orchestra.context.context import Context
from orchestra.tools.port import Tool
from orchestra.tools.recall import recall_tool
from orchestra.tools.state import NAME as UPDATE_STATE
from orchestra.tools.state import state_tool
from orchestra.values.roles import Role

OPTIONAL = frozenset((UPDATE_STATE,))
"""Names that a role may list although no toolbox has them."""


def own_tools(role: Role, context: Context) -> list[Tool]:
    """What an agent can do beside its role's tools: recall, and its own tools that the role lists."""
    tools: list[Tool] = []
    if "recall" not in context.policy.without:
        tools.append(recall_tool(context))
    if role.tools and UPDATE_STATE in role.tools:
        tools.append(state_tool(context))
    return tools
