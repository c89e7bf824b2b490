"""One agent's loop: see, ask, act, until there is a result or a limit says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from msgspec import Struct, structs

from orchestra.context.context import Context
from orchestra.context.policy import Policy
from orchestra.context.results import show as shorten
from orchestra.context.returned import Result
from orchestra.context.summary.schema import Summariser
from orchestra.context.tokens import Counter
from orchestra.errors import AgentFailed, LimitReached, ModelError, OutputInvalid
from orchestra.evidence.ledger import Ledger
from orchestra.journal.prompts import Moment, PromptTrail, Sent, prompt_event, reply_event
from orchestra.models.summariser import ModelSummariser, drafted
from orchestra.models.tiers import Tiers
from orchestra.spend import WRAP_UP_SHARE, Spend
from orchestra.tools.recall import recall_tool
from orchestra.tools.showing import show
from orchestra.tools.subset import chosen_for
from orchestra.tools.toolbox import Toolbox, ToolResult
from orchestra.values.events import Event, EventKind
from orchestra.values.handoffs import Status
from orchestra.values.messages import OutputSpec, Reply, Request
from orchestra.values.roles import Role
from orchestra.values.usage import Usage

WRAP_UP = (
    "You are close to your limit. Call no more tools: give your result now, with what you have, "
    "and name what is missing."
)
# The share of an agent's own time after which it is told to finish; the rest is for its last call.
WRAP_UP_TIME_SHARE = 0.8
# Longer results are counted and cut in a worker thread: 100,000 characters take about 10 ms of tokenising.
THREAD_CHARACTERS = 100_000
EXTRACTIVE = "extractive"  # the name of the model that is none (models/extractive)


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of an agent's work: a validated `value`, or `text` where the role names no output."""

    agent: str
    value: Any = None
    text: str = ""
    status: Status = "done"
    reason: str = ""


