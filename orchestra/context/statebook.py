"""The task state over time: who changed which field when, and which proposals were refused and why."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from orchestra.context.facts import find_facts, same_fact
from orchestra.context.pins import Pins
from orchestra.context.polarity import flips
from orchestra.context.state import EMPTY, Field, Patch, TaskState, key_of_line, merge

By = Literal["rule", "model", "user", "code"]


class Change(Struct, frozen=True):
    """One field before and after a patch, in a turn. `refused`: why nothing changed, "" when it did."""

    field: Field
    before: str | tuple[str, ...]
    after: str | tuple[str, ...]
    turn: int
    by: By
    refused: str = ""


class StateBook:
    """The state as it stands in `now`; only `propose` changes it."""

    __slots__ = ("_changes", "_checked", "now")

    def __init__(self, *, checked: bool = True) -> None:
        self._checked = checked
        self.now: TaskState = EMPTY
        self._changes: list[Change] = []

    def propose(self, patches: tuple[Patch, ...], pins: Pins, turn: int, by: By) -> tuple[Change, ...]:
        """Merge each patch by itself; one that contradicts a pinned fact changes nothing and says why."""
        made = tuple(self._propose(patch, pins, turn, by) for patch in patches)
        self._changes += made
        return made

    def history(self, field: Field) -> tuple[Change, ...]:
        """Every change of one field, refused ones too, oldest first."""
        return tuple(change for change in self._changes if change.field == field)

    def _propose(self, patch: Patch, pins: Pins, turn: int, by: By) -> Change:
        before = getattr(self.now, patch.field)
        trusted = by == "user" or (by == "rule" and patch.field == "entity")  # read off the user's own words
        refused = "" if trusted or not self._checked else objection(patch, self.now, pins)
        if not refused:
            self.now = merge(self.now, patch)
        return Change(patch.field, before, getattr(self.now, patch.field), turn, by, refused)


def objection(patch: Patch, state: TaskState, pins: Pins) -> str:
    """Why a patch contradicts what is pinned, "" if it does not."""
    if not len(pins):
        return ""
    if patch.field == "constraints" and (patch.how == "remove" or (patch.how == "set" and state.constraints)):
        leaving = [line for line in state.constraints if line != patch.value]
        if patch.how == "remove":
            leaving = [line for line in state.constraints if patch.value in (line, key_of_line(line))]
        for pin in pins.constraints():
            if any(line in pin.value or pin.value in line for line in leaving):
                return f"the user set this constraint in turn {pin.turn}: {pin.value}"
    if patch.how == "remove":
        return ""
    return _wrong_value(patch.value, pins) or _flipped(patch.value, pins)


def _wrong_value(line: str, pins: Pins) -> str:
    facts = [fact for fact in find_facts(line) if fact.kind not in ("negation", "constraint")]
    for gone in pins.superseded:
        of_it = key_of_line(line) in ("", gone.key) and gone.new not in line
        if of_it and any(same_fact(fact, old) for fact in facts for old in gone.facts):
            return f"{gone.old} was replaced by {gone.new} in turn {gone.turn}"
    key = key_of_line(line)
    pin = pins.holds(key) if key else None
    if pin is None or pin.fact is None:
        return ""
    rivals = [fact for fact in facts if fact.kind == pin.fact.kind]
    if rivals and not any(same_fact(fact, pin.fact) for fact in rivals):
        return f"the user said {pin.key}={pin.value} in turn {pin.turn}"
    return ""


def _flipped(line: str, pins: Pins) -> str:
    for pin in pins.constraints():
        if flips(line, (pin.value,)):
            return f"it turns round what the user said in turn {pin.turn}: {pin.value}"
    return ""
