"""A session's record as a run over it needs it: each agent's calls, results and end.

What counts of an agent's events: a `resumed` event of its own voids all from the turn it names; an end
(`failed`, `finished`) after which the agent went on is no end. A recorded failure comes back in a replay; a
resumed run tries again, unless somebody has built on the failure: an agent that began after it has replied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from orchestra.journal.reading import Reader
from orchestra.journal.records import EventRecord, SessionRecord
from orchestra.values.events import Event

CALL_FAILED = "call failed"  # what a note says of a model call that raised
_TEXTS_OF = ("started", "reply", "tool_returned", "said", "answered", "note")


class PastCall(Struct):
    """One model call of the record; `outcome` is its reply, or a note of its failure, None: cut off.

    `sent`: the prompts that were recorded since the call before it.
    """

    seq: int
    turn: int
    data: Mapping[str, Any]
    sent: tuple[EventRecord, ...] = ()
    outcome: EventRecord | None = None

    @property
    def failed(self) -> bool:
        return self.outcome is not None and self.outcome.kind == "note"


class AgentPast:
    """One agent's record. `results` and `intents` by (turn, place of the call in its reply); `unsent`, the
    prompts that no call was recorded of.

    Of a conversation: `talk`, what was said to it and what was changed in its context, in order;
    `answers`, the end of each of its turns, by the number of what was said.
    """

    __slots__ = ("answers", "calls", "events", "intents", "path", "results", "talk", "unsent")

    def __init__(self, path: str, events: Iterable[EventRecord] = ()) -> None:
        self.path = path
        self.events: list[EventRecord] = []
        for event in events:
            self._take(event)
        self.calls: list[PastCall] = []
        self.results: dict[tuple[int, int], EventRecord] = {}
        self.intents: dict[tuple[int, int], str] = {}
        self.talk: list[EventRecord] = []
        self.answers: dict[int, EventRecord] = {}
        self.unsent: tuple[EventRecord, ...] = ()
        self._read()

    @property
    def started(self) -> EventRecord | None:
        return next((event for event in self.events if event.kind == "started"), None)

    @property
    def end(self) -> EventRecord | None:
        """The event with which it failed or finished; None while it was at work."""
        return next((event for event in self.events if event.kind in ("failed", "finished")), None)

    @property
    def has_replied(self) -> bool:
        return any(call.outcome is not None and not call.failed for call in self.calls)

    def forget_failure(self) -> None:
        """As if it had not failed yet: its last call, or its tools, are tried again."""
        last = self.calls[-1] if self.calls else None
        if last is not None and last.failed and last.outcome is not None:
            failed = last.outcome.seq
            last.outcome = None
        else:
            assert self.end is not None
            failed = self.end.seq
        self.events = [event for event in self.events if event.seq < failed]

    def _take(self, event: EventRecord) -> None:
        if event.kind == "resumed" and event.agent:
            since = event.data["from"]
            first = next((at for at, each in enumerate(self.events) if each.turn >= since), None)
            self.events = self.events[:first]
            return
        if event.kind not in ("handoff", "note"):
            ends = [at for at, each in enumerate(self.events) if each.kind in ("failed", "finished")]
            self.events = self.events[: ends[0]] if ends else self.events
        self.events.append(event)

    def _read(self) -> None:
        sent: list[EventRecord] = []
        for event in self.events:
            place = (event.turn, event.data.get("n", 0))
            if event.kind == "prompt":
                sent.append(event)
            elif event.kind == "call":
                self.calls.append(PastCall(event.seq, event.turn, event.data, tuple(sent)))
                sent.clear()
            elif (event.kind == "reply" or event.data.get("what") == CALL_FAILED) and self.calls:
                self.calls[-1].outcome = event
            elif event.kind == "intended":
                self.intents[place] = event.data["key"]
            elif event.kind == "tool_returned":
                self.results[place] = event
            elif event.kind in ("said", "steered"):
                self.talk.append(event)
            elif event.kind == "answered":
                self.answers[event.data["n"]] = event
        self.unsent = tuple(sent)


class Past(Struct, frozen=True, kw_only=True):
    """A session's record. `began`: what its time is counted from, in seconds since the epoch.

    `replay`: nothing may be made, what is not recorded is an error. `trusted`: up to this event what is
    recorded comes back whatever is asked (a fork). `answers`: people's answers by what was asked.
    `stopped`: why the session's work was ended early, "" if it was not. `worked`: seconds, without pauses.
    """

    record: SessionRecord
    question: str
    agents: Mapping[str, AgentPast]
    texts: Mapping[str, str]
    began: float
    worked: float
    stopped: str = ""
    answers: Mapping[str, Mapping[str, Any]] = {}
    replay: bool = False
    trusted: int = 0

    def agent(self, path: str) -> AgentPast:
        return self.agents.get(path) or AgentPast(path)


async def load_past(reader: Reader, session: SessionRecord, *, replay: bool = False) -> Past:
    """Everything of a session, in memory. Raises StoreError where the store lacks a text."""
    events = await reader.events(session.id)
    by_agent: dict[str, list[EventRecord]] = {}
    for event in events:
        by_agent.setdefault(event.agent, []).append(event)
    agents = {path: AgentPast(path, of_agent) for path, of_agent in by_agent.items()}
    if not replay:
        for agent in agents.values():
            if agent.path and _is_worth_another_try(agent, agents.values()):
                agent.forget_failure()
    wanted = [where for event in events if event.kind in _TEXTS_OF for where in event.texts.values()]
    texts = await reader.texts([*wanted, session.question])
    began, worked = _times(session, events)
    own = by_agent.get("", [])
    agents[""] = AgentPast("", _own(own, replay=replay))
    return Past(
        record=session,
        question=texts[session.question],
        agents=agents,
        texts=texts,
        began=began,
        worked=worked,
        stopped=_stopped(own),
        answers=_answers(events),
        replay=replay,
        trusted=session.config.get("trusted", 0),
    )


def _own(events: Sequence[EventRecord], *, replay: bool) -> list[EventRecord]:
    """What comes again of the session's own: in a replay its last run, else only what people have said."""
    last = max((at for at, event in enumerate(events) if event.kind == "resumed"), default=-1)
    return [
        event
        for at, event in enumerate(events)
        if event.kind == "approval" or (replay and (event.kind == "started" or at > last))
    ]


