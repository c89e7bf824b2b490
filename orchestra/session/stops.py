"""Who stopped what: a session, an agent or a tool; and in a replay, when that was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anyio

from orchestra.errors import InputError
from orchestra.journal.past import Past
from orchestra.journal.track import Track
from orchestra.tools.place import Place
from orchestra.tools.running import Calls
from orchestra.tools.within import Timekeeper


class Stops:
    """`recorded`: the reason of the stop that a replay has to repeat, "" for none.

    `notes`: what is to be written down, until it is taken.
    """

    def __init__(self, past: Past | None, times: Timekeeper) -> None:
        self.recorded = past.stopped if past is not None and past.replay else ""
        self._past = past
        self.calls = Calls(times)
        self.notes: list[dict[str, Any]] = []
        self._blocked: set[str] = set()

    def session(self, who: str, reason: str) -> None:
        """The whole session was stopped."""
        self.notes.append({"what": "session", "who": who, "reason": reason})

    def part(self, at_work: Iterable[Place], reason: str, who: str, agent: str, tool: str) -> None:
        """Stop an agent of those at work, or the running calls of a tool. Raises InputError without such."""
        why = f"stopped by {who}{f': {reason}' if reason else ''}"
        agents = {place.agent: place for place in at_work}
        found = agent in agents
        if tool:
            found = self.calls.stop(tool, agent, why)
        elif found:
            agents[agent].stop(f"{agent} was {why}")
        if not found:
            there = ", ".join(sorted(agents)) or "none"
            named = f"call of {tool}" if tool else f"agent {agent}"
            raise InputError(f"No {named} is running; agents at work: {there}.")
        what = (
            {"what": "tool", "target": tool, "agent": agent} if tool else {"what": "agent", "target": agent}
        )
        self.notes.append({**what, "who": who, "reason": reason})

    def taken(self) -> list[dict[str, Any]]:
        """What is to be written down, once."""
        notes, self.notes = self.notes, []
        return notes

    def are_due(self, tracks: Mapping[str, Track] | None) -> bool:
        """Whether a replay has come to where the session was stopped: nobody's record goes on."""
        if not self.recorded or self._past is None:
            return False
        known = tracks or {}
        return all(
            path in self._blocked or (path in known and known[path].is_over)
            for path in self._past.agents
            if path
        )

    async def wait(self, path: str, tracks: Mapping[str, Track], stop: Callable[[str], None]) -> None:
        """An agent's record ends here because the session was stopped: it waits until that is so."""
        self._blocked.add(path)
        if self.are_due(tracks):
            stop(self.recorded)
        await anyio.sleep_forever()
