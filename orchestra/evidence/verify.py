"""A draft, checked sentence by sentence."""

from __future__ import annotations

from orchestra.evidence.ledger import Ledger
from orchestra.values.drafts import Draft
from orchestra.values.handoffs import Brief
from orchestra.values.report import Report


def check_draft(draft: Draft, brief: Brief, *, ledger: Ledger, strict: bool = False) -> Report:
    """A Report whose session, usage, seconds, notes and partial are still empty (msgspec.structs.replace)."""
    raise NotImplementedError
