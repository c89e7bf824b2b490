"""Whether a new statement takes the place of an older one, and which."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.context.pins import stands_in
from orchestra.memory.hearing import Statement
from orchestra.memory.kept import Memory
from orchestra.text.terms import terms

_ALIKE = 0.6
"""The share of terms that two constraints have in common when one corrects the other."""


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
    if not said.corrects:
        return ()
    words = set(terms(said.text))
    return tuple(
        memory.number
        for memory in mine
        if not memory.key and (other := set(terms(memory.text))) and len(words & other) >= _ALIKE * len(other)
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
