"""The writer's draft: statements of the brief that cover the whole question, in an order that reads."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from orchestra.models.extractive.prose import term_set, word_count
from orchestra.models.extractive.choosing import Choice, Limits, Wants, choose
from orchestra.models.extractive.headings import heading
from orchestra.models.extractive.reading import BriefClaim, Task, WriterBrief
from orchestra.models.extractive.relevance import asked_terms
from orchestra.models.extractive.words import is_chinese, pale_stems
from orchestra.text.terms import terms
from orchestra.values.drafts import Draft, DraftSection, DraftSentence

BASE = 0.2
AROUND = 0.35
RANK = 0.08
MOST_WORDS = 880
SUMMARY = Limits(words=110, count=4)


def draft(brief: WriterBrief) -> Draft:
    claims = list(brief.claims)
    title = brief.title or heading(brief.question)
    names = [heading(question) for question in brief.questions]
    spent = word_count(title) + sum(word_count(name) for name in names)
    wants, choices = _weigh(brief, claims)
    budget = Limits(words=MOST_WORDS - spent, count=60)
    chosen = choose(choices, wants, budget)
    top = choose([choice for choice in chosen], wants, SUMMARY)
    keys = {choice.key for choice in top}
    sections = []
    for number, name in enumerate(names, 1):
        own = [choice for choice in chosen if claims[choice.key].question == number and choice.key not in keys]
        own.sort(key=lambda choice: (claims[choice.key].document, claims[choice.key].start))
        if own:
            sections.append(DraftSection(heading=name, sentences=tuple(_sentence(claims[choice.key]) for choice in own)))
    return Draft(title=title, summary=tuple(_sentence(claims[choice.key]) for choice in top), sections=tuple(sections))


def _sentence(claim: BriefClaim) -> DraftSentence:
    return DraftSentence(text=claim.text, claims=(claim.id,))


def _weigh(brief: WriterBrief, claims: Sequence[BriefClaim]) -> tuple[Wants, list[Choice]]:
    keyed = [term_set(claim.text) for claim in claims]
    around = [frozenset(terms(claim.title)) for claim in claims]
    spread: Counter[str] = Counter(term for keys in keyed for term in keys)
    total = len(claims)
    rarity = {term: math.log(1 + (total + 1) / (count + 0.5)) for term, count in spread.items()}
    raw = {term: weight * rarity.get(term, 1.0) for term, weight in asked_terms(Task(brief.question, brief.question)).items()}
    whole = sum(raw.values()) or 1.0
    asked = {term: weight / whole for term, weight in raw.items()}
    pale = pale_stems()
    common = {term: count * rarity[term] for term, count in spread.items() if term not in asked and term not in pale and count > 1 and not term.isdigit()}
    best = sorted(common.items(), key=lambda pair: (-pair[1], pair[0]))[:60]
    weight = sum(value for _, value in best) or 1.0
    taught = {term: value / weight for term, value in best}
    ranks: Counter[int] = Counter()
    choices = []
    for key, claim in enumerate(claims):
        rank = ranks[claim.question]
        ranks[claim.question] += 1
        own = sum(w if term in keyed[key] else AROUND * w if term in around[key] else 0 for term, w in asked.items())
        fit = (BASE + own) * (0.5 + 0.5 / (1 + RANK * rank))
        choices.append(Choice(key, keyed[key], word_count(claim.text), fit, claim.document, "", claim.question))
    return Wants(asked, taught), choices
