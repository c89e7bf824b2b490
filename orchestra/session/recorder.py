"""What a session writes into the journal beside what its agents do."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import msgspec

from orchestra.journal.track import Track
from orchestra.session.diary import Diary
from orchestra.session.kit import Kit
from orchestra.session.outputs import as_json
from orchestra.values.events import EventKind
from orchestra.values.handoffs import HandOff, Outcome
from orchestra.values.messages import ToolSpec


class Recorder:
    """The part of a Session that keeps its record; `id` is the session's."""

    def __init__(self, session: str, kit: Kit, diary: Diary) -> None:
        self.id = session
        self.kit = kit
        self._diary = diary

    async def begun(self, workflow: str, tools: Sequence[ToolSpec]) -> None:
        """The session's first event: what it was started with."""
        data = {"workflow": workflow, "began": self._diary.began}
        texts = {"tools": msgspec.json.encode(tools).decode()} if tools else {}
        await self.record("started", data=data, texts=texts)

    async def goes_on(self) -> None:
        """It was resumed; its time counts from `began`, as if there had been no pause."""
        await self.record("resumed", data={"began": self._diary.began})

    def record_handoff(self, handoff: HandOff[Any], written: str = "") -> Awaitable[None]:
        """Write an envelope and its value into the journal; `written`: as text, where it is there."""
        data = {
            "receiver": handoff.receiver,
            "status": handoff.status,
            "reason": handoff.reason,
            "tokens": handoff.tokens,
            "cap": handoff.cap,
            "left_out": handoff.left_out,
        }
        texts = {"value": written or as_json(handoff.value)}
        return self._diary.track(handoff.sender).put("handoff", data, texts, turn=0)

    async def record(
        self,
        kind: EventKind,
        agent: str = "",
        *,
        turn: int = 0,
        data: Mapping[str, Any] | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        """One event into the journal, and to who watches; in a run over a record, unless it is there."""
        await self._diary.track(agent).put(kind, data or {}, texts, turn=turn)

    def ended(self, outcome: Outcome, track: Track) -> Awaitable[None]:
        """An agent's work is over."""
        kind: EventKind = "failed" if outcome.status == "failed" else "finished"
        data = {"status": outcome.status, "reason": outcome.reason}
        if outcome.short:
            data["scope"] = outcome.short
        track.rest()
        return track.put(kind, data)
