"""The simulated endpoint, asked by our own adapter."""

from __future__ import annotations

import anyio
import pytest
from pydantic import BaseModel

from orchestra.errors import ContextTooLong, ModelRefused, ModelThrottled, ModelUnreachable
from orchestra.load.behaviour import Behaviour, Faults, Latency
from orchestra.load.research_script import Research
from orchestra.load.simulated import simulated
from orchestra.values.drafts import Draft, Findings, Plan
from orchestra.values.messages import Message, Request, ToolCall
from tests.models.opened import SEARCH, all_closed, asks, opened, output

pytestmark = pytest.mark.anyio


class Answer(BaseModel):
    n: int
    words: list[str]


async def test_plain_replies_are_counted_exactly() -> None:
    """What clients were told adds up to what the endpoint says it served, streamed or not."""
    told = [0, 0]
    async with simulated(Behaviour(reply_tokens=7)) as endpoint:
        async with opened(endpoint.url) as model, anyio.create_task_group() as group:

            async def ask(stream: bool) -> None:
                items = (
                    [item async for item in model.stream(asks())] if stream else [await model.reply(asks())]
                )
                usage = items[-1].usage  # type: ignore[union-attr]
                told[0] += usage.input_tokens
                told[1] += usage.output_tokens

            for place in range(40):
                group.start_soon(ask, place % 2 == 0)
        await all_closed(endpoint)
    served = endpoint.served
    assert (served.requests, served.replies, served.streams) == (40, 40, 20)
    assert told == [served.input_tokens, served.output_tokens]


async def test_schemas_get_values() -> None:
    """A request with a schema is answered with a value that fits it."""
    async with simulated() as endpoint, opened(endpoint.url) as model:
        reply = await model.reply(asks(output=output(Answer)))
    assert reply.value == Answer(n=1, words=["text"])


async def test_rates_and_windows() -> None:
    """Beyond its rates it throttles and says for how long; beyond its window it refuses."""
    behaviour = Behaviour(requests_per_minute=1, window=1_000)
    async with simulated(behaviour) as endpoint, opened(endpoint.url) as model:
        await model.reply(asks())
        with pytest.raises(ModelThrottled) as throttled:
            await model.reply(asks())
        with pytest.raises(ContextTooLong) as long:
            await model.reply(asks("x" * 10_000))
    assert 59 <= (throttled.value.retry_after or 0) <= 61
    assert long.value.window == 1_000
    assert endpoint.served.statuses == {429: 1, 400: 1}


@pytest.mark.parametrize("fault", ["drop", "cut", "error_500", "error_503", "error_429", "not_json"])
async def test_faults(fault: str) -> None:
    """Each fault is met as an error of the right kind, and counted."""
    async with (
        simulated(Behaviour(faults=Faults(**{fault: 1.0}))) as endpoint,
        opened(endpoint.url) as model,
    ):
        with pytest.raises(ModelThrottled if fault == "error_429" else ModelUnreachable):
            await model.reply(asks())
    assert endpoint.served.faults == {fault: 1}


async def test_abandoned() -> None:
    """A client that goes away in the middle of a slow stream is counted as such, at once."""
    slow = Latency(first_seconds=0.001, token_seconds=5.0)
    async with simulated(Behaviour(latency=slow)) as endpoint, opened(endpoint.url) as model:
        with anyio.move_on_after(0.2):
            async for _ in model.stream(asks()):
                pass
        with anyio.fail_after(2):
            while not endpoint.served.abandoned:
                await anyio.lowlevel.checkpoint()
    assert endpoint.served.in_flight == 0


async def test_key() -> None:
    """The wrong key is refused, and the error does not show it."""
    async with simulated(Behaviour(key="right")) as endpoint, opened(endpoint.url, key="wrong-key") as model:
        with pytest.raises(ModelRefused, match="Check the key of endpoint here") as refused:
            await model.reply(asks())
    assert "wrong-key" not in str(refused.value)


PASSAGE = """[s1] pep.rst | A PEP | Rationale
```
The quick rule came first. It was accepted in 2015 by the council.
```"""


CLAIMS = """Claims
```
{"id":"c1","question":1,"claim":"It was accepted.","quotes":[]}
```"""


def studying(messages: list[Message]) -> Request:
    return Request(messages=tuple(messages), tools=(SEARCH,), output=output(Findings))


async def test_research_roles() -> None:
    """It plans from the question, searches, quotes what the search returned, and writes from the claims."""
    async with simulated(Behaviour(scripts=(Research(),))) as endpoint, opened(endpoint.url) as model:
        question = "Question: What is a wheel and who accepted it?"
        plan = (await model.reply(asks(question, output=output(Plan)))).value
        assert plan.questions[:2] == ("What is a wheel?", "who accepted it?")
        messages = [*asks(question).messages]
        for turn in range(2):
            reply = await model.reply(
                Request(messages=tuple(messages), tools=(SEARCH,), output=output(Findings))
            )
            (call,) = reply.calls
            assert call.name == "search"
            messages += [
                Message(role="assistant", calls=(ToolCall(f"c{turn}", "search", call.arguments),)),
                Message(role="tool", text=PASSAGE, call_id=f"c{turn}"),
            ]
        reply = await model.reply(studying(messages))
        (claim,) = reply.value.claims
        assert claim.quotes[0].source == "s1"
        assert claim.quotes[0].text in PASSAGE
        brief = f"{question}\nTitle: Wheels\n{CLAIMS}"
        draft = (await model.reply(asks(brief, output=output(Draft)))).value
    assert draft.title == "Wheels"
    assert draft.sections[0].sentences[0].claims == ("c1",)
