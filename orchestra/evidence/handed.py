"""A brief as the writer reads it: head lines, then the claims as JSON lines in a fence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count, repeat
from operator import add

import msgspec
from msgspec import Struct

from orchestra.context.fence import ticks_for
from orchestra.evidence.fitting import Count
from orchestra.text.fold import one_line
from orchestra.values.handoffs import Brief
from orchestra.values.sources import Claim

# How a line of a study begins, and of a brief.
_UNNUMBERED, _NUMBERED = '{"id":"c00","question":1', '{{"id":"c{}","question":{}'
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


def parts_of(brief: Brief, lines: str = "") -> tuple[str, str, str]:
    """What stands above the claims, their lines, and what closes their fence.

    Sub-questions and gaps are on one line each. `lines`: those of its claims, where there are some already.
    """
    questions = brief.questions
    above = [f"Question: {one_line(brief.question)}", f"Title: {one_line(brief.title)}", "Sub-questions:"]
    above += [f"{number}. {text}" for number, text in enumerate(questions, 1)]
    if brief.conflicts:
        above.append("Conflicts:")
        above += [
            f"- {' / '.join(conflict.claims)}: {one_line(conflict.about)}" for conflict in brief.conflicts
        ]
    if brief.gaps:
        above.append("Gaps:")
        above += [f"- {gap}" for gap in brief.gaps]
    if not lines:
        number_of = _numbers(questions)
        lines = claim_lines([(each.id, number_of.get(each.question, 1), each) for each in brief.claims])
    ticks = ticks_for(lines)
    return "\n".join(above) + f"\n\nClaims\n{ticks}\n", lines or "\n", ticks


def _numbers(questions: Sequence[str]) -> dict[str, int]:
    """The number of each; of two that read the same, the first's."""
    return dict(zip(reversed(questions), range(len(questions), 0, -1), strict=True))


def study_lines(claims: Sequence[Claim]) -> str:
    """Claims as JSON lines that have no ids yet."""
    return claim_lines([("c00", 1, claim) for claim in claims])


def joined_lines(studies: Sequence[str], questions: Sequence[str]) -> str:
    """The lines of studies, one for each question, as those of one brief."""
    number_of = _numbers(questions)
    lines: list[str] = []
    for question, study in zip(questions, studies, strict=False):
        heads = map(_NUMBERED.format, count(len(lines) + 1), repeat(number_of[question]))
        lines += map(add, heads, study.split(_UNNUMBERED)[1:])  # which stands in no text: quotes are escaped
    return "".join(lines)


def claim_lines(items: Iterable[tuple[str, int, Claim]]) -> str:
    """Claims, with ids and the numbers of their questions, as JSON lines; a line end in a text is escaped."""
    lines = []
    for name, number, claim in items:
        quotes = []
        for quote in claim.quotes:  # hardly more than one
            quotes.append(_LineQuote(quote.locator, quote.title, quote.text))
        lines.append(_Line(name, number, claim.text, quotes))
    return _encode(lines).decode()


def line_costs(lines: str, tokens: Count) -> list[int]:
    """Tokens of each line with its end."""
    return [tokens(f"{line}\n") for line in lines.split("\n")[:-1]]
