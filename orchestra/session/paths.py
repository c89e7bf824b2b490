"""Agents' paths: `researcher.2` is the second of its role, or in the record the one with its task."""

from __future__ import annotations

from collections.abc import Callable

from orchestra.journal.past import AgentPast, Past


class Paths:
    """Gives each agent of a session its path. `clean` takes secrets out, as the record has its tasks."""

    def __init__(self, past: Past | None = None, clean: Callable[[str], str] = str) -> None:
        self._past = past
        self._clean = clean
        self._counts: dict[str, int] = {}
        self._given: set[str] = set()

    def next(self, role: str, task: str) -> str:
        """The next path of this role.

        Where agents are asked in the order of a race, their numbers may come in another order than they
        were recorded in: the agent that had this very task keeps its own.
        """
        number = self._counts.get(role, 0) + 1
        if self._past is None:
            self._counts[role] = number
            return f"{role}.{number}"
        while f"{role}.{number}" in self._given:
            number += 1
        path = f"{role}.{number}"
        recorded, task = self._recorded(role), self._clean(task)
        if path in recorded and self._task(recorded[path]) != task:
            path = next((other for other, agent in recorded.items() if self._task(agent) == task), path)
        if path == f"{role}.{number}":
            self._counts[role] = number
        self._given.add(path)
        return path

    def window(self, role: str) -> int | None:
        """The window with which the next agent of this role began, None where that is not recorded."""
        agents = list(self._recorded(role).values())
        started = agents[0].started if agents else None
        return None if started is None else started.data.get("window")

    def _recorded(self, role: str) -> dict[str, AgentPast]:
        """The recorded agents of a role that have not come again yet, by path, in order."""
        agents = self._past.agents if self._past is not None else {}
        of_role = {
            path: agent
            for path, agent in agents.items()
            if path.rpartition(".")[0] == role and path not in self._given and agent.started is not None
        }
        return dict(sorted(of_role.items(), key=lambda item: int(item[0].rpartition(".")[2])))

    def _task(self, agent: AgentPast) -> str:
        assert self._past is not None
        assert agent.started is not None
        return self._past.texts.get(agent.started.texts.get("task", ""), "")
