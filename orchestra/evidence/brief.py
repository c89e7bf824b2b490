"""From studies to the one brief that a writer sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestra.values.drafts import Plan
from orchestra.values.handoffs import Brief, HandOff, Study


def cap_study(study: Study, *, sender: str, cap: int, count: Callable[[str], int]) -> HandOff[Study]:
    """`study` within `cap` tokens in an envelope from `sender` to "brief"; status "partial" with no claims? no: done."""
    raise NotImplementedError


def failed_study(question: str, *, sender: str, reason: str) -> HandOff[Study]:
    """The envelope of a researcher that ended without findings."""
    raise NotImplementedError


def make_brief(
    question: str,
    plan: Plan,
    studies: Sequence[HandOff[Study]],
    *,
    cap: int,
    count: Callable[[str], int],
) -> HandOff[Brief]:
    """`studies` stand in the order of `plan.questions`, one each."""
    raise NotImplementedError


def render_brief(brief: Brief) -> str:
    """The writer's input, as CONTRACT.md fixes it."""
    raise NotImplementedError
