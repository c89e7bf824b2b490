"""Known facts found by their names: precise, and silent when nothing was named.

For memories that are kept by key: a fact is found by its name or an alias and by nothing else, so that a
question about monitoring does not bring back every fact that shares a word. One slip of the pen is forgiven
in a word of four letters or more whose first two letters are right.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from msgspec import Struct

from orchestra.text.terms import stem

Kind = Literal["fact", "question", "relation"]

UNIVERSAL = "user:universal"
"""The scope of what holds wherever the user is; shown in the prelude, never looked up."""

_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")


class Known(Struct, frozen=True, kw_only=True):
    """A fact about a user or project.

    `current` False: it was superseded or resolved and never comes back. `weight`: how often it was confirmed.
    A `relation` is named by what it joins, and brings those along.
    """

    id: str
    name: str
    text: str
    aliases: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    user: str = ""
    kind: Kind = "fact"
    pinned: bool = False
    current: bool = True
    weight: int = 0
    at: str = ""


class Looked(Struct, frozen=True):
    """What a question brought back: `pinned` facts, `relevant` ones, open `questions`, and the `prelude`."""

    prelude: tuple[Known, ...]
    pinned: tuple[Known, ...]
    relevant: tuple[Known, ...]
    questions: tuple[Known, ...]


def look_up(
    question: str, known: Iterable[Known], scopes: Collection[str], *, user: str = "", most: int | None = None
) -> Looked:
    """The user's facts within the scopes; `most`: of pinned and relevant together, pinned first."""
    mine = [one for one in known if one.current and one.user == user]
    prelude = [one for one in mine if UNIVERSAL in one.scopes]
    here = [one for one in mine if UNIVERSAL not in one.scopes and set(one.scopes) & set(scopes)]
    asked = words_of(question)
    ranked = sorted(((_named(asked, one), one) for one in here), key=lambda pair: -pair[0])
    found = [one for score, one in ranked if score > 0]
    for relation in [one for one in found if one.kind == "relation"]:
        joined = words_of(relation.name)
        found += [one for one in here if one not in found and one.kind == "fact" and _named(joined, one) > 0]
    pinned = sorted(
        (one for one in here if one.pinned and one.kind != "question"),
        key=lambda one: (one.weight, one.at),
        reverse=True,
    )
    questions = [one for one in here if one.kind == "question" and (one.pinned or one in found)]
    relevant = [one for one in found if not one.pinned and one.kind != "question"]
    if most is not None:
        pinned = pinned[:most]
        relevant = relevant[: most - len(pinned)]
    return Looked(tuple(prelude), tuple(pinned), tuple(relevant), tuple(questions))


def words_of(text: str) -> list[str]:
    """Lower-case words in their order; Chinese by single characters."""
    return _WORD.findall(text.lower())


def _named(asked: Sequence[str], one: Known) -> float:
    """How well a text names a fact: the longest of its names that stands in it, whole names before slips."""
    best = 0.0
    for name in (one.name, *one.aliases):
        parts = words_of(name)
        if not parts:
            continue
        for start in range(len(asked) - len(parts) + 1):
            window = asked[start : start + len(parts)]
            slips = sum(here != there for here, there in zip(window, parts, strict=True))
            if all(alike(here, there) for here, there in zip(window, parts, strict=True)):
                best = max(best, len(parts) - 0.5 * slips / len(parts))
    return best


def alike(here: str, there: str) -> bool:
    """The same word or stem, or one slip away: a letter too many, too few, another, or two changed round."""
    if here == there or stem(here) == stem(there):
        return True
    if min(len(here), len(there)) < 4 or here[:2] != there[:2] or abs(len(here) - len(there)) > 1:
        return False
    least = min(len(here), len(there))
    at = next((n for n in range(least) if here[n] != there[n]), least)
    one, other = here[at:], there[at:]
    swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return swapped or one[1:] == other or one == other[1:] or one[1:] == other[1:]
