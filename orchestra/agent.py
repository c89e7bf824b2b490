"""One agent's loop: see, ask, act, until there is a result or a limit says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from msgspec import Struct

from orchestra.context.context import Context
from orchestra.context.prompt import Prompt
from orchestra.errors import AgentFailed, LimitReached, OutputInvalid
from orchestra.evidence.ledger import Ledger
from orchestra.models.port import Model
from orchestra.models.tiers import Tiers
from orchestra.spend import WRAP_UP_SHARE, Spend
from orchestra.tools.showing import show
from orchestra.tools.toolbox import Toolbox, ToolResult
from orchestra.values.events import EventKind
from orchestra.values.handoffs import Status
from orchestra.values.messages import OutputSpec, Purpose, Reply, Request, ToolCall
from orchestra.values.roles import Role

Record = Callable[..., Awaitable[None]]

WRAP_UP = (
    "You are close to your limit. Call no more tools: give your result now, with what you have, "
    "and name what is missing."
)
# A schema failed this often on one tier hands the step to the large one (design §5).
FAILURES_BEFORE_ESCALATION = 2


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of an agent's work: a validated `value`, or `text` where the role names no output."""

    agent: str
    value: Any = None
    text: str = ""
    status: Status = "done"
    reason: str = ""
    turns: int = 0


class Desk(Struct, frozen=True, kw_only=True):
    """What an agent is handed to work with; it reaches for nothing else.

    `record(kind, agent, turn, data, texts)` writes to the journal. `clock` gives seconds since the epoch.
    """

    tiers: Tiers
    toolbox: Toolbox
    ledger: Ledger
    spend: Spend
    record: Record
    clock: Callable[[], float]
