"""What one agent hands another: a typed value in an envelope with a cap."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from orchestra.values.sources import Claim, Conflict

Status = Literal["done", "partial", "failed"]
T = TypeVar("T")


class HandOff(Struct, Generic[T], frozen=True, kw_only=True):
    """`value` is what fits `cap` tokens, best first; `left_out` counts what was cut.

    `references`: `SESSION/AGENT`, whose last reply in the journal is the whole of what was cut.
    `value` is None only with status "failed"; `reason` says why a status is not "done". `lines`: the items
    of `value` as the receiver hands them on, `cost` their tokens, 0 where these do not add up.
    """

    sender: str
    receiver: str
    value: T | None
    status: Status = "done"
    reason: str = ""
    tokens: int = 0
    cap: int = 0
    left_out: int = 0
    references: tuple[str, ...] = ()
    lines: str = ""
    cost: int = 0


class Outcome(Struct, frozen=True, kw_only=True, gc=False):
    """What came of an agent's work: a validated `value`, or `text` where the role names no output.

    `short`: whose budget (runtime, session, the role's name) it had to finish early for, "" for none.
    `written`: the JSON that the value was read from, "" where that is not known letter by letter.
    """

    agent: str
    value: Any = None
    text: str = ""
    written: str = ""
    status: Status = "done"
    reason: str = ""
    short: str = ""


class Study(Struct, frozen=True, gc=False):
    """A researcher's findings after their quotes were checked."""

    question: str
    claims: tuple[Claim, ...]
    gaps: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


class Brief(Struct, frozen=True, gc=False):
    """All that the writer sees of the research: claims without duplicates, conflicts, gaps."""

    question: str
    title: str
    questions: tuple[str, ...]
    claims: tuple[Claim, ...]
    conflicts: tuple[Conflict, ...] = ()
    gaps: tuple[str, ...] = ()
