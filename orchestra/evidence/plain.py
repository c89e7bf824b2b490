"""A draft without a writer: the claims themselves, when none could write or the run ended early."""

from __future__ import annotations

from orchestra.values.drafts import Draft, DraftSection, DraftSentence
from orchestra.values.handoffs import Brief
from orchestra.values.sources import Claim

SUMMARY_CLAIMS = 3


def plain_draft(brief: Brief) -> Draft:
    """The claims of each sub-question under it as a heading; the first of each, up to three, on top."""
    by_question: dict[str, list[Claim]] = {question: [] for question in brief.questions}
    for claim in brief.claims:
        by_question.setdefault(claim.question, []).append(claim)
    groups = {question: claims for question, claims in by_question.items() if claims}
    first = [claims[0] for claims in groups.values()][:SUMMARY_CLAIMS]
    sections = [
        DraftSection(
            heading=question or brief.question,
            sentences=tuple(_sentence(claim) for claim in claims if claim not in first),
        )
        for question, claims in groups.items()
    ]
    return Draft(
        title=brief.title or brief.question,
        summary=tuple(_sentence(claim) for claim in first),
        sections=tuple(section for section in sections if section.sentences),
    )


def _sentence(claim: Claim) -> DraftSentence:
    return DraftSentence(text=claim.text, claims=(claim.id,))
