"""What should not be there: unused results, repeats, facts of another entity, values that hold no longer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestra.context.doctor.entities import entities
from orchestra.context.doctor.finding import Finding
from orchestra.context.doctor.pieces import RECALLED
from orchestra.context.doctor.reading import Part, Reading, rough
from orchestra.context.doctor.references import References
from orchestra.context.pinned import stands_in
from orchestra.context.pins import Pins
from orchestra.context.policy import Levels
from orchestra.context.tokens import Counter
from orchestra.text.terms import query_terms, terms

STALE_INPUTS = 8
"""Inputs that came after a result before it counts as old."""
STALE_SHARE = 0.03
WEIGHTY_SHARE = 0.25
"""From here on a stale result is in the way even where there is room."""
LARGE_SHARE = 0.30
_SMALL = 150
"""Tokens of a result that is in nobody's way, whatever its share."""
_REPEAT = 20
"""Tokens from which a repeated result is worth a word; shares are of the whole prompt."""


def pollution(reading: Reading) -> Iterator[Finding]:
    repeats = list(_repeated(reading))
    yield from repeats
    named = {finding.block for finding in repeats}
    for finding in (*_other_entity(reading), *_unused(reading)):
        if finding.block not in named:
            named.add(finding.block)
            yield finding
    yield from _superseded(reading)


def _repeated(reading: Reading) -> Iterator[Finding]:
    seen: dict[str, Part] = {}
    for part in reading.parts:
        if not part.data or part.tokens < _REPEAT:
            continue
        body = " ".join(part.text.split("\n", 1)[-1].split())
        if rough(body) >= _REPEAT and body in seen:
            yield Finding(
                "pollution",
                part.block,
                f"The same data stands twice: {part.block} repeats {seen[body].block} "
                f"(about {part.tokens:,} tokens).",
                "Keep one of the two.",
            )
        seen.setdefault(body, part)


def _unused(reading: Reading) -> Iterator[Finding]:
    """Old results that nothing refers to, and large ones that no answer used."""
    references = References(reading)
    rounds = max((part.round for part in reading.parts), default=0)
    for part in reading.of("result"):
        if part.tokens < _SMALL:
            continue
        share = part.tokens / max(reading.tokens, 1)
        old = rounds - part.round >= STALE_INPUTS and share >= STALE_SHARE
        if old and not _room_to_spare(part, share, reading) and not references.since(part):
            yield Finding(
                "pollution",
                part.block,
                f"A stale result: answered {rounds - part.round} inputs ago, nothing since refers to it, "
                f"and it takes {share:.0%} of the prompt.",
                "Move it to the archive; its reference is enough.",
            )
        elif share >= LARGE_SHARE and references.passed_over(part):
            yield Finding(
                "pollution",
                part.block,
                f"A result that takes {share:.0%} of the prompt and that nothing refers to.",
                "Cut it to what is needed, with a mark, or move it to the archive.",
            )
        elif share >= LARGE_SHARE and references.left_behind(part) and _off_topic(part, reading):
            yield Finding(
                "pollution",
                part.block,
                f"A result that takes {share:.0%} of the prompt, has nothing to do with what was asked and "
                "is referred to by nothing.",
                "Take it out; its reference is enough.",
            )


def _room_to_spare(part: Part, share: float, reading: Reading) -> bool:
    """Whether its context keeps it because nothing has to leave yet, and it is no great part of it."""
    if part.entry is None or reading.manifest is None:
        return False
    return reading.manifest.occupancy < Levels().light and share < WEIGHTY_SHARE


def _off_topic(part: Part, reading: Reading) -> bool:
    """Whether neither its query nor its text has to do with anything the user said."""
    wanted = {term for said in reading.of("said") for term in query_terms(said.text)}
    query = part.call.arguments if part.call else ""
    return not wanted & set(terms(query)) and len(wanted & set(terms(part.text))) <= len(wanted) // 10


def _other_entity(reading: Reading) -> Iterator[Finding]:
    """Data about another order or case than the one asked about, which nobody asked for."""
    current = reading.input
    if current is None:
        return
    asked = entities(current.text)
    kinds = {kind for kind, _ in asked}
    if not asked:
        return
    spoken = {one for part in reading.of("said") for one in entities(part.text)}
    spoken |= {one for part in reading.of("reply") for one in entities(part.text)}
    at = reading.parts.index(current)
    for place, part in enumerate(reading.parts):
        if not (part.data or part.name == "state"):
            continue
        if part.text.startswith(("pinned facts |", *RECALLED, "summary v", "left out of this prompt |")):
            continue
        query = part.call.arguments if part.call else ""
        about = {one for one in entities(f"{_current_facts(part)}\n{query}") if one[0] in kinds}
        others = about - asked
        if not others or about & asked:
            continue
        if place < at and part.kind == "result" and others <= spoken:
            continue  # the talk was about it before
        kind, name = min(others)
        wanted = min(one for one in asked if one[0] == kind)[1]
        yield Finding(
            "pollution",
            part.block,
            f"It is about {kind} {name.upper()}, and the input asks about {kind} {wanted.upper()}.",
            f"Take it out, or fetch what belongs to {kind} {wanted.upper()}.",
        )


def _current_facts(part: Part) -> str:
    """Of the state only what it says of the current entity; it keeps those of others apart by itself."""
    if part.name != "state":
        return part.text
    lines = part.text.split("\n")
    return "\n".join(line for line in lines if re.match(r"Current entity:|Facts of [^:]+:$", line))


class _Rough(Counter):
    """Pins count what they hold; nobody reads these counts."""

    __slots__ = ()

    def count(self, text: str) -> int:
        return rough(text)


def _superseded(reading: Reading) -> Iterator[Finding]:
    """Values that the user corrected and that are still to be seen without a word on it."""
    said = reading.of("said")
    if len(said) < 2:
        return
    pins = Pins(_Rough("rough"))
    for part in said:
        pins.hear(part.text[:8_000], reading.parts.index(part), part.round)
    whole = "\n".join(part.text for part in reading.parts)
    for gone in pins.superseded:
        if any(f"{value} holds no longer" in whole for value in (gone.old, gone.new)):
            continue  # marked; who marked it heard more of the talk than this prompt shows
        for place, part in enumerate(reading.parts):
            if part.kind == "instructions" or part.text.startswith(RECALLED):
                continue  # what was recalled stands in the order of time
            if place < gone.by and stands_in(gone.old, part.text):
                yield Finding(
                    "pollution",
                    part.block,
                    f"The value {gone.old} ({gone.key}) holds no longer, it is {gone.new}, "
                    "and nothing marks it.",
                    f"Mark it as superseded: “{gone.line}”.",
                )
                break
