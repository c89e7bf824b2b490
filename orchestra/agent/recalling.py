"""What an agent is given of the past: of earlier sessions, and by the meaning of what it is asked.

A meaning is had in time, or done without. What was recalled by it is recorded with the call, so that a
replay, which asks no model, shows the same.
"""

from __future__ import annotations

from typing import Any

import anyio.to_thread

from orchestra.agent.desk import Desk
from orchestra.context.context import Context
from orchestra.context.recall.index import UNKNOWN
from orchestra.context.recall.turns import Meant
from orchestra.journal.track import Track
from orchestra.models.meaning import Meaning
from orchestra.tools.recall import THREAD_CHARACTERS
from orchestra.values.roles import Role

KEY = "recalled"
_AT_ONCE = 1_024
"""Texts that are asked for before one prompt; a talk that is longer has the rest by the next ones."""


async def mean(context: Context, meaning: Meaning | None, track: Track) -> None:
    """Before a prompt that recalls by itself: ask for the vectors that it lacks, take those there in time."""
    recollector = context.recollector
    recollector.meant = UNKNOWN
    if recollector.backlog > THREAD_CHARACTERS and context.recalls:
        await anyio.to_thread.run_sync(recollector.catch_up, context.asks[0])
    recorded = track.recorded_step
    if recorded is not None:
        recollector.meant = _recorded(recorded.data.get(KEY))
        return
    if meaning is None or not context.recalls:
        return
    block, text = context.asks
    meaning.want(recollector.unembedded((block,))[:_AT_ONCE])
    meaning.want((text,), first=True)
    vector = await meaning.within(text, meaning.wait_seconds)
    recollector.learn(meaning.vector)
    late = f"{meaning.name} had not answered after {meaning.wait_seconds:g} s"
    problem = "" if vector is not None else meaning.problem or late
    recollector.meant = Meant(vector, meaning.name, problem)


async def recollect(context: Context, desk: Desk, role: Role, task: str) -> None:
    """What earlier sessions left, within its zone's share; answers for who leans on no sources."""
    assert desk.memory is not None
    room = int(desk.policy.shares.memory * context.budget.usable)
    for block in await desk.memory.shown(task, room, answers=role.output in ("", "Plan")):
        context.add_data("memory", block.source, block.text, why=block.why, at=block.at)


def keep(context: Context, track: Track) -> None:
    """After a prompt: what a replay has to know of it goes into the record with the call."""
    last = context.recalled
    if last is None or (meant := context.recollector.meant) is UNKNOWN:
        return
    told: dict[str, Any] = {"model": meant.model, "problem": meant.problem}
    if last.embedding:
        told["units"] = list(last.units)
    track.aside = {**track.aside, KEY: told}


def _recorded(told: dict[str, Any] | None) -> Meant:
    if told is None:
        return UNKNOWN
    units = told.get("units")
    return Meant(None, told["model"], told["problem"], tuple(units) if units is not None else None)
