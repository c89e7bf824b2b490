"""A runtime for teams of role agents that research and then write, with every claim quoted.

The public names; each is imported when it is first used, so that `import orchestra` costs little.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestra.config.load import load_settings as load_settings
    from orchestra.config.settings import Settings as Settings
    from orchestra.errors import ModelError as ModelError
    from orchestra.errors import OrchestraError as OrchestraError
    from orchestra.errors import RunError as RunError
    from orchestra.errors import ToolError as ToolError
    from orchestra.errors import UserError as UserError
    from orchestra.models.extractive.model import Extractive as Extractive
    from orchestra.models.port import Model as Model
    from orchestra.models.scripted import Scripted as Scripted
    from orchestra.runtime import Runtime as Runtime
    from orchestra.session.session import Session as Session
    from orchestra.tools.decorator import tool as tool
    from orchestra.tools.port import Tool as Tool
    from orchestra.tools.port import ToolOutput as ToolOutput
    from orchestra.values.handoffs import HandOff as HandOff
    from orchestra.values.report import Report as Report
    from orchestra.values.roles import Role as Role
    from orchestra.workflow import research_then_write as research_then_write

_PLACES = {
    "Extractive": "orchestra.models.extractive.model",
    "HandOff": "orchestra.values.handoffs",
    "Model": "orchestra.models.port",
    "ModelError": "orchestra.errors",
    "OrchestraError": "orchestra.errors",
    "Report": "orchestra.values.report",
    "Role": "orchestra.values.roles",
    "RunError": "orchestra.errors",
    "Runtime": "orchestra.runtime",
    "Scripted": "orchestra.models.scripted",
    "Session": "orchestra.session.session",
    "Settings": "orchestra.config.settings",
    "Tool": "orchestra.tools.port",
    "ToolError": "orchestra.errors",
    "ToolOutput": "orchestra.tools.port",
    "UserError": "orchestra.errors",
    "load_settings": "orchestra.config.load",
    "research_then_write": "orchestra.workflow",
    "tool": "orchestra.tools.decorator",
}

__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'orchestra' has no attribute {name!r}")
    return getattr(importlib.import_module(place), name)
