"""`research_then_write`: what happens to a question.

    question ─ planner ▶ Plan ─ researchers, in parallel ▶ Study … ▶ Brief ─ writer ▶ Draft ─ check ▶ Report

Each agent works in a context of its own and sees only what it is handed: the planner the question, a
researcher one sub-question and its own tools' results, the writer the brief. A researcher that fails
becomes a gap; whatever ends a run early leaves a report of what was found until then.
"""

from __future__ import annotations

from msgspec import Struct

from orchestra.context.fence import fence
from orchestra.errors import AgentFailed
from orchestra.evidence.brief import cap_study, failed_study, make_brief
from orchestra.evidence.claims import check_findings
from orchestra.evidence.plain import plain_draft
from orchestra.evidence.verify import check_draft
from orchestra.models.extractive.model import NAME as EXTRACTIVE
from orchestra.models.extractive.notice import no_language_model
from orchestra.session.outputs import as_json
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


PLAIN = Options()

# A longer question is a pasted document; researchers are told the plan's title in its place.
WHOLE_QUESTION_TOKENS = 400


class Work(Struct, kw_only=True):
    """How far a run has come; what is here when it ends early is what the report is made of."""

    plan: Plan
    studies: dict[int, HandOff[Study]]
    brief: HandOff[Brief] | None = None
    draft: Draft | None = None
    notes: tuple[str, ...] = ()
    trouble: str = ""


async def research_then_write(session: Session, question: str, options: Options = PLAIN) -> Report:
    """Plan, study in parallel, write, check. Raises AgentFailed when not one researcher could work."""
    work = Work(plan=Plan(title="", questions=(question,)), studies={})
    with session.working():
        await plan(session, question, work)
        await study(session, question, work)
        work.brief, task = brief_of(session, question, work)
        await write(session, work.brief, task, options, work)
    return await check(session, question, options, work)


async def plan(session: Session, question: str, work: Work) -> None:
    """Take the question apart; without a plan the question itself is the only sub-question."""
    handoff: HandOff[Plan] = await session.ask("planner", f"Question: {question}", receiver="researcher")
    if handoff.value is not None and handoff.value.questions:
        work.plan = handoff.value
    else:
        work.notes += (f"The question was not taken apart: {handoff.reason}",)


async def study(session: Session, question: str, work: Work) -> None:
    """One researcher for each sub-question, all at once, each in its own context."""
    short = session.kit.counter.count(question) <= WHOLE_QUESTION_TOKENS
    whole = question if short else work.plan.title

    async def one(number: int, part: str) -> HandOff[Study]:
        task = f"Question: {part}\nPart of: {whole}"
        found: HandOff[Findings] = await session.ask("researcher", task, receiver="evidence")
        work.studies[number] = studied = studied_from(session, part, found)
        await session.record_handoff(studied)
        return studied

    studies = await session.each(work.plan.questions, one)
    if all(studied.status == "failed" for studied in studies):
        raise AgentFailed(f"No researcher could work: {studies[0].reason}", agent=studies[0].sender)


def studied_from(session: Session, question: str, found: HandOff[Findings]) -> HandOff[Study]:
    """A researcher's findings with every quote found in its source, within the cap."""
    if found.value is None:
        return failed_study(sender=found.sender, reason=found.reason)
    checked = check_findings(found.value, ledger=session.ledger, agent=found.sender, question=question)
    counter = session.kit.counter
    return cap_study(
        checked,
        sender=found.sender,
        cap=found.cap,
        count=counter.count,
        reason=found.reason,
        adds_up=counter.lines_add_up,
    )


def brief_of(session: Session, question: str, work: Work) -> tuple[HandOff[Brief], str]:
    """All that the writer is going to see, and how it reads."""
    nothing = failed_study(sender="researcher", reason=session.stopped or "not studied")
    studies = [work.studies.get(number, nothing) for number, _ in enumerate(work.plan.questions, start=1)]
    cap = session.room("writer")
    counter, find = session.kit.counter, session.ledger.facts
    brief, text = make_brief(question, work.plan, studies, cap=cap, count=counter.count, find=find)
    counter.know(text, brief.tokens)  # it becomes the writer's task
    return brief, text


async def write(session: Session, brief: HandOff[Brief], task: str, options: Options, work: Work) -> None:
    """The writer's draft from the brief and nothing else; a reviewer may send it back once."""
    if brief.value is None or not brief.value.claims:
        return
    await session.record_handoff(brief)
    handoff: HandOff[Draft] = await session.ask("writer", task, receiver="check")
    work.draft, work.trouble = handoff.value, handoff.reason
    if not options.review or work.draft is None:
        return
    draft = fence("Draft", as_json(work.draft))
    review: HandOff[Review] = await session.ask("reviewer", f"{task}\n\n{draft}", receiver="writer")
    if review.value is None or not review.value.remarks:
        return
    remarks = fence("Remarks", as_json(review.value))
    mended: HandOff[Draft] = await session.ask("writer", f"{task}\n\n{draft}\n\n{remarks}", receiver="check")
    work.draft = mended.value or work.draft


async def check(session: Session, question: str, options: Options, work: Work) -> Report:
    """Hold each sentence to its quotes; without a draft the claims themselves are the report."""
    brief = (work.brief or brief_of(session, question, work)[0]).value
    assert brief is not None
    draft = work.draft or plain_draft(brief)
    report = check_draft(draft, brief, ledger=session.ledger, strict=options.strict)
    return await session.finish(report, notes=notes(session, work), partial=work.trouble)


def notes(session: Session, work: Work) -> tuple[str, ...]:
    """What the runtime itself has to say of this report."""
    writer = session.kit.tiers.model_for(session.role("writer").final)
    own = (no_language_model(session.question),) if writer.name == EXTRACTIVE else ()
    return (*own, *work.notes)
