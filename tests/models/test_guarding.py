"""Governors, retries and fallback as they stand together around configured models."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from orchestra.config.load import load_settings
from orchestra.load.behaviour import Behaviour, Faults
from orchestra.load.simulated import simulated
from orchestra.models.configured import configured_models
from orchestra.models.governor.breaker import FAILURES
from orchestra.models.guarding import Guard
from tests.models.opened import asks

pytestmark = pytest.mark.anyio

TWO = """
[endpoints.first]
url = "{first}"
tries = 1
{more}
[endpoints.second]
url = "{second}"
[tiers.small]
endpoint = "first"
model = "m"
window = 32000
fallback = ["spare"]
[tiers.spare]
endpoint = "second"
model = "n"
window = 32000
"""


async def test_an_endpoint_that_is_down_is_left_alone_and_another_answers(tmp_path: Path) -> None:
    """Every call is answered; after eight failures the first endpoint is not asked any more."""
    guard = Guard()
    async with simulated(Behaviour(faults=Faults(error_503=1.0))) as first, simulated() as second:
        (tmp_path / "orchestra.toml").write_text(TWO.format(first=first.url, second=second.url, more=""))
        settings = load_settings(environ={}, folder=tmp_path).settings
        async with configured_models(settings, {}, count=len, guard=guard) as tiers:
            for _ in range(FAILURES + 5):
                assert (await tiers["small"].reply(asks())).model == "n"
    assert first.served.requests == FAILURES
    assert second.served.replies == FAILURES + 5
    assert guard.statistics["first"].circuit == "open"
    assert (guard.statistics["second"].calls, guard.statistics["second"].in_flight) == (FAILURES + 5, 0)


async def test_what_a_person_set_is_kept(tmp_path: Path) -> None:
    """Calls at once and tokens a minute of the configuration are those of the endpoint's governor."""
    guard = Guard()
    more = "concurrent_calls = 2\ntokens_per_minute = 100_000\n"
    async with simulated() as first, simulated() as second:
        (tmp_path / "orchestra.toml").write_text(TWO.format(first=first.url, second=second.url, more=more))
        settings = load_settings(environ={}, folder=tmp_path).settings
        async with (
            configured_models(settings, {}, count=len, guard=guard) as tiers,
            anyio.create_task_group() as group,
        ):
            for number in range(12):
                group.start_soon(tiers["small"].reply, asks(session=str(number), tokens=10))
    seen = guard.statistics["first"]
    assert (seen.concurrent_calls, seen.tokens_per_minute) == (2, 100_000)
    assert (first.served.replies, first.served.busiest <= 2, seen.waits) == (12, True, 10)


async def test_a_long_pause_is_left_to_the_other_endpoint(tmp_path: Path) -> None:
    """Where another endpoint can answer, nobody waits for a minute."""
    guard = Guard()
    limited = Behaviour(requests_per_minute=1)
    async with simulated(limited) as first, simulated() as second:
        (tmp_path / "orchestra.toml").write_text(TWO.format(first=first.url, second=second.url, more=""))
        settings = load_settings(environ={}, folder=tmp_path).settings
        async with configured_models(settings, {}, count=len, guard=guard) as tiers:
            models = [(await tiers["small"].reply(asks())).model for _ in range(4)]
    assert models == ["m", "n", "n", "n"]
    assert first.served.requests == 2
