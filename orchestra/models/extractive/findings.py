"""A researcher's result: statements with quotes that together answer one question, and what was not found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestra.models.extractive.candidates import Candidate, candidates
from orchestra.models.extractive.choosing import Choice, Limits, Wants, choose
from orchestra.models.extractive.phrases import VERBS
from orchestra.models.extractive.reading import Hit, Task
from orchestra.models.extractive.relevance import Relevance, kind_asked, relevance, without_echoes
from orchestra.models.extractive.searching import strong_words
from orchestra.models.extractive.words import is_chinese, pale_stems
from orchestra.text.terms import terms
from orchestra.values.drafts import DraftClaim, DraftQuote, Findings

MOST = Limits(words=850, count=45)


def findings(task: Task, hits: Sequence[Hit]) -> Findings:
    """The statements, most important first."""
    hits = without_echoes(task, hits)
    if not hits:
        return Findings(claims=(), gaps=(_nothing(task),))
    known = relevance(task, hits)
    pool = candidates([read.hit for read in known.good()])
    if not pool:
        return Findings(claims=(), gaps=(_nothing(task),))
    choices = _choices(task, pool, known)
    wants = Wants(known.asked, known.taught)
    picked = choose(choices, wants, MOST, _heads(choices, wants, known))
    chosen = [pool[choice.key] for choice in _direct_first(picked)]
    return Findings(claims=tuple(_claim(candidate) for candidate in chosen), gaps=gaps(task, known))


HEARD = 3  # documents, best first, that have their say whatever the others offer
HEAD_WORDS = 25  # for each of them
HEARD_FLOOR = 0.4  # of the best document's fit
BASE = 0.25  # what a sentence without any word of the question keeps of its passage's fit
AROUND = 0.65  # what a word of the question counts in the title or the headings above a sentence
PASSAGE_POWER = 1.0
DOCUMENT_POWER = 1.0
DOCUMENT_FLOOR = 0.35  # documents that fit less than this share of the best one are left out
LEAD = 1.2  # the first sentences of a document say what it is about
SPECIFIC = 1.1  # a sentence with a name of code, a number or a term in quotes
FIGURES = 1.4
KINDS = 0.4  # for each further kind that one sentence names, two at the most
_AMOUNT = re.compile(
    r"\b(?:how (?:much|many|long|often|large|fast|big|old|hot|high|far)|costs?|when|overhead)\b"
    r"|多少|多久|多长|几",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|half|annual\w*|every)\b"
    r"|[一二三四五六七八九十百千半]"
)
SUITED = 1.5  # sections that say how things are, or why, as the question asks
_WHY = re.compile(r"\bwhy\b|\breasons?\b|为什么|为何|原因", re.IGNORECASE)
_REASONS = re.compile(r"motivation|rationale|reason|background|problem|why|原因|背景", re.IGNORECASE)
_RULES = re.compile(
    r"specification|syntax|semantics|usage|\bapi\b|interface|definition|format|details|用法|方法|要求|规定",
    re.IGNORECASE,
)
_LEAD_SECTION = re.compile(r"abstract|introduction|summary|overview|摘要|概述|简介|引言", re.IGNORECASE)
_SPECIFIC = re.compile(r"``|`\w|\w_\w|\w\(\)|[a-z][A-Z]|\d|[\"“「]")


def _heads(choices: Sequence[Choice], wants: Wants, known: Relevance) -> list[Choice]:
    """What each of the best documents answers best: one long text must not silence the others."""
    fits = known.document_fits()
    ranked = [name for name in known.documents() if fits[name] >= HEARD_FLOOR * max(fits.values())]
    heads: list[Choice] = []
    for name in ranked[:HEARD]:
        own = [choice for choice in choices if choice.group == name]
        limit = Limits(words=sum(head.words for head in heads) + HEAD_WORDS, count=len(heads) + 2)
        heads = choose(own, wants, limit, heads)
    return heads


def _direct_first(picked: Sequence[Choice]) -> list[Choice]:
    """The first few by how directly they answer, the others in the order in which they were chosen."""
    first = sorted(picked[: 2 * HEARD], key=lambda choice: (-choice.fit, choice.key))
    return [*first, *picked[2 * HEARD :]]


def _form(task: Task, kind: str, candidate: Candidate) -> float:
    """How much the form of a sentence suits the question: reasons, rules, figures, kinds."""
    section = _REASONS if _WHY.search(task.question) else _RULES
    suits = SUITED if section.search(candidate.hit.section) else 1.0
    if _AMOUNT.search(task.question) and _FIGURE.search(candidate.text):
        suits *= FIGURES
    if kind:
        kinds = [term for term in candidate.terms if term.endswith(f" {kind}")]
        suits *= 1 + KINDS * min(2, max(0, len(kinds) - 1))
    return suits


def _choices(task: Task, pool: Sequence[Candidate], known: Relevance) -> list[Choice]:
    kind = kind_asked(task.question)
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
        fit *= _form(task, kind, candidate)
        if (documents[candidate.hit.locator] / best) < DOCUMENT_FLOOR:
            continue
        made.append(
            Choice(
                key,
                candidate.terms,
                candidate.words,
                fit,
                candidate.hit.locator,
                f"{candidate.hit.locator} > {candidate.hit.section}",
            )
        )
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
        if word.lower() in VERBS or len(word) < 2:
            continue
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
