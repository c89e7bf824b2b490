"""A brief as the writer reads it: head lines, then the claims as JSON lines in a fence."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from orchestra.context.fence import ticks_for
from orchestra.evidence.fitting import Count
from orchestra.text.fold import one_line
from orchestra.values.handoffs import Brief
from orchestra.values.sources import Claim

_encode = msgspec.json.Encoder().encode_lines


class _LineQuote(Struct, frozen=True, gc=False):
    """A quote as the writer sees it."""

    document: str
    title: str
    text: str


class _Line(Struct, frozen=True, gc=False):
    """A claim as the writer sees it, `question` the number of its sub-question."""

    id: str
    question: int
    claim: str
    quotes: list[_LineQuote]


def render_brief(brief: Brief) -> str:
    """The writer's input."""
    return "".join(parts_of(brief))


def parts_of(brief: Brief) -> tuple[str, str, str]:
    """What stands above the claims, their lines, and what closes their fence.

    A brief has its sub-questions and gaps on one line each.
    """
    questions = brief.questions
    lines = [f"Question: {one_line(brief.question)}", f"Title: {one_line(brief.title)}", "Sub-questions:"]
    lines += [f"{number}. {text}" for number, text in enumerate(questions, 1)]
    if brief.conflicts:
        lines.append("Conflicts:")
        lines += [
            f"- {' / '.join(conflict.claims)}: {one_line(conflict.about)}" for conflict in brief.conflicts
        ]
    if brief.gaps:
        lines.append("Gaps:")
        lines += [f"- {gap}" for gap in brief.gaps]
    number_of = dict(zip(reversed(questions), range(len(questions), 0, -1), strict=True))  # the first of two
    claims = claim_lines([(claim.id, number_of.get(claim.question, 1), claim) for claim in brief.claims])
    ticks = ticks_for(claims)
    return "\n".join(lines) + f"\n\nClaims\n{ticks}\n", claims or "\n", ticks


def claim_lines(items: Iterable[tuple[str, int, Claim]]) -> str:
    """Claims, with ids and the numbers of their questions, as JSON lines; a line end in a text is escaped."""
    lines = []
    for name, number, claim in items:
        quotes = []
        for quote in claim.quotes:  # hardly more than one
            quotes.append(_LineQuote(quote.locator, quote.title, quote.text))
        lines.append(_Line(name, number, claim.text, quotes))
    return _encode(lines).decode()


def line_costs(lines: str, count: Count) -> list[int]:
    """Tokens of each line with its end."""
    return [count(f"{line}\n") for line in lines.split("\n")[:-1]]
