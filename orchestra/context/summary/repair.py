"""What a summary must not lack, and its repair: the missing word for word, within the room there is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, structs

from orchestra.context.facts import Evidence, is_hard
from orchestra.context.keys import json_facts, keyed_facts
from orchestra.context.pinned import Superseded, stands_in
from orchestra.context.sayings import sayings
from orchestra.context.summary.schema import Summary, SummaryTask, items, render
from orchestra.context.tokens import Counter
from orchestra.values.facts import Fact

_TURNS = re.compile(r"(?i)\(?\b(?:up to )?turns? \d+(?: to \d+)?(?:, v\d+)?\)?:?")
_LONGEST_PART = 20_000
"""Characters of one part that are read; a longer one is a result, found by its reference."""


class Need(Struct, frozen=True):
    """One fact of what is covered. `rank`: lower ones are added first. `line`: how it is added."""

    line: str
    text: str
    fact: Fact | None
    rank: int


def needs(task: SummaryTask, superseded: Sequence[Superseded]) -> list[Need]:
    """Every fact of the parts and of the summary so far, except values that hold no longer."""
    found: list[Need] = []
    if task.previous is not None:
        for line in items(task.previous):
            found += _facts(without_turns(line), 0)
    for part in task.parts:
        rank = {"user": 1, "assistant": 2}.get(part.speaker, 3)
        text = part.text[:_LONGEST_PART]
        columns = json_facts(text) if rank == 3 else []
        if columns:
            found += [Need(f"{key}={value}", value, None, rank) for key, value, _ in columns]
        else:
            found += _facts(text, rank)
            found += _denials(text, rank)
    old = [gone.old for gone in superseded]
    kept = [need for need in found if need.text not in old]
    return list({(need.text, need.rank > 2): need for need in reversed(kept)}.values())[::-1]


def repaired(
    summary: Summary, wanted: Sequence[Need], held: Sequence[str], most: int, counter: Counter
) -> tuple[Summary, list[Need], list[Need]]:
    """The summary in at most about `most` tokens with the facts it lacked, which were added, which left out.

    Older lines give way before facts do: the story first, then the far past.
    """
    missing = _missing(summary, wanted, held)
    sizes = [counter.count(need.line) + 2 for need in missing]
    shorter = _shortened(summary, most - min(sum(sizes), most // 2), counter)
    if shorter is not summary:  # what gave way may have said something that is wanted
        summary, missing = shorter, _missing(shorter, wanted, held)
        sizes = [counter.count(need.line) + 2 for need in missing]
    room = most - counter.count(render(summary)) - 8
    added: list[Need] = []
    left: list[Need] = []
    for need, size in zip(missing, sizes, strict=True):
        if size <= room:
            room -= size
            added.append(need)
        else:
            left.append(need)
    lines = tuple(dict.fromkeys((*summary.added, *(need.line for need in added))))
    return structs.replace(summary, added=lines), added, left


def _missing(summary: Summary, wanted: Sequence[Need], held: Sequence[str]) -> list[Need]:
    """What neither the summary nor what is held says, the most needed first."""
    text = "\n".join((render(summary), *held))
    evidence = Evidence([text])
    return sorted((need for need in wanted if not _has(evidence, text, need)), key=lambda need: need.rank)


def without_turns(line: str) -> str:
    """A line without the numbers of turns and versions, which are code's and no facts."""
    return _TURNS.sub(" ", line)


def _shortened(summary: Summary, most: int, counter: Counter) -> Summary:
    """At most `most` tokens: the story and the far past go first, then the oldest lines of the rest."""
    if counter.count(render(summary)) <= most:
        return summary
    bare = structs.replace(summary, narrative="")
    room = most - counter.count(render(bare)) - 4
    if room > 20:
        return structs.replace(summary, narrative=_sentences_in(summary.narrative, room, counter))
    summary = bare
    for kept in (2, 1, 0):
        summary = structs.replace(bare, past=bare.past[len(bare.past) - min(kept, len(bare.past)) :])
        if counter.count(render(summary)) <= most:
            return summary
    for name in ("done", "entities", "open", "added", "numbers", "decisions", "constraints", "exclusions"):
        while getattr(summary, name) and counter.count(render(summary)) > most:
            value: tuple[str, ...] = getattr(summary, name)
            summary = structs.replace(summary, **{name: value[max(1, len(value) // 4) :]})
    return summary


def _sentences_in(text: str, tokens: int, counter: Counter) -> str:
    """The first sentences that fit; never half of one, which could say the opposite."""
    kept = ""
    for saying in sayings(text):
        longer = f"{kept} {saying.text}".strip()
        if counter.count(longer) > tokens:
            break
        kept = longer
    return kept


def _facts(text: str, rank: int) -> list[Need]:
    return [
        Need(f"{keyed.key}={keyed.value}", fact.text, fact, rank)
        for keyed, fact in keyed_facts(text)
        if is_hard(fact) or fact.kind == "name"
    ]


def _denials(text: str, rank: int) -> list[Need]:
    """Sentences that exclude or demand something, whole."""
    if rank > 2:
        return []
    binding = (saying for saying in sayings(text) if saying.binds and not saying.loose)
    return [Need(saying.text, saying.text, None, rank) for saying in binding]


def _has(evidence: Evidence, text: str, need: Need) -> bool:
    if need.fact is None:
        return need.text in text if len(need.text) > 40 else stands_in(need.text, text)
    return stands_in(need.text, text) or (need.fact.kind != "name" and evidence.has(need.fact))
