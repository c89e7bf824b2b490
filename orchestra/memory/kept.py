"""What is kept across sessions, and whose it is."""

from __future__ import annotations

import time
from typing import Literal, TypedDict

from msgspec import Struct

from orchestra.errors import InputError

Kind = Literal["fact", "constraint", "answer"]

LONGEST_ID = 200


class Whose(Struct, frozen=True):
    """Whose memory a session has: a user's, a project's, or that of a user in a project; "" for none."""

    user: str = ""
    project: str = ""

    def __bool__(self) -> bool:
        return bool(self.user or self.project)

    def __str__(self) -> str:
        names = (("user", self.user), ("project", self.project))
        return ", ".join(f"{what} {name}" for what, name in names if name)


class Owner(TypedDict, total=False):
    """How a program names the two; left out or None: none."""

    user: str | None
    project: str | None


NOBODY = Whose()


def whose(owner: Owner) -> Whose:
    """Raises InputError for an id that is none."""
    return Whose(_id("user", owner.get("user")), _id("project", owner.get("project")))


def _id(what: str, given: str | None) -> str:
    if given is None:
        return ""
    name = given.strip()
    if not name:
        raise InputError(f"The {what}'s id is empty: name one, or leave it out.", key=what)
    if len(name) > LONGEST_ID or not name.isprintable():
        raise InputError(
            f"The {what}'s id is one line of at most {LONGEST_ID} characters, and not {name[:40]!r}.",
            key=what,
        )
    return name


class Memory(Struct, frozen=True, kw_only=True):
    """One thing that is kept.

    `number`: in its store, 0 before it is there. `key`: what it is found by, "" for a constraint; of an
    answer the question. `value`: the key's value; `text`: the sentence, word for word, or the answer.
    `sources`: an answer's. `always`: shown whatever the task is. `about`: what the talk was about then.
    `session`: where it was said, at `at` (seconds since the epoch). `until`: when another took its place,
    `by`: that one's number; `was`: the value before it.
    """

    kind: Kind
    text: str
    user: str = ""
    project: str = ""
    key: str = ""
    value: str = ""
    sources: tuple[str, ...] = ()
    always: bool = False
    about: str = ""
    session: str = ""
    at: float = 0.0
    number: int = 0
    until: float | None = None
    by: int | None = None
    was: str = ""

    @property
    def id(self) -> str:
        return f"m{self.number}"

    @property
    def origin(self) -> str:
        """`2026-11-30, session 20261130-...`."""
        return f"{day(self.at)}, session {self.session}"


def day(at: float) -> str:
    """The day of a time, in UTC."""
    year, month, number, *_ = time.gmtime(at)
    return f"{year}-{month:02}-{number:02}"
