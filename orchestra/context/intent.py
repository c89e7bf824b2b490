"""What the current input wants, read anew from its words each turn; nothing of it is carried over."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from orchestra.context.sayings import is_question, sayings

_NAMED = re.compile(
    r"(?i:\b(?:order|case|ticket|booking|reservation|project|account|invoice|shipment|flight|contract"
    r"|claim|request)s?)"
    r"\s+(?:(?i:number|no\.?|id)\s*)?[#:]?\s?(#?[A-Z][A-Z0-9-]{0,20}|#?[A-Za-z]*-?\d[\w-]{0,20})(?![\w])"
    r"|(?:订单|工单|案件|项目|账户|航班|发票|合同|预订)(?:号"
    r"|编号)?\s*[:：#]?\s*(#?[A-Za-z0-9][A-Za-z0-9-]{0,20})"
)
_READ_CHARACTERS = 4_000

Wants = Literal["question", "correction", "statement"]


class Intent(Struct, frozen=True):
    """`entity`: the one order, case or other thing that the input names ("order A17"), "" for none or more;
    "the order number is A17" states a fact and does not change what the talk is about.

    `block`: the number of the input.
    """

    wants: Wants
    entity: str
    block: int


def intent_of(text: str, block: int) -> Intent:
    """By rule: its last sentence decides what it wants, its ids what it is about."""
    read = text[:_READ_CHARACTERS]
    said = list(sayings(read))
    wants: Wants = "statement"
    if any(saying.corrects for saying in said):
        wants = "correction"
    elif said and is_question(said[-1].text):
        wants = "question"
    named = [match[1] or match[2] for match in _NAMED.finditer(read)]
    once = list(dict.fromkeys(name.lstrip("#") for name in named))
    return Intent(wants, once[0] if len(once) == 1 else "", block)
