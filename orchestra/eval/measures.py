"""What a scenario's prompts come to, in figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from orchestra.context.doctor.reading import rough
from orchestra.context.facts import figures_and_names
from orchestra.eval.prompts import Seen, count
from orchestra.eval.scenario import KeyFact, Scenario
from orchestra.eval.stage import Exchange, Stage
from orchestra.text.terms import terms

_LINE = re.compile(r"(?:[^.!?\n。！？]|[.!?](?=\S))+[.!?。！？]?")
_USED_TERMS = 0.5
_FEWEST_TERMS = 3
_READ_CHARACTERS = 40_000
HELD_NO_LONGER = "holds no longer"


class Figures(Struct, frozen=True, kw_only=True):
    """Of one scenario under one policy, or the mean or sum of many.

    `recall`: share of the key facts that stood in the prompt where they were needed, None where none was.
    `wrong`: wrong or outdated values in prompts, each prompt counted. `peak`: the highest occupancy.
    `used`: share of the prompts' tokens, instructions left out, that the replies took up. `prefix`: share
    of a prompt that the next one began with. `tokens`: sent, summaries included. `turns`: model calls.
    """

    success: float
    recall: float | None
    wrong: int
    peak: float
    used: float
    prefix: float
    tokens: int
    turns: int
    compactions: int


def figures_of(stage: Stage, *, success: bool) -> Figures:
    """The figures of a scenario that was played."""
    prompts = [exchange.prompt for exchange in stage.exchanges]
    needed, there = _needed(stage.scenario, prompts)
    return Figures(
        success=float(success),
        recall=there / needed if needed else None,
        wrong=sum(len(wrong_values(stage.scenario, prompt)) for prompt in prompts),
        peak=max((prompt.occupancy for prompt in prompts), default=0.0),
        used=_mean(used_share(exchange) for exchange in stage.exchanges if not exchange.reply.calls),
        prefix=prefix_kept(prompts),
        tokens=sum(prompt.tokens for prompt in prompts) + stage.summary_tokens,
        turns=len(prompts),
        compactions=stage.compactions,
    )


def together(figures: Sequence[Figures]) -> Figures:
    """Means of shares, the highest peak, sums of counts."""
    known = [each.recall for each in figures if each.recall is not None]
    return Figures(
        success=_mean(each.success for each in figures),
        recall=_mean(known) if known else None,
        wrong=sum(each.wrong for each in figures),
        peak=max((each.peak for each in figures), default=0.0),
        used=_mean(each.used for each in figures),
        prefix=_mean(each.prefix for each in figures),
        tokens=sum(each.tokens for each in figures),
        turns=sum(each.turns for each in figures),
        compactions=sum(each.compactions for each in figures),
    )


def last_of_turns(prompts: Iterable[Seen]) -> dict[int, Seen]:
    """The last prompt of each turn, by the turn's number."""
    return {prompt.turn: prompt for prompt in prompts}


def shows_fact(fact: KeyFact, text: str) -> bool:
    return any(count(spelling, text) for spelling in fact.spellings)


def wrong_values(scenario: Scenario, prompt: Seen) -> list[str]:
    """What a prompt shows that nobody said, and what holds no longer and is not marked so."""
    found = []
    for fact in scenario.facts:
        found += [value for value in fact.wrong if count(value, prompt.text)]
        if fact.old and corrected_in(scenario, fact) < prompt.turn:
            found += [value for value in fact.old if _unmarked(value, fact, prompt)]
    return found


def corrected_in(scenario: Scenario, fact: KeyFact) -> int:
    """The number of the turn in which the value that holds was first said."""
    for number, turn in enumerate(scenario.turns, start=1):
        brought = (call.result.text for step in turn.steps for call in step if call.result is not None)
        if any(shows_fact(fact, text) for text in (turn.user, *brought)):
            return number
    return len(scenario.turns)


def _unmarked(value: str, fact: KeyFact, prompt: Seen) -> bool:
    """Whether a part of the prompt has the old value, not the new one beside it, and nothing marks it."""
    if not count(value, prompt.text) or f"{value} {HELD_NO_LONGER}" in prompt.text:
        return False
    return any(count(value, text) and not shows_fact(fact, text) for _, text in prompt.texts)


def _needed(scenario: Scenario, prompts: list[Seen]) -> tuple[int, int]:
    needed = there = 0
    last = last_of_turns(prompts)
    for number, turn in enumerate(scenario.turns, start=1):
        for name in turn.needs:
            needed += 1
            there += number in last and shows_fact(scenario.fact(name), last[number].text)
    return needed, there


def prefix_kept(prompts: Sequence[Seen]) -> float:
    """Of all prompts but each user's last, the share with which the next one begins, in characters."""
    kept = whole = 0
    before: dict[str, str] = {}
    for prompt in prompts:
        text = "\0".join(f"{m.role}\1{m.text}\1{m.calls}" for m in prompt.messages)
        old = before.get(prompt.by)
        if old is not None:
            whole += len(old)
            kept += _common(old, text)
        before[prompt.by] = text
    return kept / whole if whole else 1.0


def _common(one: str, other: str) -> int:
    """The length of the common beginning, by halving."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def used_share(exchange: Exchange) -> float:
    """Of what the prompt shows beside the instructions, the share whose sentences the reply took up.

    A sentence is taken up when the reply has one of its figures, ids or names, or half of its words.
    """
    reply = exchange.reply.text
    said, facts = frozenset(terms(reply)), _facts(reply)
    used = whole = 0
    for part in exchange.prompt.parts:
        if part.kind == "instructions":
            continue
        for words, values, size in _lines(part.text[:_READ_CHARACTERS]):
            whole += size
            if values & facts or (
                len(words) >= _FEWEST_TERMS and len(words & said) >= _USED_TERMS * len(words)
            ):
                used += size
    return used / whole if whole else 0.0


@lru_cache(maxsize=4_096)
def _lines(text: str) -> tuple[tuple[frozenset[str], frozenset[str], int], ...]:
    """Each sentence's terms, values and about its tokens."""
    lines = (match[0] for match in _LINE.finditer(text))
    return tuple((frozenset(terms(line)), _facts(line), rough(line)) for line in lines if line.strip())


def _facts(text: str) -> frozenset[str]:
    return frozenset(fact.value for fact in figures_and_names(text))


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0
