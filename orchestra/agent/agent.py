"""One agent's loop: see, ask, act, until there is a result or a limit says so."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from operator import attrgetter

import anyio
from msgspec import structs

from orchestra.agent.calling import Caller, unheard
from orchestra.agent.desk import Desk
from orchestra.agent.ends import cut_short, out_of_steps, outcome_of
from orchestra.agent.hearing import Hearing, hearing
from orchestra.agent.recalling import keep, mean, recollect
from orchestra.agent.taking import take_in
from orchestra.context.assembly import Prompt
from orchestra.context.context import Context
from orchestra.context.summary.schema import Summariser
from orchestra.errors import AgentFailed, ContextTooLong, LimitReached, OutputInvalid
from orchestra.journal.prompts import Sent
from orchestra.models.port import Model
from orchestra.models.summariser import make_room, summariser_of
from orchestra.tools.escalate import EscalateTool
from orchestra.tools.own import OPTIONAL, own_tools
from orchestra.tools.port import Tool
from orchestra.values.handoffs import Outcome
from orchestra.values.messages import OutputSpec, Reply, Request
from orchestra.values.roles import Role

WRAP_UP = (
    "You are close to your limit. Call no more tools: give your result now, with what you have, "
    "and name what is missing."
)
# The share of an agent's own time after which it is told to finish; the rest is for its last call.
WRAP_UP_TIME_SHARE = 0.8
_window_of: Callable[[Model], int] = attrgetter("window")


class Agent:
    """One role at work on one task, in a context of its own."""

    _goes_on = False  # whether its context is needed when there is an answer

    __slots__ = (
        "_caller", "_context", "_desk", "_final", "_hear", "_last_turn", "_lifted", "_listen", "_models",
        "_short", "_steps", "_steps_done", "_toolbox", "_track", "_wrap_up_at", "path", "role",
    )  # fmt: skip

    def __init__(self, role: Role, path: str, desk: Desk) -> None:
        self.role = role
        self.path = path
        self._desk = desk
        self._track = desk.track
        steps = desk.tiers.tier_of(role.steps)
        self._ask_tiers(steps, desk.tiers.tier_of(role.final, inherited=steps))
        self._short = ""
        self._caller = Caller(desk)
        self._context: Context | None = None  # made when it is first used
        self._toolbox = desk.toolbox
        self._wrap_up_at = math.inf  # when its time comes to its end, by the monotonic clock
        self._last_turn = math.inf  # the model call that has to be its last
        self._lifted = self._steps_done = False
        self._listen = desk.listen
        self._hear: Hearing | None = None

    def _ask_tiers(self, steps: str, final: str) -> None:
        """From now on the steps are this tier's, and the final answer is that one's."""
        model = self._desk.tiers
        self._steps, self._final = steps, final
        self._models = (model[steps],) if steps == final else (model[steps], model[final])

    @property
    def _window(self) -> int:
        """What both tiers take, as far as it is known by now, or was when it was recorded."""
        track = self._track
        if not track.fresh and (recorded := track.window) is not None:
            return recorded
        return min(map(_window_of, self._models))

    @property
    def context(self) -> Context:
        """What it has seen so far, and its next prompt."""
        if self._context is None:
            desk, window = self._desk, self._window
            self._context = Context(
                self.path, self.role.instructions, policy=desk.policy, window=window, counter=desk.counter
            )
        return self._context

    @property
    def _summariser(self) -> Summariser | None:
        return summariser_of(self._desk.tiers, self._steps, self._ask_for_summary)

    async def run(self, task: str) -> Outcome:
        """Work until there is a result. Raises RunError when there can be none."""
        at = self._track.clock()
        context = self.context
        context.add_input(task, at=at)
        started = {"role": self.role.name, "window": context.budget.window}
        await self._track.put("started", started, {"task": task}, at=at)
        if self._desk.memory is not None:
            await recollect(context, self._desk, self.role, task)
        if self._may_act:
            await self._choose_tools(task, at)
        try:
            with self._limits():
                return await self._work()
            raise cut_short(self.path, self.role, self._desk.place.stopped)
        finally:
            self._toolbox = self._desk.toolbox  # its own tools hold it, and it would wait for the collector

    @property
    def _may_act(self) -> bool:
        """Whether it has tools, or its role names one that an agent has by itself: else it gets none."""
        return len(self._toolbox) > 0 or not OPTIONAL.isdisjoint(self.role.tools or ())

    async def _choose_tools(self, task: str, at: float) -> None:
        toolbox = await self._toolbox.chosen(task, at=at)
        self._toolbox = toolbox.joined(self._own_tools())

    def _limits(self) -> anyio.CancelScope:
        """The time that its role allows; it is over, too, when somebody stops the agent."""
        place, limits, seconds = self._desk.place, self.role.limits, self.role.limits.seconds
        self._last_turn = math.inf if limits.steps is None else self._track.turn + limits.steps
        self._wrap_up_at = math.inf
        if seconds is not None:  # what was waited for people in turns before this one gives it no more time
            self._wrap_up_at = time.monotonic() - place.waited + WRAP_UP_TIME_SHARE * seconds
        place.scope = place.times.within(seconds)
        if place.stopped:
            place.scope.cancel()
        return place.scope

    async def _work(self) -> Outcome:
        self._steps_done = False
        streamed = self._desk.tiers.streamed
        while True:
            finishing = self._must_finish()
            last = bool(finishing) or self._steps_done or not self._toolbox.specs
            tier = self._final if last else "large" if self._lifted else self._steps
            self._lifted = False
            if self._listen is None and tier not in streamed:
                outcome = await self._turn(tier, last=last, finishing=finishing)
            else:
                try:
                    async with self._hearing(last=last) as self._hear:
                        outcome = await self._turn(tier, last=last, finishing=finishing)
                finally:
                    self._hear = None
            if outcome is not None:
                return outcome

    async def _turn(self, tier: str, *, last: bool, finishing: str) -> Outcome | None:
        """One model call, and what its reply asks for; the outcome, where it is one."""
        context, track, output = self.context, self._track, None
        if tier == self._final:
            output = self._desk.output
        track.aside = {"finishing": finishing, "short": self._short} if finishing else {}
        refused = False
        while True:
            prompt = await self._prompt(context, output, last=last, ask=WRAP_UP if finishing else "")
            track.turn += 1
            request, window = self._request(prompt, last=last), context.budget.window
            try:
                reply = await self._caller.call(tier, request, prompt, window, self._hear)
                break
            except OutputInvalid as error:
                await self._failed(tier, error.problem or str(error), error)
                return None
            except ContextTooLong as error:
                if refused:
                    raise
                # The endpoint has told its window, or that ours is too large: once more with what fits.
                refused = True
                context.too_long(error.window)
                await track.put("note", {"what": "window lowered", "tokens": context.budget.window})
        acts = bool(reply.calls) and not last
        fits = tier == self._final and (reply.value is not None or output is None)
        if acts or not fits or self._goes_on:  # an answer that ends all is in no further prompt
            context.record_reply(reply, at=track.replied)
        if self._hear is not None:
            self._hear.ended(reply if acts or fits else None)
        if acts:
            await self._act(reply)
        elif fits:
            return outcome_of(self.path, reply, finishing, self._short)
        elif tier != self._final:
            self._steps_done = True  # the final answer is another tier's
        else:
            await self._failed(tier, f"a reply without a {output.name if output else 'text'}")
        return None

    def _request(self, prompt: Prompt, *, last: bool) -> Request:
        return Request(
            messages=prompt.messages,
            tools=prompt.tools,
            tool_choice="none" if last else "auto",
            output=prompt.output,
            max_output_tokens=prompt.output_tokens,
            purpose="final" if last else "step",
            cache_until=prompt.cache_until,
            in_order=True,
            session=self._track.recording.session,
            tokens=prompt.tokens,
        )

    def _hearing(self, *, last: bool) -> AbstractAsyncContextManager[Hearing]:
        """What hears the next reply as it comes."""
        recorded = self._track.recorded_step
        fresh = recorded is None or recorded.outcome is None
        return hearing(self._listen, self._toolbox, begin=fresh and not last)

    def _own_tools(self) -> list[Tool]:
        """What an agent can do beside its role's tools."""
        tools = own_tools(self.role, self.context)
        times = self.role.limits.escalations
        if times and self._steps != "large" and "large" in self._desk.tiers:
            tools.append(EscalateTool(partial(setattr, self, "_lifted", True), times))
        return tools

    def _must_finish(self) -> str:
        """Why the next call has to be the last, as recorded where it is; "" when not. Raises LimitReached."""
        track = self._track
        if not track.fresh and (recorded := track.recorded_step) is not None:
            self._short = recorded.data.get("short", "")
            return str(recorded.data.get("finishing", ""))
        if track.turn + 1 >= self._last_turn:
            if track.turn > self._last_turn:  # that one was to be the end
                raise out_of_steps(self.path, self.role)
            return f"its limit of {self.role.limits.steps} steps"
        if scope := self._caller.purse.ending:
            self._short = scope
            return f"the {scope}'s budget"
        if time.monotonic() - self._desk.place.waited >= self._wrap_up_at:
            return f"its limit of {self.role.limits.seconds:g} s"
        return ""

    async def _prompt(self, context: Context, output: OutputSpec | None, *, last: bool, ask: str) -> Prompt:
        """What the next call is shown; room is made first where that is due."""
        track = self._track
        window = self._window
        if window < context.budget.window:  # another agent's call has taught it
            context.narrow(window)
        tools = self._toolbox.specs
        critical = bool(ask or (last and tools))
        at = track.made
        show: Callable[..., Prompt] = context.as_it_is
        if context.due(tools, critical=critical) is not None:
            await make_room(context, tools, self._summariser, critical=critical, at=at)
            show = partial(context.prompt, critical=critical)
        recalls = context.policy.recall_share
        if recalls:
            await mean(context, self._desk.meaning, track)
        # Tools stay even when none may be called: dropping them would change the prefix. The adapter holds
        # the reply to the schema, or shows it where an endpoint cannot.
        prompt = show(tools, output, enforced=True, ask=ask, at=at)
        if recalls and context.recalled is not None:
            keep(context, track)
        if context.reports:
            for report in context.take_reports():
                await track.put("compacted", structs.asdict(report))
        return prompt

    async def _failed(self, tier: str, problem: str, error: OutputInvalid | None = None) -> None:
        """A reply and its repair did not fit: the step goes to the large tier, or it is over."""
        await self._track.put("note", {"what": "output invalid", "tier": tier, "problem": problem[:300]})
        if tier == "large" or "large" not in self._desk.tiers:
            raise error or AgentFailed(f"{self.path} gave no usable result: {problem}", agent=self.path)
        await self._track.put("note", {"what": "escalated", "from": tier, "to": "large"})
        self._ask_tiers("large", "large")

    async def _ask_for_summary(self, tier: str, request: Request) -> Reply:
        """A call beside the steps: charged and recorded like them, under its own purpose."""
        recorded = self._track.recorded
        if recorded is not None and recorded.data["purpose"] != "summary":
            raise LimitReached("there was no room for a summary when this was recorded", limit="tokens")
        tokens = sum(map(self._desk.counter.message, request.messages))
        return await self._caller.call(
            tier,
            structs.replace(request, tokens=tokens),
            Sent(request.messages),
            self.context.budget.window,
            unheard if tier in self._desk.tiers.streamed else None,
        )

    async def _act(self, reply: Reply) -> None:
        """Run the reply's calls at once; their results enter the context in the order of the calls."""
        early = self._hear.early if self._hear is not None else None
        results = await self._toolbox.run_all(reply.calls, early=early)
        await take_in(results, self.context, self._desk)