class Desk(Struct, frozen=True, kw_only=True):
    """What an agent is handed to work with; it reaches for nothing else.

    `put` takes an event into the journal, `charge(tier, usage)` books a call, `clock` gives seconds since
    the epoch. `output`: what the role's output name stands for, None for text.
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
    """One role at work on one task, in a context of its own. `turn` counts its model calls."""

    def __init__(self, role: Role, path: str, desk: Desk) -> None:
        self.role = role
        self.path = path
        self.turn = 0
        self._desk = desk
        self._steps = desk.tiers.tier_of(role.steps)
        self._final = desk.tiers.tier_of(role.final, inherited=self._steps)
        window = min(desk.tiers[self._steps].window, desk.tiers[self._final].window)
        self.context = Context(
            path, role.instructions, policy=desk.policy, window=window, counter=desk.counter
        )
        self._toolbox = desk.toolbox
        self._trail = PromptTrail()
        # Without a language model what leaves is summarised by rule, inside the context.
        small = desk.tiers.tier_of("small" if "small" in desk.tiers else role.steps)
        model = desk.tiers[small]
        self._summariser: Summariser | None = None
        if model.name != EXTRACTIVE:
            self._summariser = ModelSummariser(partial(self._ask_for_summary, small), model.name)
        self._began = 0.0

    async def run(self, task: str) -> Outcome:
        """Work until there is a result. Raises RunError when there can be none."""
        self.context.add_input(task, at=self._desk.clock())
        if len(self._toolbox):
            self._toolbox = chosen_for(task, self._toolbox).joined((recall_tool(self.context),))
        await self._put("started", {"role": self.role.name}, {"task": task})
        self._began = anyio.current_time()
        with anyio.move_on_after(self.role.limits.seconds) as scope:
            return await self._work()
        assert scope.cancelled_caught
        raise LimitReached(
            f"{self.path} took longer than its limit of {self.role.limits.seconds:g} s; "
            "raise limits.seconds in its role file or ask for less",
            limit="seconds",
        )

    async def _work(self) -> Outcome:
        steps_done = False
        while True:
            finishing = self._must_finish()
            last = bool(finishing) or steps_done or not len(self._toolbox)
            tier = self._final if last else self._steps
            reply = await self._ask(tier, last=last, finishing=finishing)
            if reply is None:
                continue
            self.context.record_reply(reply, at=self._desk.clock())
            if reply.calls and not last:
                await self._act(reply)
            elif tier != self._final:
                steps_done = True  # the final answer is another tier's
            elif reply.value is not None or self._desk.output is None:
                return self._outcome(reply, finishing)
            else:
                await self._failed(tier, f"a reply without a {self._desk.output.name}")

    def _must_finish(self) -> str:
        """Why the next call has to be the last, "" when it need not."""
        limits = self.role.limits
        if limits.steps is not None and self.turn + 1 >= limits.steps:
            return f"its limit of {limits.steps} steps"
        if self._desk.spend.share >= WRAP_UP_SHARE:
            return "its budget"
        spent = anyio.current_time() - self._began
        if limits.seconds is not None and spent >= WRAP_UP_TIME_SHARE * limits.seconds:
            return f"its limit of {limits.seconds:g} s"
        return ""

    async def _ask(self, tier: str, *, last: bool, finishing: str) -> Reply | None:
        """One model call; None when its reply did not fit the schema and another try is due."""
        limit = self.role.limits.steps
        if limit is not None and self.turn > limit:
            raise LimitReached(f"{self.path} used up its {limit} steps without a result", limit="steps")
        output = self._desk.output if tier == self._final else None
        critical = bool(finishing) or (last and len(self._toolbox) > 0)
        await self._make_room(critical=critical)
        # Tools stay in the request even when none may be called: dropping them would change the prefix.
        # The adapter holds the reply to the schema, or shows it where an endpoint cannot.
        prompt = self.context.prompt(
            self._toolbox.specs,
            output,
            enforced=True,
            ask=WRAP_UP if finishing else "",
            critical=critical,
            at=self._desk.clock(),
        )
        await self._tell_compactions()
        self.turn += 1
        request = Request(
            messages=prompt.messages,
            tools=prompt.tools,
            tool_choice="none" if last else "auto",
            output=output,
            max_output_tokens=prompt.output_tokens,
            purpose="final" if last else "step",
            cache_until=prompt.cache_until,
        )
        try:
            sent = Sent(prompt.messages, prompt.tools, prompt.manifest)
            return await self._call(tier, request, (prompt.tokens, prompt.output_tokens), sent)
        except OutputInvalid as error:
            await self._failed(tier, error.problem or str(error), error)
            return None

    async def _failed(self, tier: str, problem: str, error: OutputInvalid | None = None) -> None:
        """A reply and its repair did not fit: the step goes to the large tier, or it is over."""
        await self._put("note", {"what": "output invalid", "tier": tier, "problem": problem[:300]})
        if tier == "large" or "large" not in self._desk.tiers:
            raise error or AgentFailed(f"{self.path} gave no usable result: {problem}", agent=self.path)
        await self._put("note", {"what": "escalated", "from": tier, "to": "large"})
        self._steps = self._final = "large"

    async def _make_room(self, *, critical: bool) -> None:
        """Have a model sum up what is due to leave; where there is none, the prompt makes room by rule."""
        context = self.context
        if self._summariser is None:
            return
        plan = context.due(self._toolbox.specs, critical=critical)
        task = context.summary_task(plan) if plan is not None else None
        if plan is not None and task is not None:
            context.compact(plan, await drafted(self._summariser, task), at=self._desk.clock())

    async def _tell_compactions(self) -> None:
        """Record what left the context and what stands for it."""
        reports, self.context.reports = self.context.reports, []
        for report in reports:
            await self._put("compacted", structs.asdict(report))

    async def _ask_for_summary(self, tier: str, request: Request) -> Reply:
        """A call beside the steps: charged and recorded like them, under its own purpose."""
        tokens = sum(map(self._desk.counter.message, request.messages))
        most = request.max_output_tokens or 0
        return await self._call(tier, request, (tokens, most), Sent(request.messages))

    async def _call(self, tier: str, request: Request, sizes: tuple[int, int], sent: Sent) -> Reply:
        """Reserve, record, ask, settle, record. `sizes`: tokens of the prompt, and of the reply at most."""
        desk = self._desk
        model = desk.tiers[tier]
        moment = self._moment()
        held = desk.spend.reserve(sum(sizes), model.cost(*sizes))
        try:
            if request.purpose == "summary":
                await desk.put(prompt_event(moment, sent))
            else:
                await self._trail.record(desk.put, moment, sent)
            about = {"tier": tier, "purpose": request.purpose}
            await self._put("call", {**about, "model": model.name, "tokens": sizes[0]})
            try:
                reply = await model.reply(request)
            except ModelError as error:
                # What was billed and then failed is still billed.
                if error.usage is not None:
                    held.settle(error.usage)
                    desk.charge(tier, error.usage)
                raise
            held.settle(reply.usage)
            desk.charge(tier, reply.usage)
            await desk.put(reply_event(self._moment(), reply, about))
            return reply
        finally:
            held.release()

    async def _act(self, reply: Reply) -> None:
        """Run the reply's calls at once; their results enter the context in the order of the calls."""
        for call in reply.calls:
            await self._put("tool_called", {"tool": call.name, "id": call.id}, {"arguments": call.arguments})
        results = await self._toolbox.run_all(reply.calls)
        taken = [await self._result(result) for result in results]
        self.context.record_results(taken, at=self._desk.clock())
        for result, shown in zip(results, taken, strict=True):
            data = {
                "tool": result.call.name,
                "id": result.call.id,
                "seconds": round(result.seconds, 4),
                "passages": len(result.output.passages),
                "error": result.error,
            }
            await self._put("tool_returned", data, {"result": shown.text})

    async def _result(self, result: ToolResult) -> Result:
        """A tool's result as the context takes it; its documents become sources of the session."""
        desk = self._desk
        if result.error:
            return Result(call=result.call, text=result.error, failed=True)
        output = result.output
        desk.ledger.show(self.path, output.passages)
        text = show(output, partial(desk.ledger.label, self.path))
        fenced = bool(output.passages)
        shown = None
        if len(text) > THREAD_CHARACTERS:
            cap = desk.policy.result_tokens
            shown = await anyio.to_thread.run_sync(partial(shorten, text, cap, desk.counter, passages=fenced))
        archived = result.call.name != "recall"
        return Result(
            call=result.call,
            text=text,
            passages=fenced,
            ephemeral=output.ephemeral,
            archived=archived,
            shown=shown,
        )

    def _outcome(self, reply: Reply, finishing: str) -> Outcome:
        status: Status = "partial" if finishing else "done"
        reason = f"{self.path} had to finish early: {finishing} was reached" if finishing else ""
        return Outcome(agent=self.path, value=reply.value, text=reply.text, status=status, reason=reason)

    def _moment(self) -> Moment:
        return Moment(self._desk.session, self.path, self.turn, self._desk.clock())

    async def _put(
        self, kind: EventKind, data: Mapping[str, Any], texts: Mapping[str, str] | None = None
    ) -> None:
        await self._desk.put(
            Event(
                session=self._desk.session,
                agent=self.path,
                turn=self.turn,
                kind=kind,
                at=self._desk.clock(),
                data=data,
                texts=texts or {},
            )
        )
