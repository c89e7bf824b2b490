"""Small sources, claims and briefs for the tests of this room."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from orchestra.evidence.brief import cap_study, make_brief
from orchestra.evidence.claims import check_findings
from orchestra.evidence.ledger import Ledger
from orchestra.values.drafts import DraftClaim, DraftQuote, DraftSection, DraftSentence, Findings, Plan
from orchestra.values.handoffs import Brief, HandOff, Study
from orchestra.values.sources import Document, Passage


def document(locator: str, text: str, title: str = "") -> Document:
    return Document(locator, title or locator, text, hashlib.sha256(text.encode()).hexdigest())


def whole(source: Document) -> Passage:
    return Passage(source, source.text, 0, len(source.text))


def ledger_of(*sources: Document, agent: str = "researcher.1") -> Ledger:
    ledger = Ledger()
    ledger.show(agent, [whole(source) for source in sources])
    return ledger


def claim(statement: str, *quotes: tuple[str, str]) -> DraftClaim:
    return DraftClaim(
        statement=statement, quotes=tuple(DraftQuote(source=source, text=text) for source, text in quotes)
    )


def study_of(ledger: Ledger, *claims: DraftClaim, question: str = "What?", gaps: Sequence[str] = ()) -> Study:
    findings = Findings(claims=claims, gaps=tuple(gaps))
    return check_findings(findings, ledger=ledger, agent="researcher.1", question=question)


def count(text: str) -> int:
    """A stand-in for a tokenizer: one token for four characters."""
    return -(-len(text) // 4)


def handed(study: Study, cap: int = 4_000) -> HandOff[Study]:
    return cap_study(study, sender="researcher.1", cap=cap, count=count)


def brief_of(*studies: Study, question: str = "What is it?", cap: int = 4_000) -> Brief:
    plan = Plan(title="Title", questions=tuple(study.question for study in studies))
    made, _ = make_brief(question, plan, [handed(study) for study in studies], cap=cap, count=count)
    assert made.value is not None
    return made.value


def sentence(text: str, *claims: str) -> DraftSentence:
    return DraftSentence(text=text, claims=claims)


def section(heading: str, *sentences: DraftSentence) -> DraftSection:
    return DraftSection(heading=heading, sentences=sentences)
