"""What one request leads to: each further call is paid for, and a check that was throttled proves nothing."""

from __future__ import annotations

import msgspec
import pytest
from pydantic import BaseModel

from orchestra.errors import OutputInvalid
from tests.models.loopback import call, completion, error, serving
from tests.models.opened import SEARCH, asks, opened, output

pytestmark = pytest.mark.anyio


class Answer(BaseModel):
    n: int


async def test_a_repair_that_cannot_be_paid_is_not_made() -> None:
    """The failure is raised with what the first call cost; the question was for a longer prompt."""
    asked: list[int] = []

    def afford(more: int) -> bool:
        asked.append(more)
        return False

    async with serving(completion('{"m": 3}'), completion('{"n": 3}')) as server, opened(server.url) as model:
        with pytest.raises(OutputInvalid) as caught:
            await model.reply(asks(output=output(Answer), afford=afford))
    assert len(server.seen) == 1
    assert caught.value.usage.calls == 1
    assert asked == [len('{"m": 3}') + 1_000]


async def test_a_repair_that_can_be_paid_is_made() -> None:
    """And where nobody minds, too."""
    for afford in (lambda more: True, None):
        async with (
            serving(completion('{"m": 3}'), completion('{"n": 3}')) as server,
            opened(server.url) as model,
        ):
            reply = await model.reply(msgspec.structs.replace(asks(output=output(Answer)), afford=afford))
        assert (reply.value, reply.usage.calls) == (Answer(n=3), 2)


async def test_a_throttled_check_is_no_failed_one() -> None:
    """The reply that raised the doubt is good; the next one that does is followed by the check again."""
    words, slow = completion("No need to search."), error(429, "Slow down.")
    ready = completion(None, calls=[call("report_ready", '{"ready": true}')])
    async with serving(words, slow, words, ready, words) as server, opened(server.url, quirks={}) as model:
        for calls in (1, 2, 1):
            reply = await model.reply(asks(tools=(SEARCH,)))
            assert (reply.text, reply.usage.calls) == ("No need to search.", calls)
    assert all("tools" in seen.body for seen in server.seen)
    assert len(server.seen) == 5
