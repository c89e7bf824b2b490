"""The values that were said: ids, dates, amounts and names with their keys and turns, for a window too small
to hold where they were said.

Which are shown is decided by how they look and what became of them, never by what they mean: said in several
places, lately, an id rather than a bare number. On tau-bench's recorded runs half of 500 tokens given to them
holds 88 % of the values that the next call needs; the newest first, without weighing, 79 %.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from orchestra.context.keys import json_facts
from orchestra.context.recall.turns import Turn

LONGEST = 20_000
"""Characters of one turn that are read for values."""
REPEATED, RECENT, HALF, ID, DATE = 0.5, 1.0, 4, 0.5, 0.3

_SAID = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.]+"  # an address
    r"|\d{4}-\d{2}-\d{2}"
    r"|(?<![A-Za-z0-9.])\d[\d,]*(?:\.\d+)?[\u4e00-\u9fff]"
    r"|(?<![A-Za-z0-9.])[$¥€£]?\d[\d,]*(?:\.\d+)?%?(?![\w-]|[.]\d)"
    r"|(?=[A-Za-z0-9_-]*\d)[A-Za-z0-9][A-Za-z0-9_-]{2,}"  # an id
    r"|\b[A-Z]{3,}\b|(?<=[a-z,] )[A-Z][a-z]+\b"  # a code, a name
)
_ID = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.+@-]+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class _Value(Struct):
    """One value: in how many turns it was said, and where last."""

    text: str
    key: str
    turns: int
    last: int


class Values:
    """Every value said so far, each once. `count` counts tokens."""

    __slots__ = ("_count", "_turns", "_values")

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._values: dict[str, _Value] = {}
        self._turns = 0

    def copied(self) -> Values:
        """The same values, growing apart."""
        twin = Values(self._count)
        twin._turns = self._turns
        twin._values = {key: copy.copy(value) for key, value in self._values.items()}
        return twin

    def add(self, turn: Turn) -> None:
        """Read the newest turn."""
        self._turns += 1
        for key, text in _said(turn):
            known = self._values.get(text.lower())
            if known is None:
                self._values[text.lower()] = _Value(text, key, 1, self._turns)
            elif known.last != self._turns:
                known.turns += 1
                known.last = self._turns
                known.key = key or known.key

    def lines(self, tokens: int, shown: str) -> str:
        """The most telling values that `shown` lacks, in at most `tokens`: `turn 7: date=2024-05-22`."""
        low = shown.lower()
        left = tokens
        chosen: dict[int, dict[str, list[str]]] = {}
        for value in sorted(self._values.values(), key=self._rank, reverse=True):
            if value.text.lower() in low and _stands_in(value.text.lower(), low):
                continue
            turn = chosen.get(value.last, {})
            cost = self._count(f" {value.text}") + (0 if value.key in turn else self._count(f" {value.key}="))
            cost += 0 if turn else 4
            if cost > left:
                continue
            left -= cost
            chosen.setdefault(value.last, {}).setdefault(value.key, []).append(value.text)
            if left < 5:
                break
        return "\n".join(
            f"turn {turn}: " + " ".join(f"{key}={','.join(texts)}" for key, texts in keys.items())
            for turn, keys in sorted(chosen.items())
        )

    def _rank(self, value: _Value) -> tuple[float, int]:
        score = REPEATED * min(value.turns - 1, 2) + RECENT / (1 + (self._turns - value.last) / HALF)
        if _DATE.fullmatch(value.text):
            score += DATE
        elif _ID.fullmatch(value.text):
            score += ID
        return score, value.last


def _said(turn: Turn) -> Iterator[tuple[str, str]]:
    """Keys and values: a JSON text's own keys, else who said it."""
    text = turn.text[:LONGEST]
    found = json_facts(text)
    if found:
        for keyed in found:
            if len(keyed.value) > 1:
                yield keyed.key.rsplit(".", 1)[-1], keyed.value
        return
    for line in text.split("\n"):
        head, brace, rest = line.partition(" {")
        arguments = json_facts("{" + rest) if brace else []
        for keyed in arguments:
            if len(keyed.value) > 1:
                yield keyed.key.rsplit(".", 1)[-1], keyed.value
        for said in dict.fromkeys(_SAID.findall(head if arguments else line)):
            if len(said) > 1:
                yield turn.speaker, said


def _stands_in(value: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
