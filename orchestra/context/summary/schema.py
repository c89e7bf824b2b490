"""What a summary is, and how it reads in a prompt."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from orchestra.context.fence import fence

LISTS: tuple[tuple[str, str], ...] = (
    ("constraints", "Constraints"),
    ("exclusions", "Excluded"),
    ("decisions", "Decided"),
    ("done", "Done"),
    ("open", "Open"),
    ("entities", "Entities"),
    ("numbers", "Key numbers"),
    ("added", "Also said, word for word"),
)


class Summary(Struct, frozen=True, kw_only=True):
    """One stand-in for older blocks. Items are short lines; `numbers` are `key=value`.

    `added`: facts that the check found missing. `past`: a line for each older stretch, kept by code.
    `narrative`: what happened in the stretch that was summarised last.
    """

    goal: str = ""
    constraints: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    narrative: str = ""
    added: tuple[str, ...] = ()
    past: tuple[str, ...] = ()


NOTHING = Summary()


class Part(Struct, frozen=True):
    """One block as a summariser reads it. `speaker`: user, assistant or a tool's name."""

    id: str
    speaker: str
    turn: int
    text: str


class SummaryTask(Struct, frozen=True, kw_only=True):
    """What one summary is to cover: the parts, and the summary so far. `tokens`: how long it may be at most."""

    parts: tuple[Part, ...]
    previous: Summary | None
    tokens: int


class Summariser(Protocol):
    """Who makes summaries: a model, or rules."""

    @property
    def name(self) -> str: ...

    async def summarise(self, task: SummaryTask) -> Summary:
        """The summary of the parts in the light of the previous one. Raises RunError when there is none."""
        ...


class Version(Struct, frozen=True, kw_only=True):
    """One accepted summary. `number` from 1; `over`: the version it was made from, 0 for none.

    `covers`: the blocks it was made from, those of `over` not repeated. `turn`, `at` (seconds since the
    epoch): when. `by`: who made it. `ref`: its text in the archive.
    """

    number: int
    over: int
    summary: Summary
    text: str
    covers: tuple[str, ...]
    turn: int
    at: float
    by: str
    ref: str


def items(summary: Summary) -> list[str]:
    """Every line of a summary by itself."""
    found = [summary.goal] if summary.goal else []
    for name, _ in LISTS:
        found.extend(getattr(summary, name))
    found.extend(summary.past)
    if summary.narrative:
        found.append(summary.narrative)
    return found


def render(summary: Summary) -> str:
    """The summary in lines, empty fields left out, far past first and the latest stretch last."""
    lines = [f"Goal: {summary.goal}"] if summary.goal else []
    if summary.past:
        lines += ["Long ago:", *(f"- {line}" for line in summary.past)]
    for name, title in LISTS:
        value: tuple[str, ...] = getattr(summary, name)
        if value and name in ("entities", "numbers"):
            lines.append(f"{title}: {'; '.join(value)}")
        elif value:
            lines += [f"{title}:", *(f"- {line}" for line in value)]
    if summary.narrative:
        lines.append(f"Last: {summary.narrative}")
    return "\n".join(lines)


def render_task(task: SummaryTask) -> str:
    """The parts as a summariser's input: one labelled stretch each, under the summary so far."""
    shown = []
    if task.previous is not None:
        shown.append(fence("summary so far", render(task.previous)))
    shown += [fence(f"{part.id} | {part.speaker} | turn {part.turn}", part.text) for part in task.parts]
    return "\n\n".join(shown)
