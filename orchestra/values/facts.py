"""A fact: what a text says that can be compared letter by letter or by value."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FactKind = Literal[
    "number", "percent", "money", "date", "time", "id", "url", "email", "name", "negation", "constraint"
]


class Fact(Struct, frozen=True, gc=False):
    """`text` stands verbatim at [start, end) of the text it was found in.

    `value` is the normal form: a decimal number with its scale multiplied out ("1200000"), a date's known
    parts ("2024-03-05", "--03-05", "2024-Q3", "w1" for Monday), a time of 24 hours ("15:30"), an id or a
    name in lower case, a clause in folded words. `unit`: a symbol ("mg", "%", "USD", "ordinal"), "" without.
    """

    kind: FactKind
    text: str
    value: str
    unit: str
    start: int
    end: int
