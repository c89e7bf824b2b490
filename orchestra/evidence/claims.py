"""A researcher's findings, checked."""

from __future__ import annotations

from orchestra.evidence.ledger import Ledger
from orchestra.values.drafts import Findings
from orchestra.values.handoffs import Study


def check_findings(findings: Findings, *, ledger: Ledger, agent: str, question: str) -> Study:
    """`findings` with every quote located in its source; what could not be kept is named in `dropped`."""
    raise NotImplementedError
