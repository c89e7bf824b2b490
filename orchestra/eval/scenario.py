"""What a scenario says, as values."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from orchestra.values.messages import ToolSpec

Behaviour = Literal["faithful", "forgets", "fails", "refuses", "lies", "repeats", "empty", "longer"]
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)
"""How the small model sums up: what is there; without every third fact; an endpoint's error; "I cannot";
wrong values; one sentence over and over; nothing; longer than what it covers."""

PLACES = (
    "fixed",
    "tools",
    "memory",
    "knowledge",
    "history",
    "state",
    "input",
    "pins",
    "summary",
    "recalled",
    "ledger",
    "results",
)
"""Where in a prompt something may be looked for: its zones, and some of what stands in them."""


class Expected(Struct, frozen=True, kw_only=True):
    """One of these texts stands in a prompt (or, of what is hidden, none does).

    `where`: one of PLACES, "" for anywhere. `most`: at most so often, None for as often as it likes.
    `line`: of the file.
    """

    texts: tuple[str, ...]
    where: str = ""
    most: int | None = None
    line: int = 0

    def __str__(self) -> str:
        told = " or ".join(f'"{text}"' for text in self.texts)
        return f"{told} in {self.where}" if self.where else told


class KeyFact(Struct, frozen=True, kw_only=True):
    """What has to be known. `spellings`: any of them will do. `wrong`: values that nobody ever said.

    `old`: values that it had before; once the new one was said they stand in no prompt without their mark.
    """

    name: str
    spellings: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    old: tuple[str, ...] = ()


class Generated(Struct, frozen=True, kw_only=True):
    """A long result made up on the spot. `holds`: place in it, 0 to 1, and a text that stands there."""

    kind: Literal["log", "rows", "page", "prose"]
    size: int
    holds: tuple[tuple[float, str], ...] = ()
    seed: int = 0


class Result(Struct, frozen=True, kw_only=True):
    """What a call brings: a text ("" for nothing), an error, something generated, or the last one again."""

    text: str = ""
    error: str = ""
    generated: Generated | None = None
    again: bool = False


class Call(Struct, frozen=True, kw_only=True):
    """`arguments`: JSON. `result` None: the product's own tool answers (recall, update_state)."""

    tool: str
    arguments: str
    result: Result | None = None


Step = tuple[Call, ...]
"""Calls of one reply."""


class Turn(Struct, frozen=True, kw_only=True):
    """What a user says, what the scripted model does then, and what its prompts must be like.

    `shows`, `needs` (names of key facts): of the turn's last prompt. `hides`: of all of them. `answer`: of
    the reply, which only a live model can get wrong. `occupancy`: of the budget, at most, 0 to 1.
    """

    user: str
    by: str = ""
    steps: tuple[Step, ...] = ()
    reply: str
    shows: tuple[Expected, ...] = ()
    hides: tuple[Expected, ...] = ()
    needs: tuple[str, ...] = ()
    answer: tuple[Expected, ...] = ()
    occupancy: float | None = None
    line: int = 0


class Scenario(Struct, frozen=True, kw_only=True):
    """One talk with its checks. `mechanisms`: without any one of them it is expected to fail.

    `window` in tokens, of the model. `summaries`: how the small model sums up, one after another and over
    again. `story`: what a faithful summary tells beside facts. `own_tools`: the product's own that the
    role lists.
    """

    name: str
    title: str
    language: str = "en"
    mechanisms: tuple[str, ...] = ()
    window: int = 4_000
    instructions: str = "You are a helpful assistant."
    tools: tuple[ToolSpec, ...] = ()
    own_tools: tuple[str, ...] = ()
    summaries: tuple[Behaviour, ...] = ("faithful",)
    story: str = ""
    facts: tuple[KeyFact, ...] = ()
    turns: tuple[Turn, ...]
    file: str = ""

    def fact(self, name: str) -> KeyFact:
        return next(fact for fact in self.facts if fact.name == name)

    @property
    def users(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(turn.by for turn in self.turns))
