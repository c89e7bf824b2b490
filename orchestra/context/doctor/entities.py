"""Which orders, cases and other numbered things a text is about."""

from __future__ import annotations

import re

_KINDS = {
    "订单": "order",
    "工单": "ticket",
    "案件": "case",
    "项目": "project",
    "账户": "account",
    "航班": "flight",
    "发票": "invoice",
    "合同": "contract",
    "预订": "booking",
    "客户": "customer",
}
_NOUNS = (
    "order|case|ticket|booking|reservation|project|account|invoice|shipment|flight|contract"
    "|claim|request|customer"
)
_EN = re.compile(
    rf"(?i:\b(?P<kind>{_NOUNS})s?)(?:[ _]?(?i:number|no\.?"
    rf"|id))?[\"']?\s*(?:is\s+)?[#:=]?\s*[\"']?"
    rf"(?P<id>#?(?=[A-Za-z0-9-]*\d)[A-Za-z0-9][A-Za-z0-9-]{{0,20}}|[A-Z](?![A-Za-z]))"
)
_ZH = re.compile(
    rf"(?P<kind>{'|'.join(_KINDS)})(?:号|编号"
    rf"|号码)?[\"']?\s*[:：#是]?\s*[\"']?(?P<id>#?[A-Za-z0-9][A-Za-z0-9-]{{0,20}})"
)

Entity = tuple[str, str]


def entities(text: str) -> frozenset[Entity]:
    """(kind, id) of each: ("order", "a17")."""
    found = {(match["kind"].lower(), match["id"].lstrip("#").lower()) for match in _EN.finditer(text)}
    if not text.isascii():
        found |= {(_KINDS[match["kind"]], match["id"].lstrip("#").lower()) for match in _ZH.finditer(text)}
    return frozenset(found)
