"""What an agent is."""

from __future__ import annotations

from msgspec import Struct

ALL_TOOLS = "*"
GROUP = "group:"
"""How a role lists a group of tools, `group:web`."""


class Limits(Struct, frozen=True):
    """An agent's own limits; None means no limit of its own. `tokens` counts prompts and replies together.

    `escalations`: how often the agent may hand a step to the large tier on its own word; None: it may not.
    """

    steps: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    escalations: int | None = None


class Role(Struct, frozen=True, kw_only=True):
    """A role file as read.

    `tools`: names, GROUP with a group's name, ALL_TOOLS beside others; or None for every tool of the toolbox
    (other tools' files mean that by leaving it out).
    `steps` and `final`: a tier's name, a model's name, or "inherit".
    `output`: a name in OUTPUTS, or "" for text.
    `context`: the name of a policy preset. `handoff_tokens`: the cap on what this agent hands on.
    `approve`: pairs of a tool, or "*" for all, and when a person has to agree to a call of it.
    """

    name: str
    description: str
    instructions: str
    tools: tuple[str, ...] | None = None
    steps: str = "small"
    final: str = "small"
    output: str = ""
    context: str = "research"
    limits: Limits = Limits()
    handoff_tokens: int = 4_000
    approve: tuple[tuple[str, str], ...] = ()
    file: str = ""
