"""A conversation as the extractive model takes it: the turn that is to be answered, and what came before.

The runtime puts data under labels and words of its own around what somebody said; what is left is the input.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestra.models.extractive.reading import Task
from orchestra.models.extractive.words import is_chinese, strong_terms
from orchestra.values.messages import Message

_FENCED = re.compile(r"^[^\n]*\n(`{3,})\n.*?\n\1$", re.MULTILINE | re.DOTALL)
_BEFORE_INPUT = re.compile(r"^(?:State of the task|Still binding|Superseded):$", re.MULTILINE)
_BEHIND_INPUT = re.compile(
    r"^(?:The current input once more:$|Go on\.$|You are close to your limit\.)", re.MULTILINE
)
_POINTING = re.compile(
    r"\b(?:it|its|they|them|their|that|this|these|those|he|she|there)\b|^(?:and|but|so|or|what about)\b"
    r"|它|他们|她|这个?|那个?|其|呢[?？]?$",
    re.IGNORECASE,
)
_FEW_WORDS, _FEW_CHARACTERS = 1, 8


def this_turn(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages from the one on in which somebody has said something last."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role == "user" and _said(messages[at]):
            return tuple(messages[at:])
    return tuple(messages)


def task_of_turn(messages: Sequence[Message]) -> Task | None:
    """What is asked in the turn; None where it says nothing.

    A question that points at what was said before is a part of the question before it.
    """
    turn = this_turn(messages)
    asked = _said(turn[0]) if turn and turn[0].role == "user" else ""
    if not asked:
        return None
    before = messages[: len(messages) - len(turn)]
    earlier = next((said for each in reversed(before) if each.role == "user" and (said := _said(each))), "")
    return Task(asked, f"{asked} {earlier}" if earlier and _leans(asked) else asked)


def _said(message: Message) -> str:
    """What a person said last in a message."""
    said: list[str] = []
    for part in _FENCED.sub("\n\n", message.text).split("\n\n"):
        if _BEFORE_INPUT.match(part.strip()):
            said.clear()
        elif part.strip() and not _BEHIND_INPUT.match(part.strip()):
            said.append(part.strip())
    return "\n\n".join(said)


def _leans(asked: str) -> bool:
    """Whether a question is not whole without the one before."""
    if _POINTING.search(asked):
        return True
    if is_chinese(asked):
        return len(asked) <= _FEW_CHARACTERS
    return len(strong_terms(asked)) <= _FEW_WORDS
