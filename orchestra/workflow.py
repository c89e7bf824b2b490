"""`research_then_write`: what happens to a question.

    question ─ planner ─▶ Plan ─ researchers, in parallel ─▶ Study … ─▶ Brief ─ writer ─▶ Draft ─ check ─▶ Report

Each agent works in a context of its own and sees only what it is handed: the planner the question, a
researcher one sub-question and its own tools' results, the writer the brief. A researcher that fails
becomes a gap; whatever ends a run early leaves a report of what was found until then.
"""

from __future__ import annotations

from msgspec import Struct

from orchestra.errors import AgentFailed
from orchestra.evidence.brief import make_brief
from orchestra.evidence.brief_text import render_brief
from orchestra.evidence.claims import check_findings
from orchestra.evidence.plain import plain_draft
from orchestra.evidence.verify import check_draft
from orchestra.session.session import Session
from orchestra.values.drafts import Draft, Findings, Plan, Review
from orchestra.values.handoffs import Brief, HandOff, Study
from orchestra.values.report import Report


class Options(Struct, frozen=True, kw_only=True):
    """`strict`: sentences that are not supported are removed, not marked.

    `review`: a reviewer reads the draft and the writer mends it once.
    """

    strict: bool = False
    review: bool = False


async def research_then_write(session: Session, question: str, options: Options = Options()) -> Report:
    """Plan, study in parallel, write, check."""
    plan = Plan(title="", questions=(question,))
    studies: list[HandOff[Study]] = []
    draft: Draft | None = None
    with session.working():
        plan = await make_plan(session, question)
        await study_all(session, question, plan, studies)
        brief = make_brief(question, plan, studies, session.cap("writer"))
        draft = await write(session, brief, options)
    brief = make_brief(question, plan, studies, session.cap("writer"))
    checked = check_draft(draft or plain_draft(brief), brief, strict=options.strict)
    return await session.report(checked, brief)
