"""A summary is held to the facts of what it covers before it may stand for them.

Refused: one that is empty, an error or a refusal; that names a figure, date or id which nothing covered
names, or names it of something else; that loses or gains a negation; that is not shorter than what it
replaces.
Repaired: what is missing is added word for word while there is room; what has none is left to recall.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from orchestra.context.factcheck import Source, find_drift
from orchestra.context.keys import keyed_facts
from orchestra.context.pinned import Superseded
from orchestra.context.polarity import clauses, flipped
from orchestra.context.summary.merging import mapped, marked, merged
from orchestra.context.summary.repair import Need, needs, repaired, without_turns
from orchestra.context.summary.schema import Summary, SummaryTask, items, render
from orchestra.context.tokens import Counter

_REFUSAL = re.compile(
    r"(?i)^\W*(?:error\b|exception\b|traceback|i(?:'m| am) (?:sorry|unable)|sorry,|i (?:cannot|can't"
    r"|won't)\b|as an ai\b"
    r"|(?:rate limit|timeout|request failed|internal server|no summary|summary (?:unavailable|failed))"
    r"|n/?a\W*$|null\W*$"
    r"|抱歉|对不起，?我(?:无法|不能)|我(?:无法|不能)|错误[:：]|出错)"
)


class Verdict(Struct, frozen=True, kw_only=True):
    """What the check found. `summary` None: refused, and `why` says so.

    `facts`: how many the covered blocks have; `added` of them stood nowhere and were added, for `left`
    there was no room. `dropped`: lines of the draft with names that nothing covered has.
    """

    summary: Summary | None = None
    why: str = ""
    facts: int = 0
    added: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


class Frame(Struct, frozen=True, kw_only=True):
    """What a draft is held against beside its task.

    `held`: texts that stay in the prompt: state, pins, instructions, the task. `replaced`: the tokens of all
    that goes, with the summary so far. `span`: the stretch of the summary so far. `trusted`: the draft is
    made of whole sentences of its parts, so only what it lacks is looked for. `facts`: False where a policy
    does without them, so that nothing is looked for.
    """

    held: tuple[str, ...]
    superseded: tuple[Superseded, ...]
    replaced: int
    span: str = ""
    trusted: bool = False
    facts: bool = True


def check(draft: Summary, task: SummaryTask, frame: Frame, counter: Counter) -> Verdict:
    """The summary that may stand for the task's parts, or why there is none."""
    lines = items(draft)
    if not frame.trusted and not any(line.strip() for line in lines):
        return Verdict(why="it is empty")
    sources = [part.text for part in task.parts]
    if task.previous is not None:
        sources.append("\n".join(items(task.previous)))
    sources += [part.calls for part in task.parts if part.calls]
    dropped: tuple[str, ...] = ()
    if not frame.trusted:
        if any(_REFUSAL.search(line) and line not in "\n".join(sources) for line in lines):
            return Verdict(why="it is an error or a refusal")
        if counter.count(render(draft)) >= frame.replaced:
            return Verdict(why="it is not shorter than what it replaces")
        draft, dropped, wrong = _held_to(draft, sources, frame.held)
        if wrong:
            return Verdict(why=wrong)
    whole = marked(merged(draft, task.previous, frame.span), frame.superseded)
    wanted = needs(task, frame.superseded) if frame.facts else []
    summary, added, left = repaired(whole, wanted, frame.held, task.tokens, counter)
    if not items(summary):
        return Verdict(why="there is nothing to say", facts=len(wanted))
    if counter.count(render(summary)) >= frame.replaced:
        return Verdict(why="it is not shorter than what it replaces", facts=len(wanted))
    return Verdict(
        summary=summary, facts=len(wanted), added=_texts(added), left=_texts(left), dropped=dropped
    )


def _held_to(
    draft: Summary, sources: Sequence[str], held: Sequence[str]
) -> tuple[Summary, tuple[str, ...], str]:
    """The draft without lines that name the unknown, those lines, and what contradicts the sources."""
    texts = [*sources, *held]
    whole = "\n".join(texts)
    source = Source(whole)
    known = [clause for text in texts for clause in clauses(text)]
    dropped: list[str] = []
    for line in items(draft):
        stripped = without_turns(line)
        doubts = [doubt for doubt in find_drift(stripped, source) if doubt.is_hard]
        for doubt in doubts:
            if doubt.kind == "elsewhere":
                return draft, (), f"it says {doubt.text} where what it covers says {doubt.instead}"
            if doubt.kind != "name":
                return draft, (), f"it says {doubt.text}, which nothing it covers says"
        if doubts or _unknown_name(stripped, whole):
            dropped.append(line)
        if flipped(clauses(stripped), known):
            return draft, (), f"it turns a negation round: {line[:80]}"
    return _without(draft, set(dropped)), tuple(dropped), ""


def _unknown_name(line: str, whole: str) -> bool:
    """Names in wide characters are told by the words before them (叫, 姓名)."""
    if line.isascii():
        return False
    return any(
        fact.kind == "name" and not fact.text.isascii() and fact.text not in whole
        for _, fact in keyed_facts(line)
    )


def _without(draft: Summary, lines: set[str]) -> Summary:
    return mapped(draft, lambda line: "" if line in lines else line) if lines else draft


def _texts(wanted: Sequence[Need]) -> tuple[str, ...]:
    return tuple(need.line for need in wanted)
