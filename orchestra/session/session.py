"""A session: one request from start to report."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import anyio
import msgspec
from msgspec import Struct
from pydantic import BaseModel

from orchestra.agent import Agent, Desk, Outcome
from orchestra.config.settings import SessionLimits
from orchestra.context.budget import budget_of
from orchestra.context.policy import Policy
from orchestra.context.tokens import Counter
from orchestra.errors import ConfigError, InputError, RoleError, RunError, alone
from orchestra.evidence.ledger import Ledger
from orchestra.journal.journal import Journal
from orchestra.models.tiers import Tiers
from orchestra.session.capping import capped
from orchestra.session.outputs import output_spec
from orchestra.spend import Spend
from orchestra.tools.toolbox import Toolbox, nearest
from orchestra.values.drafts import OUTPUTS
from orchestra.values.events import Event, EventKind
from orchestra.values.handoffs import HandOff
from orchestra.values.messages import OutputSpec
from orchestra.values.report import Report
from orchestra.values.roles import Role
from orchestra.values.usage import NO_USAGE, Usage

T = TypeVar("T")
R = TypeVar("R")
Watch = Callable[[Event], None]

# The reason with which a person ends a session's work.
INTERRUPTED = "interrupted"

# A task handed to an agent takes at most this share of what its prompt may hold, and no more tokens than a
# writer can use: five researchers' hand-offs at their default cap are 20,000.
TASK_SHARE = 0.7
TASK_TOKENS = 20_000


class Kit(Struct, frozen=True, kw_only=True):
    """What all sessions of a runtime share; nothing in it changes.

    `policies`: by preset. `clock` gives seconds since the epoch. `spend` is the runtime's own scope.
    """

    limits: SessionLimits
    roles: Mapping[str, Role]
    policies: Mapping[str, Policy]
    tiers: Tiers
    counter: Counter
    journal: Journal
    spend: Spend
    clock: Callable[[], float]


class Session:
    """One request: made by `Runtime.session`, handed to a workflow, gone afterwards.

    `problems`: one line for each document that could not be read. `stopped` says why work ended early,
    "" if it did not. `watch` is called with every event as it is recorded.
    """

    def __init__(
        self, kit: Kit, session_id: str, question: str, *, toolbox: Toolbox, watch: Watch | None = None
    ) -> None:
        self.id = session_id
        self.question = question
        self.kit = kit
        self.toolbox = toolbox
        self.problems: tuple[str, ...] = ()
        self.ledger = Ledger()
        self.usage: dict[str, Usage] = {}
        self.stopped = ""
        self.began = kit.clock()
        limits = kit.limits
        self.spend = Spend("session", tokens=limits.tokens, cost=limits.dollars, parent=kit.spend)
        self._watch = watch
        self._paths: dict[str, int] = {}
        self._scope: anyio.CancelScope | None = None
        self._places = anyio.CapacityLimiter(limits.agents)

    @contextmanager
    def working(self) -> Iterator[None]:
        """The part of a workflow that may end early: by `stop`, or when the session's time is up."""
        seconds = self.kit.limits.seconds
        with anyio.CancelScope() as scope:
            if seconds is not None:
                scope.deadline = anyio.current_time() + seconds
            self._scope = scope
            if self.stopped:
                scope.cancel()
            try:
                yield
            finally:
                self._scope = None
        if scope.cancelled_caught and not self.stopped:
            self.stopped = f"the session's limit of {seconds:g} s was reached"

    def stop(self, reason: str) -> None:
        """End the work; the workflow goes on with what there is."""
        self.stopped = self.stopped or reason
        if self._scope is not None:
            self._scope.cancel()

    async def ask(
        self,
        role: str,
        task: str,
        *,
        receiver: str = "session",
        output: type[BaseModel] | None = None,
        tools: Toolbox | None = None,
    ) -> HandOff[Any]:
        """One agent's work on one task, in a context of its own, handed over within its role's cap.

        `output`: a type in place of the role's own. `tools`: in place of the session's. A failure of the
        run is a status with its reason and is not raised; a mistake in a role or a call is.
        """
        agent = self._agent(role, output, tools)
        async with self._places:
            try:
                outcome = await agent.run(task)
            except RunError as error:
                outcome = Outcome(agent=agent.path, status="failed", reason=str(error))
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    stopped = Outcome(agent=agent.path, status="failed", reason=self.stopped or "cancelled")
                    await self._ended(stopped, agent.turn)
                raise
            await self._ended(outcome, agent.turn)
        return await self.hand_over(outcome, receiver, agent.role.handoff_tokens)

    async def each(self, items: Sequence[T], work: Callable[[int, T], Awaitable[R]]) -> tuple[R, ...]:
        """`work(number, item)` on all items at once, numbered from 1; results in the items' order."""

        async def one(number: int, item: T) -> R:
            return await work(number, item)

        with alone():
            async with anyio.create_task_group() as group:
                handles = [group.start_soon(one, number, item) for number, item in enumerate(items, start=1)]
        return tuple([handle.return_value for handle in handles])

    async def hand_over(self, outcome: Outcome, receiver: str, cap: int) -> HandOff[Any]:
        """Put what an agent made into its envelope, within the cap, and record it."""
        value = outcome.value if outcome.value is not None else outcome.text or None
        tokens = left_out = 0
        if value is not None:
            value, tokens, left_out = capped(value, cap, self.kit.counter)
        handoff = HandOff(
            sender=outcome.agent,
            receiver=receiver,
            value=value,
            status=outcome.status,
            reason=outcome.reason,
            tokens=tokens,
            cap=cap,
            left_out=left_out,
        )
        await self.record_handoff(handoff)
        return handoff

    async def record_handoff(self, handoff: HandOff[Any]) -> None:
        """Write an envelope and what is in it into the journal."""
        keys = ("receiver", "status", "reason", "tokens", "cap", "left_out")
        data = {key: getattr(handoff, key) for key in keys}
        await self.record("handoff", handoff.sender, data=data, texts={"value": as_json(handoff.value)})

    async def record(
        self,
        kind: EventKind,
        agent: str = "",
        *,
        turn: int = 0,
        data: Mapping[str, Any] | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        """One event into the journal, and to who watches."""
        at = self.kit.clock()
        await self.put(
            Event(
                session=self.id, agent=agent, turn=turn, kind=kind, at=at, data=data or {}, texts=texts or {}
            )
        )

    async def put(self, event: Event) -> None:
        await self.kit.journal.record(event)
        if self._watch is not None:
            self._watch(event)

    async def finish(self, report: Report, *, notes: tuple[str, ...] = (), partial: str = "") -> Report:
        """The report with what only the session knows: its id, usage, time and why it may be partial."""
        self.stopped = self.stopped or partial
        whole = msgspec.structs.replace(
            report,
            session=self.id,
            question=self.question,
            usage=dict(sorted(self.usage.items())),
            seconds=round(self.kit.clock() - self.began, 3),
            notes=(*report.notes, *notes),
            partial=self.stopped,
        )
        data = {"supported_share": whole.supported_share, "words": whole.words, "partial": whole.partial}
        await self.record("verified", data=data, texts={"report": as_json(whole)})
        return whole

    def room(self, role: str) -> int:
        """Tokens that the task of this role's agent may have: what its window leaves beside the rest."""
        found = self.role(role)
        tiers = self.kit.tiers
        window = min(tiers.model_for(found.steps).window, tiers.model_for(found.final).window)
        usable = budget_of(window, self.kit.policies[found.context]).usable
        return max(min(TASK_TOKENS, int(usable * TASK_SHARE)), 1)

    def charge(self, tier: str, usage: Usage) -> None:
        """Book what a call of this tier took."""
        self.usage[tier] = self.usage.get(tier, NO_USAGE) + usage

    def role(self, name: str) -> Role:
        """The role of this name. Raises InputError with the nearest ones."""
        role = self.kit.roles.get(name)
        if role is None:
            raise InputError(f"No role is called {name!r}; {nearest(name, self.kit.roles)}.", key=name)
        return role

    async def _ended(self, outcome: Outcome, turn: int) -> None:
        kind: EventKind = "failed" if outcome.status == "failed" else "finished"
        data = {"status": outcome.status, "reason": outcome.reason}
        await self.record(kind, outcome.agent, turn=turn, data=data)

    def _agent(self, name: str, output: type[BaseModel] | None, tools: Toolbox | None) -> Agent:
        role = self.role(name)
        number = self._paths[name] = self._paths.get(name, 0) + 1
        own = tools if tools is not None else self.toolbox
        named = OUTPUTS.get(role.output)
        spec: OutputSpec | None = output_spec(output or named) if output or named else None
        try:
            toolbox = own if role.tools is None else own.narrowed(role.tools)
        except ConfigError as error:
            raise RoleError(f"tools: {error}", file=role.file or None, key="tools") from error
        desk = Desk(
            session=self.id,
            tiers=self.kit.tiers,
            toolbox=toolbox,
            policy=self.kit.policies[role.context],
            counter=self.kit.counter,
            ledger=self.ledger,
            spend=Spend(name, tokens=role.limits.tokens, parent=self.spend),
            output=spec,
            put=self.put,
            charge=self.charge,
            clock=self.kit.clock,
        )
        return Agent(role, f"{name}.{number}", desk)


def as_json(value: Any) -> str:
    """A handed value as text for the journal."""
    if isinstance(value, str):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    return "" if value is None else msgspec.json.encode(value, enc_hook=str).decode()
