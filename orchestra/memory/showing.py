"""Which memories a task gets: what always holds, what it names, and answers to questions like it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from orchestra.context.names import find_names
from orchestra.context.recall.index import RecallIndex
from orchestra.context.recall.named import UNIVERSAL, Known, look_up
from orchestra.context.recall.turns import Turn
from orchestra.memory.kept import Memory
from orchestra.tools.history import request_terms

SAID = "remembered from earlier sessions"
ANSWERED = "answered earlier in this project"
ANSWERS = 3
"""Earlier answers that a task gets at most."""
ALIKE = 0.5
"""The share of a task's words that an earlier question and its answer have to hold."""
_SEARCHED = 4_000
_HERE = "here"
_WORD = re.compile(r"[^\W\d_][\w'-]{2,}")
_COMMON = frozenset(
    "the and for with from this that these those new old name number first last current".split()
)

Count = Callable[[str], int]


class Shown(Struct, frozen=True):
    """One block of a prompt's memory zone; `tokens` of its text; `memories`: the numbers of what it holds."""

    source: str
    text: str
    why: str
    at: float
    tokens: int
    memories: tuple[int, ...]


class Shelf:
    """What is known to one session, and what finds it."""

    def __init__(self, known: Sequence[Memory], count: Count) -> None:
        self._count = count
        self._said = [memory for memory in known if memory.kind != "answer"]
        self._answers = {memory.id: memory for memory in known if memory.kind == "answer"}
        self._index: RecallIndex | None = None

    def __len__(self) -> int:
        return len(self._said) + len(self._answers)

    def shown(
        self, task: str, tokens: int, *, answers: bool, skip: frozenset[int] = frozenset()
    ) -> tuple[Shown, ...]:
        """The blocks for a task, at most so many tokens together, without `skip`; answers have what
        statements leave.
        """
        said = [memory for memory in self._statements(task) if memory.number not in skip]
        block = _block(SAID, said, tokens, self._count)
        blocks = [block] if block is not None else []
        if answers and self._answers:
            past = [memory for memory in self._alike(task) if memory.number not in skip]
            left = tokens - sum(each.tokens for each in blocks)
            block = _block(ANSWERED, past, left, self._count)
            blocks += [block] if block is not None else []
        return tuple(blocks)

    def _statements(self, task: str) -> list[Memory]:
        """What binds, what holds always, then what the task names; each newest first."""
        by_id = {memory.id: memory for memory in self._said}
        found = look_up(task, [_known(memory) for memory in self._said if memory.key], (_HERE,))
        named = [by_id[one.id] for one in found.relevant]
        always = [memory for memory in self._said if memory.always]
        asked = request_terms(task)
        topical = [
            memory
            for memory in self._said
            if not memory.key
            and not memory.always
            and _share(asked, f"{memory.about} {memory.text}") >= ALIKE
        ]
        constraints = [memory for memory in (*always, *topical) if not memory.key]
        ranked = (
            *sorted(constraints, key=_newest),
            *sorted((memory for memory in always if memory.key), key=_newest),
            *named,
        )
        return list({memory.number: memory for memory in ranked}.values())

    def _alike(self, task: str) -> list[Memory]:
        if self._index is None:
            self._index = RecallIndex(self._count)
            for memory in self._answers.values():
                text = f"{memory.key}\n{memory.text}"
                self._index.add(Turn(id=memory.id, speaker="", text=text, time=memory.at, session=memory.id))
        asked = request_terms(task)
        found = self._index.recall(task, _SEARCHED)
        ranked = sorted(found.hits, key=lambda hit: -hit.score)
        memories = [self._answers[hit.id] for hit in ranked]
        return [m for m in memories if _share(asked, f"{m.key}\n{m.text}") >= ALIKE][:ANSWERS]


def _known(memory: Memory) -> Known:
    """Found by its key, by each telling word of it, and by the names in its sentence."""
    words = {word for word in _WORD.findall(memory.key) if word.lower() not in _COMMON}
    names = {memory.text[name.start : name.end] for name in find_names(memory.text)}
    scopes = (UNIVERSAL,) if memory.always else (_HERE,)
    aliases = tuple(sorted(words | names))
    return Known(id=memory.id, name=memory.key, text=memory.text, aliases=aliases, scopes=scopes)


def _share(asked: dict[str, float], text: str) -> float:
    """The part of a task's words that a text holds."""
    there = request_terms(text)
    whole = sum(asked.values())
    return sum(weight for term, weight in asked.items() if term in there) / whole if whole else 0.0


def _block(source: str, found: Iterable[Memory], tokens: int, count: Count) -> Shown | None:
    """As many as fit, in the order of their worth, shown in the order of time."""
    kept: list[tuple[Memory, str]] = []
    left = tokens
    for memory in found:
        text = _answer(memory) if memory.kind == "answer" else _line(memory)
        size = count(text) + 1
        if size <= left:
            kept.append((memory, text))
            left -= size
    if not kept:
        return None
    kept.sort(key=lambda pair: pair[0].number)
    parting = "\n\n" if source == ANSWERED else "\n"
    numbers = tuple(memory.number for memory, _ in kept)
    why = f"{len(kept)} kept from earlier sessions: {', '.join(memory.id for memory, _ in kept)}"
    text = parting.join(text for _, text in kept)
    return Shown(source, text, why, kept[-1][0].at, count(text), numbers)


def _line(memory: Memory) -> str:
    before = f"; before: {memory.was}" if memory.was else ""
    return f"- {' '.join(memory.text.split())} ({memory.origin}{before})"


def _answer(memory: Memory) -> str:
    lines = [f"Asked: {' '.join(memory.key.split())} ({memory.origin})", f"Answer: {memory.text}"]
    if memory.sources:
        lines.append(f"Sources: {', '.join(memory.sources)}")
    return "\n".join(lines)


def _newest(memory: Memory) -> tuple[float, int]:
    return (-memory.at, -memory.number)
