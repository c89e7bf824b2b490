"""From studies to the one brief that a writer sees: without duplicates, within its cap, nobody silenced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from operator import attrgetter

from orchestra.context.facts import Find, figures_and_names
from orchestra.context.tokens import most_tokens
from orchestra.evidence.fitting import HEAD_SHARE, Count, ranked, within_cap
from orchestra.evidence.handed import (
    claim_lines,
    joined_lines,
    line_costs,
    parts_of,
    render_brief,
    study_lines,
)
from orchestra.evidence.language import words_for
from orchestra.evidence.likeness import Reading, find_conflicts, is_duplicate
from orchestra.evidence.screening import Statements
from orchestra.text.fold import one_line
from orchestra.values.drafts import Plan
from orchestra.values.handoffs import Brief, HandOff, Status, Study
from orchestra.values.sources import Claim, Conflict

_SLACK = 8  # tokens that joining lines may add
_ALIKE = 999  # the last number with three digits
_quotes_of, _locator_of = attrgetter("quotes"), attrgetter("locator")


def cap_study(
    study: Study, *, sender: str, cap: int, count: Count, reason: str = "", adds_up: bool = False
) -> HandOff[Study]:
    """`study` within `cap` tokens as its claims stand in a brief, in an envelope for the brief.

    What goes first is what a document that is already there says. `reason`: why the researcher ended early.
    `adds_up`: whether the tokens of lines add up, so that the brief need not count its claims again.
    """
    claims = study.claims
    gaps = count("\n".join(study.gaps))
    lines = study_lines(claims)
    cost = count(lines) if adds_up else sum(line_costs(lines, count))
    if cost > cap - gaps:
        costs = line_costs(lines, count)
        taken = sorted(ranked([(0, claim) for claim in claims], costs, cap - gaps))
        claims = tuple([study.claims[at] for at in taken])
        lines = study_lines(claims)
        cost = sum([costs[at] for at in taken])
    status: Status = "partial" if reason else "done"
    return HandOff(
        sender=sender,
        receiver="brief",
        value=Study(study.question, claims, study.gaps, study.dropped),
        status=status,
        reason=reason,
        tokens=cost + gaps,
        cap=cap,
        left_out=len(study.claims) - len(claims),
        references=_references(claims),
        lines=lines,
        cost=cost if adds_up else 0,
    )


def failed_study(*, sender: str, reason: str) -> HandOff[Study]:
    """The envelope of a researcher that ended without findings."""
    return HandOff(sender=sender, receiver="brief", value=None, status="failed", reason=reason)


def make_brief(
    question: str,
    plan: Plan,
    studies: Sequence[HandOff[Study]],
    *,
    cap: int,
    count: Count,
    find: Find = figures_and_names,
) -> tuple[HandOff[Brief], str]:
    """One brief of all `studies`, which stand in the order of `plan.questions`, one each; and its rendering.

    Claims that say the same become one with the quotes of all; claims of different documents that give
    different values for the same thing become conflicts; a failed researcher becomes a gap. The brief as
    rendered (see `render_brief`) keeps within `cap` tokens: claims are taken in turn from each sub-question
    and, within it, from the document with the fewest so far, those in a conflict first. `left_out` counts
    the claims that did not fit. Same input, same brief. `find` reads a claim's facts (a session's ledger
    remembers what it read).
    """
    questions = tuple(map(one_line, plan.questions))
    readings, places, statements = _merged(studies, find)
    conflicts = _affordable(find_conflicts(readings, statements), int(cap * HEAD_SHARE), count)
    gaps = _gaps(question, questions, studies)
    brief = within_cap(Brief(question, plan.title, questions, (), (), gaps), cap, count)
    full = _numbered(brief, readings, places, range(len(readings)), conflicts)
    known, cost = _as_counted(studies, full.questions, len(readings))
    head, lines, end = parts_of(full, known)
    text = f"{head}{lines}{end}"
    if most_tokens(text) + _SLACK * (1 + len(readings) + 3 * len(conflicts)) <= cap:
        # There is room for every line, whatever it may count.
        tokens = count(f"{head}{end}") + cost if cost else count(text)
    else:
        full, text, tokens = _cut_down(brief, readings, places, conflicts, cap=cap, count=count)
    failed = [study for study in studies if study.value is None]
    status: Status = "done" if not failed else "partial" if len(failed) < len(studies) else "failed"
    handoff = HandOff(
        sender="brief",
        receiver="writer",
        value=full,
        status=status,
        reason="; ".join(dict.fromkeys(study.reason for study in failed)),
        tokens=tokens,
        cap=cap,
        left_out=len(readings) - len(full.claims),
        references=_references(full.claims),
    )
    return handoff, text


def _cut_down(
    brief: Brief,
    readings: Sequence[Reading],
    places: Sequence[int],
    conflicts: Sequence[tuple[int, int, str]],
    *,
    cap: int,
    count: Count,
) -> tuple[Brief, str, int]:
    """The brief with as many claims as its cap holds, as rendered, and its tokens."""
    kept = _affordable_claims(brief, readings, places, conflicts, cap=cap, count=count)
    while True:
        full = _numbered(brief, readings, places, sorted(kept), conflicts)
        text = render_brief(full)
        tokens = count(text)
        if tokens <= cap or not kept:
            return full, text, tokens
        kept.pop()  # the sum of parts is near the whole, not equal to it


def _as_counted(studies: Sequence[HandOff[Study]], questions: Sequence[str], kept: int) -> tuple[str, int]:
    """The claims' lines as they came and their tokens, if all are `kept` as they were; "", 0 for not known.

    Where lines add up, no token reaches over two of them, and a number of up to three digits, such as is in
    an id, takes one by itself, whichever it is.
    """
    claims = 0
    costs = []
    for study in studies:
        if study.value and study.value.claims:
            if not study.lines:
                return "", 0
            claims += len(study.value.claims)
            costs.append(study.cost)
    if claims != kept or len(studies) > len(questions):
        return "", 0
    cost = sum(costs) if all(costs) and max(claims, len(studies)) <= _ALIKE else 0
    return joined_lines([study.lines for study in studies], questions), cost


def _merged(studies: Sequence[HandOff[Study]], find: Find) -> tuple[list[Reading], list[int], Statements]:
    """All claims, duplicates merged into the first, and the place of each in the plan."""
    kept: list[Reading] = []
    places: list[int] = []
    statements = Statements()
    for place, study in enumerate(studies):
        for claim in study.value.claims if study.value else ():
            reading = Reading(claim, find)
            for twin in statements.twins(reading.words, len(reading.terms), claim.quotes):
                if is_duplicate(kept[twin], reading):
                    kept[twin].join(claim.quotes)
                    statements.quote(twin, claim.quotes)
                    break
            else:
                statements.add(reading.words, reading.clauses, claim.quotes)
                kept.append(reading)
                places.append(place)
    return kept, places, statements


def _gaps(question: str, questions: Sequence[str], studies: Sequence[HandOff[Study]]) -> tuple[str, ...]:
    say = words_for(question)
    gaps: list[str] = []
    for text, study in zip_longest(questions, studies):
        if study is None:
            gaps.append(say.not_studied(text))
        elif study.value is None:
            gaps.append(say.failed(text or "", study.reason))
        else:
            gaps += study.value.gaps
            if not study.value.claims and not study.value.gaps:
                gaps.append(say.nothing_found(text or study.value.question))
    known: dict[str, str] = {}
    for gap in map(one_line, gaps):
        known.setdefault(gap.casefold().rstrip(".。"), gap)
    return tuple(known.values())


def _affordable(found: Iterable[tuple[int, int, str]], room: int, count: Count) -> list[tuple[int, int, str]]:
    """The first conflicts whose lines fit `room`."""
    kept = []
    for conflict in found:
        room -= _conflict_cost(conflict[2], count)
        if room < 0:
            break
        kept.append(conflict)
    return kept


def _affordable_claims(
    brief: Brief,
    readings: Sequence[Reading],
    places: Sequence[int],
    conflicts: Sequence[tuple[int, int, str]],
    *,
    cap: int,
    count: Count,
) -> list[int]:
    """Those that fit beside the head of the brief, in the order in which they were taken."""
    disputed = {at for first, second, _ in conflicts for at in (first, second)}
    order = sorted(range(len(readings)), key=lambda at: (places[at], at not in disputed, at))
    items = [(places[at], readings[at].claim) for at in order]
    costs = line_costs(claim_lines([("c00", place + 1, claim) for place, claim in items]), count)
    disputes = sum(_conflict_cost(about, count) for _, _, about in conflicts)
    room = cap - count(render_brief(brief)) - _SLACK - disputes
    return [order[at] for at in ranked(items, costs, room)]


def _conflict_cost(about: str, count: Count) -> int:
    return count(about) + 16  # the ids, at their longest, and the bullet


def _numbered(
    brief: Brief,
    readings: Sequence[Reading],
    places: Sequence[int],
    kept: Sequence[int],
    conflicts: Sequence[tuple[int, int, str]],
) -> Brief:
    asked = brief.questions
    claims = []
    for number, at in enumerate(kept, 1):
        claim, place = readings[at].claim, places[at]
        question = asked[place] if place < len(asked) else claim.question
        claims.append(Claim(f"c{number}", claim.text, claim.quotes, question))
    named = []
    if conflicts:
        ids = {at: claim.id for at, claim in zip(kept, claims, strict=True)}
        for first, second, about in conflicts:
            if first in ids and second in ids:
                named.append(Conflict((ids[first], ids[second]), about))
    return Brief(brief.question, brief.title, asked, tuple(claims), tuple(named), brief.gaps)


def _references(claims: Iterable[Claim]) -> tuple[str, ...]:
    quotes = chain.from_iterable(map(_quotes_of, claims))
    return tuple(dict.fromkeys(map(_locator_of, quotes)))
