"""A researcher's result: statements with quotes that together answer one question, and what was not found."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.models.extractive.candidates import Candidate, candidates
from orchestra.models.extractive.choosing import Choice, Limits, Wants, choose
from orchestra.models.extractive.reading import Hit, Task
from orchestra.models.extractive.relevance import FLOOR, Relevance, relevance
from orchestra.models.extractive.words import is_chinese, pale_stems
from orchestra.values.drafts import DraftClaim, DraftQuote, Findings

MOST = Limits(words=800, count=30)


def findings(task: Task, hits: Sequence[Hit]) -> Findings:
    """The statements, most important first."""
    if not hits:
        return Findings(claims=(), gaps=(_nothing(task),))
    known = relevance(task, hits)
    good = [read for read in known.reads if read.fit >= FLOOR]
    pool = candidates([read.hit for read in good])
    if not pool:
        return Findings(claims=(), gaps=(_nothing(task),))
    chosen = [pool[choice.key] for choice in choose(_choices(pool, known), Wants(known.asked, known.taught), MOST)]
    return Findings(claims=tuple(_claim(candidate) for candidate in chosen), gaps=gaps(task, known))


def _choices(pool: Sequence[Candidate], known: Relevance) -> list[Choice]:
    fits = {id(read.hit): read for read in known.reads}
    top = max(read.fit for read in known.reads) or 1.0
    made = []
    for key, candidate in enumerate(pool):
        read = fits[id(candidate.hit)]
        own = sum(
            weight if term in candidate.terms else 0.35 * weight if term in read.around else 0.0
            for term, weight in known.asked.items()
        )
        fit = candidate.worth * (0.15 + own) * (read.fit / top)
        made.append(Choice(key, candidate.terms, candidate.words, fit, candidate.hit.locator))
    return made


def _claim(candidate: Candidate) -> DraftClaim:
    quotes = tuple(DraftQuote(source=candidate.hit.label, text=text) for text in candidate.quotes)
    return DraftClaim(statement=candidate.text, quotes=quotes)


def gaps(task: Task, known: Relevance) -> tuple[str, ...]:
    """The question's own telling words that no passage holds."""
    return ()


def _nothing(task: Task) -> str:
    if is_chinese(task.question):
        return f"没有找到与此问题相符的段落：{task.question}"
    return f"No passage was found that answers: {task.question}"
