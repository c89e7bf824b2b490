"""A researcher's result: statements with quotes that together answer one question, and what was not found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestra.models.extractive.candidates import Candidate, candidates
from orchestra.models.extractive.choosing import Choice, Limits, Wants, choose
from orchestra.models.extractive.reading import Hit, Task
from orchestra.models.extractive.relevance import FLOOR, Relevance, relevance
from orchestra.models.extractive.searching import strong_words
from orchestra.models.extractive.words import is_chinese, pale_stems
from orchestra.text.terms import terms
from orchestra.values.drafts import DraftClaim, DraftQuote, Findings

MOST = Limits(words=850, count=45)


def findings(task: Task, hits: Sequence[Hit]) -> Findings:
    """The statements, most important first."""
    if not hits:
        return Findings(claims=(), gaps=(_nothing(task),))
    known = relevance(task, hits)
    good = [read for read in known.reads if read.cover >= FLOOR]
    pool = candidates([read.hit for read in good])
    if not pool:
        return Findings(claims=(), gaps=(_nothing(task),))
    chosen = [pool[choice.key] for choice in choose(_choices(pool, known), Wants(known.asked, known.taught), MOST)]
    return Findings(claims=tuple(_claim(candidate) for candidate in chosen), gaps=gaps(task, known))


BASE = 0.25  # what a sentence without any word of the question keeps of its passage's fit
AROUND = 0.45  # what a word of the question counts in the title or the headings above a sentence
PASSAGE_POWER = 1.0
DOCUMENT_POWER = 1.0
DOCUMENT_FLOOR = 0.5  # documents that fit less than this share of the best one are left out
LEAD = 1.2  # the first sentences of a document say what it is about
SPECIFIC = 1.1  # a sentence with a name of code, a number or a term in quotes
_LEAD_SECTION = re.compile(r"abstract|introduction|summary|overview|摘要|概述|简介|引言", re.IGNORECASE)
_SPECIFIC = re.compile(r"``|`\w|\w_\w|\w\(\)|[a-z][A-Z]|\d|[\"“「]")


def _choices(pool: Sequence[Candidate], known: Relevance) -> list[Choice]:
    fits = {id(read.hit): read for read in known.reads}
    top = max(read.fit for read in known.reads) or 1.0
    documents = known.document_fits()
    best = max(documents.values()) or 1.0
    made = []
    for key, candidate in enumerate(pool):
        read = fits[id(candidate.hit)]
        own = sum(
            weight if term in candidate.terms else AROUND * weight if term in read.around else 0.0
            for term, weight in known.asked.items()
        )
        fit = candidate.worth * (BASE + own) * (read.fit / top) ** PASSAGE_POWER
        fit *= (documents[candidate.hit.locator] / best) ** DOCUMENT_POWER
        if _LEAD_SECTION.search(candidate.hit.section):
            fit *= LEAD
        if _SPECIFIC.search(candidate.quotes[-1]):
            fit *= SPECIFIC
        if (documents[candidate.hit.locator] / best) < DOCUMENT_FLOOR:
            continue
        made.append(Choice(key, candidate.terms, candidate.words, fit, candidate.hit.locator, f"{candidate.hit.locator} > {candidate.hit.section}"))
    return made


def _claim(candidate: Candidate) -> DraftClaim:
    quotes = tuple(DraftQuote(source=candidate.hit.label, text=text) for text in candidate.quotes)
    return DraftClaim(statement=candidate.text, quotes=quotes)


def gaps(task: Task, known: Relevance) -> tuple[str, ...]:
    """The question's own telling words that stand in no passage that was found."""
    held = {term for read in known.reads if not read.data for term in (*read.terms, *read.around)}
    chinese = is_chinese(task.question)
    missing = []
    for word in strong_words(task.question):
        keys = [term for term in terms(word) if term not in pale_stems()]
        absent = sum(1 for term in keys if term not in held)
        if keys and (absent * 2 > len(keys) if chinese else absent == len(keys)):
            missing.append(word)
    if not missing:
        return ()
    named = ("、" if chinese else ", ").join(f"“{word}”" if chinese else f'"{word}"' for word in missing[:4])
    return (f"没有段落提到{named}。" if chinese else f"No passage that was found mentions {named}.",)


def _nothing(task: Task) -> str:
    if is_chinese(task.question):
        return f"没有找到与此问题相符的段落：{task.question}"
    return f"No passage was found that answers: {task.question}"
