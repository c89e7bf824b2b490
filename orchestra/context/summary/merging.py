"""The next summary out of the last one and what was said about the stretch since: merged by code.

What the last one held stays unless the new one says the same; so a forgetful summariser forgets nothing old.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from orchestra.context.facts import find_facts, is_hard
from orchestra.context.pinned import Superseded, stands_in
from orchestra.context.summary.schema import NOTHING, Summary, items
from orchestra.text.terms import terms

_UNITED = ("constraints", "exclusions", "decisions", "done", "entities", "numbers", "added")
_PAST_LINES = 6
_PAST_CHARACTERS = 160


def merged(draft: Summary, previous: Summary | None, span: str) -> Summary:
    """`draft` with all that `previous` held. `span` names the stretch of `previous`: "turns 3 to 9, v2"."""
    old = previous or NOTHING
    said = "\n".join(items(draft))
    lists = {
        name: _united(getattr(old, name), getattr(draft, name), said if name != "constraints" else "")
        for name in _UNITED
    }
    return structs.replace(
        draft, goal=draft.goal or old.goal, open=draft.open or old.open, past=_past(old, span), **lists
    )


def marked(summary: Summary, superseded: Sequence[Superseded]) -> Summary:
    """The summary with each value that holds no longer marked as such where it stands alone."""
    if not superseded:
        return summary
    return mapped(summary, lambda line: _marked(line, superseded))


def mapped(summary: Summary, change: Callable[[str], str]) -> Summary:
    """The summary with each line changed; lines that become empty are left out."""
    fields: dict[str, Any] = {}
    for field in structs.fields(Summary):
        value = getattr(summary, field.name)
        if isinstance(value, str):
            fields[field.name] = change(value)
        else:
            fields[field.name] = tuple(new for line in value if (new := change(line)))
    return Summary(**fields)


def _marked(line: str, superseded: Sequence[Superseded]) -> str:
    for gone in superseded:
        if gone.new not in line and stands_in(gone.old, line):
            line = f"{line} [{gone.old} holds no longer: it is {gone.new}]"
    return line


def _united(old: tuple[str, ...], new: tuple[str, ...], said: str) -> tuple[str, ...]:
    have = {frozenset(terms(line)) for line in new}
    words = frozenset(terms(said))
    kept = [line for line in old if frozenset(terms(line)) not in have and not _says(said, words, line)]
    return (*kept, *dict.fromkeys(new))


def _says(text: str, words: frozenset[str], line: str) -> bool:
    """Whether a text of these words has most words of a line and each figure and id, of which it has some."""
    mine = set(terms(line))
    if not text or len(mine & words) < 0.8 * len(mine):
        return False
    facts = [fact for fact in find_facts(line) if is_hard(fact)]
    return bool(facts) and all(stands_in(fact.text, text) for fact in facts)


def _past(old: Summary, span: str) -> tuple[str, ...]:
    if not old.narrative:
        return old.past
    line = old.narrative
    if len(line) > _PAST_CHARACTERS:
        cut = max(line.rfind(mark, 40, _PAST_CHARACTERS) for mark in (". ", "。", "; ", "；"))
        line = line[: cut + 1] if cut > 0 else ""
    line = line.strip()
    if not line or any(known.endswith(f": {line}") for known in old.past):
        return old.past
    return (*old.past, f"{span}: {line}")[-_PAST_LINES:]
