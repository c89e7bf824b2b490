"""The writer's draft: statements of the brief that cover the whole question, in an order that reads."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from orchestra.models.extractive.choosing import Choice, Limits, Wants, choose, same
from orchestra.models.extractive.cleaning import clean
from orchestra.models.extractive.headings import distinct_headings, heading
from orchestra.models.extractive.prose import term_set, word_count
from orchestra.models.extractive.reading import BriefClaim, Task, WriterBrief
from orchestra.models.extractive.relevance import asked_terms
from orchestra.models.extractive.words import is_chinese, pale_stems
from orchestra.values.drafts import Draft, DraftSection, DraftSentence

MOST_WORDS = 880  # of title, headings and sentences; a report keeps under 900
MOST_SUMMARY = 4
SUMMARY_WORDS = 38  # a longer sentence is no summary
BASE = 0.2  # what a statement without any word of the question keeps
AROUND = 0.35  # what a word of the question counts in the document's title
RANK = 0.08  # how fast a statement's worth falls with its place in its researcher's findings
TAUGHT_TERMS = 60
FEWEST_IN_SECTION = 2
MANY_IN_SECTION = 9  # from here on one section for all is taken apart by document


def draft(brief: WriterBrief) -> Draft:
    """Title, summary, and a section for each sub-question; for a single one a section for each document."""
    claims = brief.claims
    title = brief.title or heading(brief.question)
    names = distinct_headings(brief.questions, title)
    spent = word_count(title) + sum(word_count(name) for name in names)
    if len(names) == 1:
        spent += sum(word_count(name) for name in {claim.title for claim in claims})
    wants, choices = _weigh(brief)
    forced = _forced(brief, choices)
    chosen = choose(choices, wants, Limits(words=MOST_WORDS - spent, count=80), forced)
    top = _summary(brief, chosen, wants)
    rest = [choice for choice in chosen if choice.key not in {choice.key for choice in top}]
    if len(names) == 1 and len(rest) >= MANY_IN_SECTION:
        parts = _by_document(brief, rest)
    else:
        parts = [(name, [c for c in rest if c.part == number]) for number, name in enumerate(names, 1)]
    pairs = _conflict_pairs(brief)
    return Draft(
        title=title,
        summary=tuple(_sentence(claims[choice.key]) for choice in top),
        sections=tuple(
            DraftSection(heading=name, sentences=tuple(_sentence(claims[c.key]) for c in _ordered(brief, part, pairs)))
            for name, part in parts
            if part
        ),
    )


def _sentence(claim: BriefClaim) -> DraftSentence:
    return DraftSentence(text=claim.text, claims=(claim.id,))


def _weigh(brief: WriterBrief) -> tuple[Wants, list[Choice]]:
    """What the report should hold, and how much of it each claim has."""
    claims = brief.claims
    keyed = [term_set(claim.text) for claim in claims]
    around = [term_set(claim.title) for claim in claims]
    spread: Counter[str] = Counter(term for keys in keyed for term in keys)
    rarity = {term: math.log(1 + (len(claims) + 1) / (count + 0.5)) for term, count in spread.items()}
    weights = asked_terms(Task(brief.question, brief.question))
    raw = {term: weight * rarity.get(term, 1.0) for term, weight in weights.items()}
    whole = sum(raw.values()) or 1.0
    asked = {term: weight / whole for term, weight in raw.items()}
    ranks: Counter[int] = Counter()
    choices = []
    for key, claim in enumerate(claims):
        rank = ranks[claim.question]
        ranks[claim.question] += 1
        own = sum(w if t in keyed[key] else AROUND * w if t in around[key] else 0.0 for t, w in asked.items())
        fit = (BASE + own) * (0.5 + 0.5 / (1 + RANK * rank))
        choices.append(Choice(key, keyed[key], word_count(claim.text), fit, claim.document, "", claim.question))
    return Wants(asked, _taught(spread, rarity, asked)), choices


def _taught(spread: Counter[str], rarity: dict[str, float], asked: dict[str, float]) -> dict[str, float]:
    """Terms that several claims share: what the sources talk about beside the question's own words."""
    pale = pale_stems()
    common = {
        term: count * rarity[term]
        for term, count in spread.items()
        if count > 1 and term not in asked and term not in pale and not term.isdigit()
    }
    best = sorted(common.items(), key=lambda pair: (-pair[1], pair[0]))[:TAUGHT_TERMS]
    weight = sum(value for _, value in best) or 1.0
    return {term: value / weight for term, value in best}


