"""Whether a new statement takes the place of an older one, and which."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestra.context.pinned import stands_in
from orchestra.memory.hearing import Statement
from orchestra.memory.kept import Memory
from orchestra.text.terms import terms

_ALIKE = 0.75
"""The share of an older constraint's terms that one has which corrects it; one too many harms less."""
_LANGUAGE = re.compile(
    r"(?i)\bin (?:English|Chinese|German|French|Spanish|Japanese|Italian|Portuguese|Russian|Korean|Dutch)\b"
    r"|用(?:中文|英文|英语|日语|法语|德语)"
)


def replaced(said: Statement, holding: Sequence[Memory]) -> tuple[int, ...] | None:
    """The numbers of what it takes the place of; None where it says nothing new and is not kept."""
    mine = [memory for memory in holding if memory.kind != "answer"]
    if any(_folded(memory.text) == _folded(said.text) and memory.key == said.key for memory in mine):
        return None
    if not said.key:
        return _constraints(said, mine)
    found = [memory for memory in mine if memory.key and _same_key(memory.key, said.key)]
    if any(_folded(memory.value) == _folded(said.value) for memory in found):
        return None
    if said.corrects:
        found += [memory for memory in mine if memory not in found and _is_corrected(memory, said)]
    if found and (said.named or said.corrects):
        return tuple(memory.number for memory in found)
    return None if said.loose else ()


def _constraints(said: Statement, mine: Sequence[Memory]) -> tuple[int, ...]:
    language = _LANGUAGE.search(said.text) is not None
    if not said.corrects and not language:
        return ()
    words = set(terms(said.text))
    return tuple(
        memory.number
        for memory in mine
        if not memory.key
        and (
            (language and _LANGUAGE.search(memory.text))
            or (
                said.corrects
                and len(words & set(terms(memory.text))) >= _ALIKE * len(set(terms(memory.text)))
            )
        )
    )


def _is_corrected(memory: Memory, said: Statement) -> bool:
    """Whether the correction names what the memory is about, or the value that no longer holds."""
    if not memory.key:
        return False
    about = set(terms(memory.key))
    named = bool(about) and about <= set(terms(said.text))
    return named or (bool(memory.value) and stands_in(memory.value, said.text))


def _same_key(one: str, other: str) -> bool:
    return terms(one) == terms(other) if terms(one) else one == other


def _folded(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".!。！")
