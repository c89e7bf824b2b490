"""A summary without a model: whole sentences of what it covers, sorted by what they say. Never a word of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from orchestra.context.keys import keyed_facts
from orchestra.context.sayings import Saying, is_question, sayings
from orchestra.context.summary.schema import Part, Summary, SummaryTask
from orchestra.context.tokens import Counter

_DECIDED = re.compile(
    r"(?i)\b(?:decided?|decision|let's|we(?:'ll| will) (?:go|take|use)|go with|chose|choose|agreed|settled on|confirm(?:ed)?)\b"
    r"|决定|选择|选了|就选|定为|定在|确定|确认|同意"
)
_DONE = re.compile(
    r"(?i)\b(?:done|booked|sent|created|finished|completed|ordered|cancelled|canceled|updated|paid|scheduled|submitted|found)\b"
    r"|已经|已|完成|办好|订好|发送了|取消了|支付了"
)
_LONGEST_LINE = 240
_MOST_LINES = 12
_PARTS_CHARACTERS = 40_000
"""Characters that are read for one summary: 3 µs each."""


class _Line(Struct, frozen=True):
    text: str
    speaker: str
    order: int
    weight: float


class Rules:
    """The summariser that needs no model."""

    __slots__ = ("_counter",)
    name = "rules"

    def __init__(self, counter: Counter) -> None:
        self._counter = counter

    async def summarise(self, task: SummaryTask) -> Summary:
        return extract(task, self._counter)


def extract(task: SummaryTask, counter: Counter) -> Summary:
    """The summary of the parts that people and models said; results speak through their pinned facts."""
    spoken = [part for part in task.parts if part.speaker in ("user", "assistant")]
    decided: list[str] = []
    done: list[str] = []
    open_: list[str] = []
    lines: list[_Line] = []
    for order, (part, saying) in enumerate(_all(spoken)):
        text = saying.text
        if len(text) > _LONGEST_LINE:
            continue
        if is_question(text):
            if part.speaker == "user" and part is spoken[-1]:
                open_.append(text)
        elif _DECIDED.search(text):
            decided.append(text)
        elif part.speaker == "assistant" and _DONE.search(text):
            done.append(text)
        elif not saying.binds or part.speaker != "user":  # those of the user are pinned
            lines.append(_Line(text, part.speaker, order, _weight(text, part.speaker)))
    room = task.tokens // 2
    return Summary(
        decisions=tuple(dict.fromkeys(decided[-_MOST_LINES:])),
        done=tuple(dict.fromkeys(done[-_MOST_LINES:])),
        open=tuple(open_[-3:]),
        narrative=_story(lines, room, counter),
    )


def _all(parts: Sequence[Part]) -> Iterator[tuple[Part, Saying]]:
    room = _PARTS_CHARACTERS
    for part in parts:
        for saying in sayings(part.text[:room]):
            yield part, saying
        room -= len(part.text)
        if room <= 0:
            return


def _weight(text: str, speaker: str) -> float:
    """Facts to the sentence, the user's sentences first."""
    facts = sum(1 for _ in keyed_facts(text))
    return min(facts, 4) / (1 + len(text) / 200) + (0.5 if speaker == "user" else 0.0)


def _story(lines: list[_Line], tokens: int, counter: Counter) -> str:
    """The weightiest sentences that fit, in the order in which they were said."""
    kept: list[_Line] = []
    for line in sorted(lines, key=lambda line: -line.weight):
        if line.weight <= 0:
            break
        size = counter.count(line.text) + 1
        if size <= tokens:
            tokens -= size
            kept.append(line)
    kept.sort(key=lambda line: line.order)
    return " ".join(line.text for line in kept)
