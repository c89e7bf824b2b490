"""One agent's loop: see, ask, act, until there is a result or a limit says so."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from msgspec import Struct

from orchestra.context.assembly import Prompt
from orchestra.context.context import Context
from orchestra.context.policy import Policy
from orchestra.context.tokens import Counter
from orchestra.errors import AgentFailed, LimitReached, OutputInvalid
from orchestra.evidence.ledger import Ledger
from orchestra.journal.prompts import prompt_event
from orchestra.models.tiers import Tier, Tiers
from orchestra.spend import WRAP_UP_SHARE, Spend
from orchestra.tools.recall import recall_tool
from orchestra.tools.showing import show
from orchestra.tools.toolbox import Toolbox, ToolResult
from orchestra.values.events import Event
from orchestra.values.handoffs import Status
from orchestra.values.messages import OutputSpec, Purpose, Reply, Request, ToolCall, ToolSpec
from orchestra.values.roles import Role
from orchestra.values.usage import Usage

WRAP_UP = (
    "You are close to your limit. Call no more tools: give your result now, with what you have, "
    "and name what is missing."
)
# A schema failed this often on one tier hands the step to the large one (design §5).
FAILURES_BEFORE_ESCALATION = 2
# Time kept back from an agent's own limit for its last call.
WRAP_UP_TIME_SHARE = 0.8


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

    `put` takes an event into the journal; `charge(tier, usage)` books a call. `clock`: seconds since the
    epoch. `output`: what the role's output name stands for, None for text.
    """

    session: str
    tiers: Tiers
    toolbox: Toolbox
    policy: Policy
    counter: Counter
    ledger: Ledger
    spend: Spend
    output: OutputSpec | None
    put: Callable[[Event], Awaitable[None]]
    charge: Callable[[str, Usage], None]
    clock: Callable[[], float]


class Agent:
    """One role at work on one task, in a context of its own."""

    __slots__ = ("_desk", "_failures", "_tools", "context", "path", "role", "turn")

    def __init__(self, role: Role, path: str, desk: Desk) -> None:
        self.role = role
        self.path = path
        self.turn = 0
        self._desk = desk
        self._failures = 0
        window = min(desk.tiers.get(role.steps).window, desk.tiers.get(role.final).window)
        self.context = Context(path, role.instructions, desk.policy, window, desk.counter)
        self._tools = desk.toolbox
        if len(desk.toolbox):
            self._tools = desk.toolbox.joined((recall_tool(self.context),))

    async def run(self, task: str) -> Outcome:
        """Work until there is a result. Raises RunError when there can be none."""
        self.context.set_task(task, at=self._desk.clock())
        await self._put("started", {"role": self.role.name}, {"task": task})
        seconds = self.role.limits.seconds
        with anyio.move_on_after(seconds) as scope:
            return await self._work()
        if scope.cancelled_caught:
            raise LimitReached(f"{self.path} took longer than its {seconds:g} s", limit="seconds")
        raise AgentFailed(f"{self.path} ended without a result", agent=self.path)

    async def _work(self) -> Outcome:
        began = anyio.current_time()
        while True:
            finishing = self._must_finish(began)
            reply = await self._step(finishing)
            if reply.calls and not finishing:
                await self._act(reply)
                continue
            if reply.value is None and self._desk.output is not None:
                reply = await self._final(finishing)
            return self._outcome(reply, finishing)
