"""A long conversation with large results: within its budget, and with what was said first."""

from __future__ import annotations

import anyio
import pytest

from benchmarks.longtalk import measure


@pytest.mark.parametrize("policy", ["chat", "tools"])
def test_early_facts_outlive_large_results(policy: str) -> None:
    """45 turns, 300 tools, two results of a megabyte; the benchmark of that name has 300 turns and times."""
    found = anyio.run(measure, 45, policy, False)
    assert found.large_results == 2
    assert found.compactions > 2
    assert found.over_budget == 0
    assert found.peak <= 1
    assert found.facts == 1