def _is_worth_another_try(agent: AgentPast, others: Iterable[AgentPast]) -> bool:
    end = agent.end
    if end is None or end.kind != "failed":
        return False
    return not any(
        other.path and other.has_replied and other.started is not None and other.started.seq > end.seq
        for other in others
    )


def _times(session: SessionRecord, events: Sequence[EventRecord]) -> tuple[float, float]:
    """What its time is counted from, and the seconds it has worked; each resumption counts from anew."""
    began = session.created
    for event in events:
        if not event.agent and event.kind in ("started", "resumed"):
            began = event.data.get("began", event.at)
    return began, max(events[-1].at - began, 0.0) if events else 0.0


def _stopped(events: Iterable[EventRecord]) -> str:
    """The reason of the last stop that the session was not resumed after."""
    reason = ""
    for event in events:
        if event.kind == "stopped" and not event.data.get("target"):
            reason = event.data["reason"]
        elif event.kind == "resumed":
            reason = ""
    return reason


def _answers(events: Iterable[EventRecord]) -> dict[str, Mapping[str, Any]]:
    return {
        event.data["key"]: event.data
        for event in events
        if event.kind == "approval" and event.data.get("state") == "answered"
    }


def may_be_missing(event: Event | EventRecord) -> bool:
    """Whether it hangs on the order in which agents were answered: a budget's warning."""
    return event.kind == "note" and event.data.get("what") == "budget"


def identity(event: Event | EventRecord) -> tuple[Any, ...]:
    """What an event and its record have in common."""
    data = event.data
    return event.kind, event.turn, data.get("n"), data.get("what"), data.get("receiver"), data.get("state")