def _conflict_pairs(brief: WriterBrief) -> list[tuple[str, ...]]:
    """The claim ids of each conflict line: "c1 / c4: what they differ in"."""
    return [tuple(re.findall(r"\bc\d+\b", line.split(":", 1)[0])) for line in brief.conflicts]


def _forced(brief: WriterBrief, choices: Sequence[Choice]) -> list[Choice]:
    """Both sides of every conflict: a reader must see them."""
    disputed = {name for pair in _conflict_pairs(brief) for name in pair}
    return [choice for choice in choices if brief.claims[choice.key].id in disputed][:12]


def _summary(brief: WriterBrief, chosen: Sequence[Choice], wants: Wants) -> list[Choice]:
    """For each sub-question the statement that answers it most directly; at least two where there are two."""
    picked: list[Choice] = []
    for number in range(1, len(brief.questions) + 1):
        part = [choice for choice in chosen if choice.part == number]
        _add_central(brief, part, brief.questions[number - 1], picked)
    while len(picked) < 2 and len(picked) < len(chosen):
        before = len(picked)
        _add_central(brief, chosen, brief.question, picked)
        if len(picked) == before:
            break
    return picked[:MOST_SUMMARY]


def _add_central(brief: WriterBrief, part: Sequence[Choice], question: str, picked: list[Choice]) -> None:
    weights = asked_terms(Task(question, brief.question))
    shared = Counter(term for choice in part for term in choice.terms)
    pale = pale_stems()

    def central(choice: Choice) -> tuple[float, int]:
        own = sum(weight for term, weight in weights.items() if term in choice.terms)
        theme = sum(shared[term] - 1 for term in choice.terms if term not in pale) / (len(choice.terms) + 8)
        long = 0.6 if choice.words > SUMMARY_WORDS or choice.words < 9 else 1.0
        return long * choice.fit**0.5 * (own + 0.15 * theme), -choice.key

    left = [c for c in part if not any(c.key == p.key or same(c.terms, p.terms) for p in picked)]
    if left:
        picked.append(max(left, key=central))


def _by_document(brief: WriterBrief, part: Sequence[Choice]) -> list[tuple[str, list[Choice]]]:
    """A section for each document that says enough, the rest in one at the end."""
    groups: dict[str, list[Choice]] = {}
    for choice in part:
        groups.setdefault(choice.group, []).append(choice)
    large = [group for group in groups.values() if len(group) >= FEWEST_IN_SECTION]
    small = [choice for group in groups.values() if len(group) < FEWEST_IN_SECTION for choice in group]
    large.sort(key=lambda group: (-len(group), group[0].key))
    parts = [(clean(brief.claims[group[0].key].title) or group[0].group, group) for group in large]
    if small:
        parts.append(("其他文献" if is_chinese(brief.question) else "From other documents", small))
    return parts


def _ordered(brief: WriterBrief, part: Sequence[Choice], pairs: Sequence[tuple[str, ...]]) -> list[Choice]:
    """Document by document, the one that says most first; within one by place, or by what follows on what."""
    groups: dict[str, list[Choice]] = {}
    for choice in part:
        groups.setdefault(choice.group, []).append(choice)
    ordered: list[Choice] = []
    for group in sorted(groups.values(), key=lambda group: (-len(group), group[0].key)):
        placed = all(brief.claims[choice.key].start >= 0 for choice in group)
        ordered += sorted(group, key=lambda c: brief.claims[c.key].start) if placed else _chained(group)
    return _conflicts_together(brief, ordered, pairs)


def _chained(group: Sequence[Choice]) -> list[Choice]:
    """From the most telling statement on, each time the one that has most in common with the last two."""
    left = sorted(group, key=lambda choice: choice.key)
    chain = [left.pop(0)] if left else []
    pale = pale_stems()
    while left:
        near = (chain[-1].terms | (chain[-2].terms if len(chain) > 1 else frozenset())) - pale
        best = max(left, key=lambda c: (len(near & c.terms) / (len(c.terms) + 6), -c.key))
        left.remove(best)
        chain.append(best)
    return chain


def _conflicts_together(
    brief: WriterBrief, ordered: list[Choice], pairs: Sequence[tuple[str, ...]]
) -> list[Choice]:
    """Statements that contradict each other stand side by side."""
    for pair in pairs:
        places = [at for at, choice in enumerate(ordered) if brief.claims[choice.key].id in pair]
        if len(places) == 2:
            moved = ordered.pop(places[1])
            ordered.insert(places[0] + 1, moved)
    return ordered
