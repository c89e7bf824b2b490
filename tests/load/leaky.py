"""A workflow with the mistake that a load test is there to find: something is kept between sessions."""

from __future__ import annotations

from orchestra.session.session import Session

_kept: list[str] = []


async def leaky(session: Session, question: str) -> str:
    """Every fourth session is told what the one before had asked."""
    _kept.append(question)
    told = f"{question}\n{_kept[-2]}" if len(_kept) % 4 == 0 else question
    handoff = await session.ask("planner", f"Question: {told}")
    return handoff.status


async def clean(session: Session, question: str) -> str:
    """The same without the mistake."""
    handoff = await session.ask("planner", f"Question: {question}")
    return handoff.status
