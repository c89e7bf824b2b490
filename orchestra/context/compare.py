"""Whether two facts say the same."""

from __future__ import annotations

import re

from orchestra.context.dates import same_date
from orchestra.context.units import alike, in_base
from orchestra.values.facts import Fact

_GROUP = re.compile(r"[^\W\d_]+|\d+")


def same_fact(one: Fact, other: Fact) -> bool:
    """Whether both say the same: figures by value and unit (an unnamed unit fits any), dates by the parts
    that both name, ids and names by their letters.
    """
    if is_figure(one) and is_figure(other):
        return _same_figure(one, other)
    if "date" in (one.kind, other.kind):
        if one.kind == other.kind:
            return same_date(one.value, other.value) or _same_open_date(one, other)
        year, figure = (one, other) if one.kind == "date" else (other, one)
        return figure.kind in ("number", "id") and year.value == figure.value
    if one.kind == other.kind == "time":
        return one.value == other.value or _same_open_time(one, other)
    if {one.kind, other.kind} == {"number", "id"}:
        return one.text.lower().lstrip("v") == other.text.lower().lstrip("v")
    return one.kind == other.kind and (one.value == other.value or letters(one.value) == letters(other.value))


def is_figure(fact: Fact) -> bool:
    """Whether it is a number, with a unit or without."""
    return fact.kind in ("number", "percent", "money")


def _same_figure(one: Fact, other: Fact) -> bool:
    if "score" in (one.unit, other.unit):
        return one.value == other.value
    mine, theirs = float(one.value), float(other.value)
    if one.unit == other.unit or not one.unit or not other.unit or alike(one.unit, other.unit):
        return (_close(mine, theirs) and not _differ_as_versions(one, other)) or _same_sizes(one, other)
    if "ordinal" in (one.unit, other.unit) or "times" in (one.unit, other.unit):
        return _close(mine, theirs) and {one.unit, other.unit} != {"ordinal", "times"}
    (dimension, mine), (their_dimension, theirs) = in_base(mine, one.unit), in_base(theirs, other.unit)
    return dimension == their_dimension and _close(mine, theirs)


def _differ_as_versions(one: Fact, other: Fact) -> bool:
    """1.1 and 1.10 without a unit: the same number but not the same version."""
    if one.unit or other.unit or not ("." in one.text and "." in other.text):
        return False
    return one.text != other.text and one.text.rstrip("0") == other.text.rstrip("0")


def _same_sizes(one: Fact, other: Fact) -> bool:
    """A share as a fraction and as a percentage; a small m that is a million after all."""
    for first, second in ((one, other), (other, one)):
        if first.unit == "%" and not second.unit and _close(float(first.value), float(second.value) * 100):
            return 0 < float(second.value) < 1
        if first.unit == "m" and not second.unit and _close(float(first.value) * 1e6, float(second.value)):
            return True
    return False


def _close(one: float, other: float) -> bool:
    """Equal; a sign is forgiven, since "fell by 5 %" and "-5 %" say the same."""
    return abs(abs(one) - abs(other)) <= 1e-9 * max(abs(one), abs(other), 1e-9)


def _same_open_date(one: Fact, other: Fact) -> bool:
    """3/5/2024, where nothing says which is the month."""
    for first, second in ((one, other), (other, one)):
        if first.unit == "m/d":
            year, month, day = first.value.split("-")
            if same_date(f"{year}-{day}-{month}", second.value):
                return True
    return False


def _same_open_time(one: Fact, other: Fact) -> bool:
    if "12" not in (one.unit, other.unit):
        return False
    (hour, minute), (their_hour, their_minute) = one.value.split(":"), other.value.split(":")
    return minute == their_minute and (int(hour) - int(their_hour)) % 12 == 0


def letters(value: str) -> str:
    """A value without what stands between its letters and digits."""
    return "".join(_GROUP.findall(value.lower()))
