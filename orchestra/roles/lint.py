"""What is unwise in a role's instructions: too long, too many rules, rules that contradict each other.

300 tokens and seven rules: longer instructions are followed less, and each further rule weakens the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from orchestra.roles.demands import Demand, demands
from orchestra.roles.finding import Finding
from orchestra.roles.tool_words import begins_with_verb
from orchestra.values.roles import ALL_TOOLS, GROUP, Role

INSTRUCTION_TOKENS = 300
RULES = 7
TOOLS = 24
"""A model chooses well among so many."""

_ITEM = re.compile(r"\s*(?:[-*+•·]|\(?\d{1,3}[.)、．]|[①-⑳]|[一二三四五六七八九十]{1,3}、)\s*\S")
_SENTENCE = re.compile(r"[^.!?。！？;；\n]+(?:[.!?](?!\s|$)[^.!?。！？;；\n]*)*")
_FIRM = re.compile(
    r"\b(?:must|never|always|only|do not|don't|cannot|should|shall|avoid|ensure|make sure)\b"
    r"|必须|不要|不得|禁止|切勿|务必|只能|仅限|不可|总是|永远",
    re.IGNORECASE,
)


def lint_role(
    role: Role, count: Callable[[str], int], lines: Mapping[str, int] | None = None
) -> tuple[Finding, ...]:
    """All findings of a role. `count` gives a text's tokens; `lines` is `Reading.lines`, for places."""
    lines = lines or {}
    first = lines.get("instructions")
    return (
        *_length(role, count, first),
        *_rules(role, first),
        *_contradictions(role, first),
        *_tools(role, lines.get("tools")),
    )


def _length(role: Role, count: Callable[[str], int], line: int | None) -> Iterator[Finding]:
    tokens = count(role.instructions)
    if tokens > INSTRUCTION_TOKENS:
        sentence = (
            f"{tokens:,} tokens; keep them under {INSTRUCTION_TOKENS}, a model follows short ones better."
        )
        yield Finding(sentence=sentence, key="instructions", file=role.file, line=line)


def _rules(role: Role, line: int | None) -> Iterator[Finding]:
    rules = count_rules(role.instructions)
    if rules > RULES:
        sentence = f"{rules} rules; keep the {RULES} that matter most."
        yield Finding(sentence=sentence, key="instructions", file=role.file, line=line)


def count_rules(instructions: str) -> int:
    """List items, and firm sentences ("must", "never", 必须) outside of lists."""
    items = [text for text in instructions.split("\n") if _ITEM.match(text)]
    prose = "\n".join(text for text in instructions.split("\n") if not _ITEM.match(text))
    return len(items) + sum(1 for each in _SENTENCE.finditer(prose) if _FIRM.search(each[0]))


def _contradictions(role: Role, line: int | None) -> Iterator[Finding]:
    found = [
        (at, demand)
        for at, text in enumerate(role.instructions.split("\n"))
        for each in _SENTENCE.finditer(text)
        for demand in demands(each[0])
    ]
    told: set[tuple[str, str]] = set()
    for number, (_, first) in enumerate(found):
        for at, second in found[number + 1 :]:
            kind = (first.subject, second.subject)
            if first.against(second) and kind not in told:
                told.add(kind)
                where = line + at if line is not None else None
                yield Finding(sentence=_both(first, second), key="instructions", file=role.file, line=where)


def _both(first: Demand, second: Demand) -> str:
    return f'two rules contradict each other in {first.subject}: "{first.text}" and "{second.text}".'


def _tools(role: Role, line: int | None) -> Iterator[Finding]:
    single = [name for name in role.tools or () if name != ALL_TOOLS and not name.startswith(GROUP)]
    if len(single) > TOOLS:
        sentence = (
            f"{len(single)} tools one by one, and each is in every prompt; name the {TOOLS} that are always "
            "needed, and the others as a group, which the task chooses from."
        )
        yield Finding(sentence=sentence, key="tools", file=role.file, line=line)
    for name in single:
        if not begins_with_verb(name):
            sentence = f'the tool name "{name}" does not begin with a verb, such as search_, read_ or list_.'
            yield Finding(sentence=sentence, key="tools", file=role.file, line=line)
