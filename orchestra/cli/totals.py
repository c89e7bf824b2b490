"""The table at the end of a run: what each tier did and cost."""

from __future__ import annotations

from orchestra.values.report import Report
from orchestra.values.usage import NO_USAGE, Usage


def totals(report: Report) -> str:
    """A table in plain text: tier, calls, tokens in and out, cost."""
    rows: list[tuple[str, ...]] = [("tier", "calls", "tokens in", "cached", "tokens out", "cost")]
    whole = NO_USAGE
    for tier, usage in sorted(report.usage.items()):
        rows.append(row(tier, usage))
        whole = whole + usage
    if len(report.usage) != 1:
        rows.append(row("all", whole))
    widths = [max(len(line[column]) for line in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in rows
    ]
    return "\n".join(
        [*lines, f"{report.words} words, {report.supported_share:.0%} supported, {report.seconds:.1f} s"]
    )


def row(name: str, usage: Usage) -> tuple[str, ...]:
    cost = "unknown" if usage.cost is None else f"${usage.cost:.4f}"
    numbers = (usage.calls, usage.input_tokens, usage.cached_tokens, usage.output_tokens)
    return (name, *(f"{number:,}" for number in numbers), cost)
