"""What came of scenarios, for people and for programs: a row each, under one policy or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, structs

from orchestra.eval.measures import Figures, together
from orchestra.eval.run import Played

HEAD = ("scenario", "", "recall", "wrong", "peak", "used", "prefix", "tokens", "turns", "compactions")


class Compared(Struct, frozen=True):
    """One policy's scenarios, and those of the policy that it is held against (in the same order), if any."""

    mine: tuple[Played, ...]
    other: tuple[Played, ...] = ()


def rows(compared: Compared, name: Callable[[str], str] = str) -> list[tuple[str, ...]]:
    """A row for each scenario: its figures under the policy, in brackets how the other's differ from them.

    `name` makes a scenario's name fit. Then what all of them come to, under each policy.
    """
    others: Sequence[Played | None] = compared.other or [None] * len(compared.mine)
    found = []
    for mine, other in zip(compared.mine, others, strict=True):
        mark = _mark(mine, other)
        figures = other.figures if other is not None else None
        found.append((name(mine.scenario.name), mark, *_cells(mine.figures, figures)))
    return found


def totals(compared: Compared) -> list[tuple[str, ...]]:
    """What all come to under each policy, and with two the difference."""
    mine = together([each.figures for each in compared.mine])
    found = [(f"all under {compared.mine[0].policy}", _share(mine.success), *_cells(mine))]
    if compared.other:
        other = together([each.figures for each in compared.other])
        found.append((f"all under {compared.other[0].policy}", _share(other.success), *_cells(other)))
        found.append(
            ("difference", _signed(other.success - mine.success, share=True), *_differences(mine, other))
        )
    return found


def as_json(compared: Compared) -> dict[str, Any]:
    """One object: figures of each scenario by policy, problems, differences, and the same of all."""
    runs = [compared.mine, compared.other] if compared.other else [compared.mine]
    scenarios = []
    for place, mine in enumerate(compared.mine):
        scenario = mine.scenario
        under = {run[place].policy: _as_json(run[place]) for run in runs}
        about = {"name": scenario.name, "title": scenario.title, "language": scenario.language}
        told = {**about, "mechanisms": scenario.mechanisms, "file": scenario.file, "under": under}
        if compared.other:
            told["difference"] = _difference(mine.figures, compared.other[place].figures)
        scenarios.append(told)
    all_of = {run[0].policy: together([each.figures for each in run]) for run in runs}
    found: dict[str, Any] = {
        "policy": compared.mine[0].policy,
        "against": compared.other[0].policy if compared.other else None,
        "scenarios": scenarios,
        "all": {name: structs.asdict(figures) for name, figures in all_of.items()},
    }
    if compared.other:
        found["difference"] = _difference(*all_of.values())
    return found


def problems(played: Sequence[Played]) -> list[str]:
    """A line for each thing that did not hold, with the scenario's file and line."""
    lines = []
    for each in played:
        for problem in each.problems:
            place = f"{each.scenario.file}:{problem.line}" if problem.line else each.scenario.file
            lines.append(
                f"{place}: {each.scenario.name} under {each.policy}, turn {problem.turn}: {problem.what}"
            )
    return lines


def _as_json(played: Played) -> dict[str, Any]:
    found = [structs.asdict(problem) for problem in played.problems]
    return {**structs.asdict(played.figures), "problems": found}


def _mark(mine: Played, other: Played | None) -> str:
    told = "ok" if mine.passed else "fails"
    if other is None or other.passed == mine.passed:
        return told
    return f"{told} ({'ok' if other.passed else 'fails'})"


def _cells(mine: Figures, other: Figures | None = None) -> tuple[str, ...]:
    shares = ("recall", "peak", "used", "prefix")
    cells = []
    for name in ("recall", "wrong", "peak", "used", "prefix", "tokens", "turns", "compactions"):
        value = getattr(mine, name)
        cell = "-" if value is None else _share(value) if name in shares else f"{value:,}"
        if other is not None and value is not None:
            cell += f" ({_signed(getattr(other, name) - value, share=name in shares)})"
        cells.append(cell)
    return tuple(cells)


def _differences(mine: Figures, other: Figures) -> tuple[str, ...]:
    shares = ("recall", "peak", "used", "prefix")
    found = _difference(mine, other)
    names = ("recall", "wrong", "peak", "used", "prefix", "tokens", "turns", "compactions")
    values = ((found[name], name in shares) for name in names)
    return tuple("-" if value is None else _signed(value, share=share) for value, share in values)


def _difference(mine: Figures, other: Figures) -> dict[str, float | None]:
    """The other's figures less mine; None where one of them has none."""
    pairs = ((name, getattr(mine, name), getattr(other, name)) for name in Figures.__struct_fields__)
    return {name: None if one is None or two is None else two - one for name, one, two in pairs}


def _share(value: float) -> str:
    return f"{value:.0%}"


def _signed(value: float, *, share: bool = False) -> str:
    return f"{100 * value:+.0f}" if share else f"{value:+,.0f}" if value else "="
