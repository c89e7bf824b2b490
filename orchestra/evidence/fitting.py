"""What of a brief fits its cap: the head cut to its share, the claims taken in turn."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence

from orchestra.context.tokens import most_tokens, surely_fits
from orchestra.values.handoffs import Brief
from orchestra.values.sources import Claim

Count = Callable[[str], int]
"""Tokens of a text: never more than the bytes of its UTF-8 form, as every byte-level vocabulary has it."""

HEAD_SHARE = 0.25  # of the cap, at most, for each of: the question; gaps and conflicts


def within_cap(brief: Brief, cap: int, count: Count) -> Brief:
    """A question, gaps or sub-questions that alone would fill the cap are cut with a visible mark."""
    share = int(cap * HEAD_SHARE)
    each = share // max(1, len(brief.questions))
    gaps: list[str] = []
    room = share
    if sum(map(most_tokens, brief.gaps)) + 2 * len(brief.gaps) <= room:
        gaps += brief.gaps
    for gap in brief.gaps[len(gaps) :]:
        cost = count(gap) + 2
        if cost > room:
            break
        gaps.append(gap)
        room -= cost
    return Brief(
        _cut(brief.question, share, count),
        _cut(brief.title, share // 4, count),
        tuple(_cut(text, each, count) for text in brief.questions),
        brief.claims,
        brief.conflicts,
        tuple(gaps),
    )


def _cut(text: str, tokens: int, count: Count) -> str:
    if surely_fits(text, tokens) or count(text) <= tokens:
        return text
    keep = len(text)
    while keep > 1 and count(text[:keep]) > tokens - 3:
        keep = int(keep * min(0.9, (tokens + 1) / count(text[:keep]) + 0.02))
    return f"{text[:keep].rstrip()} […]"


def ranked(items: Sequence[tuple[int, Claim]], costs: Sequence[int], room: int) -> list[int]:
    """Indexes into `items` in the order in which they were taken, as many as `room` tokens hold.

    Sub-questions take turns; within one the document with the fewest claims so far is next.
    """
    waiting: dict[int, dict[str, deque[int]]] = defaultdict(lambda: defaultdict(deque))
    for at, (place, claim) in enumerate(items):
        waiting[place][_home(claim)].append(at)
    used: Counter[str] = Counter()
    taken: list[int] = []
    while waiting:
        for place in list(waiting):
            homes = waiting[place]
            while homes:
                home = min(homes, key=lambda home: (used[home], homes[home][0]))
                at = homes[home].popleft()
                if not homes[home]:
                    del homes[home]
                if costs[at] <= room:
                    room -= costs[at]
                    used[home] += 1
                    taken.append(at)
                    break
            else:
                del waiting[place]
    return taken


def _home(claim: Claim) -> str:
    return claim.quotes[0].locator if claim.quotes else ""
