"""Facts by rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

Kind = Literal[
    "number", "percent", "money", "date", "time", "id", "url", "email", "name", "negation", "constraint"
]


class Fact(Struct, frozen=True):
    """`text` stands verbatim at [start, end); `value` is its normal form and `unit` its unit's, "" without."""

    kind: Kind
    text: str
    value: str
    unit: str
    start: int
    end: int


def find_facts(text: str) -> list[Fact]:
    raise NotImplementedError


def same_fact(one: Fact, other: Fact) -> bool:
    raise NotImplementedError


def missing_facts(statement: str, evidence: Iterable[str]) -> tuple[Fact, ...]:
    raise NotImplementedError
