"""An agent that is spoken to again and again: one run of its loop for each turn, all in the same context."""

from __future__ import annotations

import anyio
from msgspec import structs

from orchestra.agent.agent import Agent
from orchestra.agent.desk import Desk
from orchestra.agent.ends import cut_short
from orchestra.agent.recalling import recollect
from orchestra.agent.taking import take_in
from orchestra.context.asked import asked_for
from orchestra.context.keeping import Compacted
from orchestra.context.levels import Compaction
from orchestra.errors import LimitReached
from orchestra.journal.talk import TalkTrack
from orchestra.models.summariser import carry_out
from orchestra.tools.toolbox import ToolResult
from orchestra.values.handoffs import Outcome
from orchestra.values.messages import Delta, Reply, Request, ToolSpec
from orchestra.values.roles import Role

CUT_OFF = "\n[cut off here: {reason}]"


class Talker(Agent):
    """Tools are chosen at the first turn. The role's limits of steps and seconds hold for each turn.

    A turn ends early only where it waits for a model or a tool, so that its context is the one which its
    record leads to. `heard`: what was streamed of the reply that is being made, "" for nothing.
    """

    _goes_on = True

    def __init__(self, role: Role, path: str, desk: Desk) -> None:
        super().__init__(role, path, desk)
        assert isinstance(desk.track, TalkTrack)
        self._talk = desk.track
        self._tiers = self._steps, self._final
        self._heard: list[str] = []
        self._shown_to = desk.listen
        self._listen = None if desk.listen is None else self.hear
        self._begun = False

    @property
    def heard(self) -> str:
        return "".join(self._heard)

    @property
    def window(self) -> int:
        """Tokens that its models take, as far as it is known, or as it was recorded."""
        return self._window

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """What it may call."""
        return self._toolbox.specs

    def hear(self, piece: Delta | None) -> None:
        """A piece of the reply that is being made; None: it begins anew."""
        if piece is None:
            self._heard.clear()
        elif piece.text:
            self._heard.append(piece.text)
        if self._shown_to is not None:
            self._shown_to(piece)

    async def told(self, text: str, number: int) -> float:
        """Somebody says something, the `number`-th time; returns when, in seconds since the epoch."""
        track = self._talk
        at = track.clock()
        self.context.add_input(text, at=at)
        if number == 1:
            await track.put("started", {"role": self.role.name, "window": self._window}, at=at)
        track.saying, track.answering = number, True
        await track.put("said", {"n": number}, {"text": text}, at=at)
        if self._desk.memory is not None:
            if not track.rerun:
                await self._desk.memory.heard(text)
            await recollect(self.context, self._desk, self.role, text)
        if not self._begun:
            self._begun = True
            if self._may_act:
                await self._choose_tools(text, at)
        elif self._toolbox.grows:
            await self._toolbox.chosen(text, at=at)
        return at

    async def answer(self) -> Outcome:
        """The loop, until there is an answer to what was told last. Raises RunError, TurnEnded."""
        self._ask_tiers(*self._tiers)
        self._short, self._lifted = "", False
        self._heard.clear()
        place = self._desk.place
        place.stopped = ""
        with self._limits():
            with anyio.CancelScope(shield=True) as place.whole:
                try:
                    outcome = await self._work()
                finally:
                    place.whole = None
            return outcome
        raise cut_short(self.path, self.role, place.stopped)

    def clear(self) -> None:
        """An empty context, for which tools are chosen anew."""
        self._context = None
        self._toolbox = self._desk.toolbox
        self._begun = False
        if self._desk.memory is not None:
            self._desk.memory.clear()

    def plan(self) -> Compaction | None:
        """What would leave if it were made room now."""
        return asked_for(self.context, self.tools)

    async def compact(self, plan: Compaction, *, at: float) -> Compacted:
        """Carry it out, summed up like any other stretch."""
        place = self._desk.place
        with anyio.CancelScope(shield=True) as place.whole:
            try:
                await carry_out(self.context, plan, self._summariser, at=at)
            finally:
                place.whole = None
            reports = self.context.take_reports()
            for report in reports:
                await self._track.put("compacted", structs.asdict(report), at=at)
        return reports[-1]

    def give_up(self, reason: str, partial: str, *, at: float) -> None:
        """The turn ended early: its calls get an end, and what was shown of its reply stays."""
        self.context.close_calls(reason, at=at)
        if partial:
            self.context.record_reply(Reply(text=partial + CUT_OFF.format(reason=reason)), at=at)
        self._heard.clear()

    async def _turn(self, tier: str, *, last: bool, finishing: str) -> Outcome | None:
        self._heard.clear()
        return await super()._turn(tier, last=last, finishing=finishing)

    async def _ask_for_summary(self, tier: str, request: Request) -> Reply:
        track = self._talk
        if track.recorded is None and track.follows("compacted"):
            raise LimitReached("no summary could be asked for when this was recorded", limit="tokens")
        return await super()._ask_for_summary(tier, request)

    async def _act(self, reply: Reply) -> None:
        self._heard.clear()
        results: dict[int, ToolResult] = {}
        try:
            early = self._hear.early if self._hear is not None else None
            await self._toolbox.run_all(reply.calls, results, early)
        finally:
            # What came back is in the record and in the context, however the turn ends.
            if results:
                await take_in([results[place] for place in sorted(results)], self.context, self._desk)
