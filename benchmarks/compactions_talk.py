"""The conversation of `benchmarks.compactions`: 60 turns, 40 planted facts, 3 corrections.

English and Chinese; the words are in the JSON file beside this one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
from msgspec import Struct

TURNS = 60


class Planted(Struct, frozen=True):
    """`value` stands in `text`, which `who` says in `turn`. `question` asks for it.

    `flip`: what a summary says that lost or gained a negation; "" for a figure or a name.
    `until`: the turn in which it is corrected, 0 for never.
    """

    turn: int
    who: str
    text: str
    value: str
    question: str
    flip: str = ""
    until: int = 0


class _Talk(Struct, frozen=True):
    said: tuple[str, ...]
    answered: tuple[str, ...]
    planted: tuple[Planted, ...]


_TALK = msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes(), type=_Talk)
PLANTED = _TALK.planted


def filler(turn: int) -> tuple[str, str]:
    """What user and assistant say in a turn beside the planted facts: no figure, name or constraint."""
    return _TALK.said[turn % len(_TALK.said)], _TALK.answered[turn % len(_TALK.answered)]


def said(turn: int, who: str) -> list[str]:
    return [fact.text for fact in PLANTED if fact.turn == turn and fact.who == who]


def wrong_digit(text: str) -> str:
    """The last digit of a text that is not a zero, one higher; the same text without one."""
    at = max((match.start() for match in re.finditer(r"[1-8]", text)), default=-1)
    return text if at < 0 else f"{text[:at]}{int(text[at]) + 1}{text[at + 1 :]}"


def as_json() -> str:
    """The talk for peers, which run in environments of their own: a list of turns of {role, text}."""
    turns = []
    for turn in range(1, TURNS + 1):
        user, assistant = filler(turn)
        told = [{"role": "user", "text": " ".join((user, *said(turn, "user")))}]
        told += [{"role": "tool", "text": text} for text in said(turn, "tool")]
        told.append({"role": "assistant", "text": " ".join((*said(turn, "assistant"), assistant))})
        turns.append(told)
    return json.dumps({"turns": turns})
