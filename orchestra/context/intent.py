"""What the current input wants, read anew from its words each turn; nothing of it is carried over."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from orchestra.context.facts import find_facts
from orchestra.context.sayings import is_question, sayings

_NAMED = re.compile(
    r"(?i:\b(?:order|case|ticket|booking|reservation|project|account|invoice|shipment|flight|contract|claim|request)s?)"
    r"\s+(?:(?i:number|no\.?|id|code)\s*)?(?:is\s+)?[#:]?\s?(#?[A-Z][A-Z0-9-]{0,20}|#?[A-Za-z]*-?\d[\w-]{0,20})(?![\w])"
    r"|(?:订单|工单|案件|项目|账户|航班|发票|合同|预订|单号|编号)(?:号|编号)?(?:是|为)?\s*[:：#]?\s*(#?[A-Za-z0-9][A-Za-z0-9-]{0,20})"
)
_READ_CHARACTERS = 4_000

Wants = Literal["question", "correction", "statement"]


class Intent(Struct, frozen=True):
    """`entity`: the one order, case or other thing with an id that the input is about, "" for none or several.

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
    if not named:
        named = [fact.text for fact in find_facts(read) if fact.kind == "id" and not fact.text.isdigit()]
    once = list(dict.fromkeys(name.lstrip("#") for name in named))
    return Intent(wants, once[0] if len(once) == 1 else "", block)
