"""Limits that nobody set, learnt from what endpoints say; and the governor around a model."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint

from orchestra.errors import ModelRefused, ModelThrottled, ModelUnreachable, Overloaded
from orchestra.models.fallback import Fallback
from orchestra.models.governed import Governed
from orchestra.models.governor.governor import Governor
from orchestra.models.governor.said import Said, Window, family_of, of_headers, of_words
from orchestra.models.guarding import Guard
from orchestra.models.opening import Outlook, open_models
from orchestra.models.scripted import HANG, Scripted
from orchestra.models.settings import Endpoint, Rates, TierSetting
from orchestra.values.messages import Message, Reply, Request
from orchestra.values.usage import Usage
from tests.models.loopback import completion, error, http, serving
from tests.models.opened import asks
from tests.models.ticking import Ticking

pytestmark = pytest.mark.anyio

OPENAI = {
    "x-ratelimit-limit-requests": "5000",
    "x-ratelimit-remaining-requests": "4999",
    "x-ratelimit-reset-requests": "12ms",
    "x-ratelimit-limit-tokens": "160000",
    "x-ratelimit-remaining-tokens": "159000",
    "x-ratelimit-reset-tokens": "375ms",
}
GROQ = {
    "x-ratelimit-limit-requests": "14400",
    "x-ratelimit-remaining-requests": "14370",
    "x-ratelimit-reset-requests": "2m59.56s",
    "x-ratelimit-limit-tokens": "18000",
    "x-ratelimit-remaining-tokens": "17997",
    "x-ratelimit-reset-tokens": "7.66ms",
}
MISTRAL = {"x-ratelimit-limit-tokens-minute": "50000", "x-ratelimit-remaining-tokens-minute": "1000"}
ANTHROPIC = {
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "49",
    "anthropic-ratelimit-requests-reset": "2026-11-30T08:00:00Z",
}
FIXED_WINDOW = {
    "x-ratelimit-limit-requests": "100",
    "x-ratelimit-remaining-requests": "99",
    "x-ratelimit-reset-requests": "55s",
}


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        (OPENAI, Said(Window(5_000, 4_999), Window(160_000, 159_000))),
        (GROQ, Said(Window(10), Window(18_000, 17_997))),
        (MISTRAL, Said(None, Window(50_000, 1_000))),
        (ANTHROPIC, Said(Window(50, 49), None)),
        (FIXED_WINDOW, Said(Window(100, 99), None)),
    ],
    ids=["openai", "groq", "mistral", "anthropic", "fixed window"],
)
def test_headers(headers: dict[str, str], said: Said) -> None:
    """Each house's headers; a limit of a day (Groq's requests) is known by the time it takes to refill."""
    family = family_of(headers)
    assert family is not None
    assert of_headers(headers, family) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "Rate limit reached for gpt-6 in organization org-1 on tokens per min (TPM): Limit 30000, "
            "Used 29000, Requested 2500. Please try again in 3s.",
            Said(tokens=Window(30_000, 1_000)),
        ),
        ("on requests per min (RPM): Limit 3, Used 3, Requested 1.", Said(requests=Window(3, 0))),
        (
            "on tokens per min. Limit: 40,000 / min. Current: 39,000 / min.",
            Said(tokens=Window(40_000, 1_000)),
        ),
        ("exceed the rate limit of 40,000 input tokens per minute", Said(tokens=Window(40_000, 0))),
        ("on requests per day (RPD): Limit 200, Used 200, Requested 1.", None),
        ("Slow down.", None),
    ],
)
def test_words_of_a_429(words: str, said: Said | None) -> None:
    """A limit that is named in the body is taken over; one of a day or none at all is not guessed."""
    assert of_words(words) == said


def test_what_is_learnt_holds() -> None:
    """A learnt limit is in force from then on, and never above what a person set."""
    here = Governor("here", Rates(tokens_per_minute=20_000), clock=Ticking())
    here.heard(Said(Window(100, 50), Window(30_000, 25_000)))
    assert here.statistics.tokens_per_minute == 20_000
    assert here.statistics.requests_per_minute == 100
    here.heard(Said(None, Window(10_000, 300)))
    assert here.statistics.tokens_per_minute == 10_000
    assert here.enter_now(200) is not None
    assert here.enter_now(200) is None


async def test_an_endpoint_is_heard() -> None:
    """Headers of a reply, and the body of a 429, set the limits of the endpoint's governor."""
    limited = error(429, "Rate limit reached: 6000000 tokens per minute. Please try again in 0.01s.")
    headers = {"x-ratelimit-limit-requests": "50", "x-ratelimit-remaining-requests": "49"}
    body = completion("ok").partition(b"\r\n\r\n")[2]
    guard = Guard()
    async with serving(limited, http(200, body, **headers)) as server:
        endpoint = Endpoint(name="here", url=server.url, rates=Rates(tries=1))
        outlook = Outlook(wrap=guard.wrap, listen=guard.listen)
        tier = TierSetting(endpoint="here", model="m")
        async with open_models([endpoint], {"small": tier}, outlook) as tiers:
            with pytest.raises(ModelThrottled):
                await tiers["small"].reply(asks(tokens=20))
            reply = await tiers["small"].reply(asks(tokens=20))
    seen = guard.statistics["here"]
    assert reply.text == "ok"
    assert (seen.throttled, seen.calls, seen.in_flight) == (1, 2, 0)
    assert (seen.requests_per_minute, seen.tokens_per_minute) == (50, 6_000_000)


def used(tokens: int) -> Reply:
    return Reply(text="x", usage=Usage(calls=1, input_tokens=tokens - 10, output_tokens=10))


REQUEST = Request(messages=(Message("user", "Hello"),), session="a", tokens=100, max_output_tokens=50)


async def test_a_call_is_settled_by_its_usage() -> None:
    """The estimate is the prompt and the reply's limit at first, then what replies have been."""
    here = Governor("here", Rates(tokens_per_minute=1_010), clock=Ticking())
    model = Governed(Scripted([used(110)] * 9), here)
    for _ in range(9):
        await model.reply(REQUEST)
    assert here.statistics.tokens == 990
    assert here.enter_now(10) is None
    assert here.enter_now(9) is not None


@pytest.mark.parametrize(
    ("failure", "counted"),
    [
        (ModelThrottled("no", retry_after=1.0), (1, 0)),
        (ModelUnreachable("no"), (0, 1)),
        (ModelRefused("no"), (0, 0)),
        (RuntimeError("a bug"), (0, 0)),
    ],
)
async def test_every_end_gives_the_place_back(failure: Exception, counted: tuple[int, int]) -> None:
    """However a call ends, in one piece or streamed, nothing stays in flight, and only failures count."""
    here = Governor("here", clock=Ticking())
    with pytest.raises(type(failure)):
        await Governed(Scripted([failure]), here).reply(REQUEST)
    there = Governor("there", clock=Ticking())
    with pytest.raises(type(failure)):
        _ = [item async for item in Governed(Scripted([failure]), there).stream(REQUEST)]
    for governor in (here, there):
        seen = governor.statistics
        assert seen.in_flight == 0
        assert (seen.throttled, seen.failed) == counted


async def test_a_cancelled_call_gives_its_place_back() -> None:
    """And so does a stream that is left in the middle."""
    here = Governor("here", clock=Ticking())
    with anyio.move_on_after(0.01):
        await Governed(Scripted([HANG]), here).reply(REQUEST)
    stream = Governed(Scripted([used(20)]), here).stream(REQUEST)
    async for _ in stream:
        break
    await stream.aclose()
    assert here.statistics.in_flight == 0


async def test_the_wait_is_in_the_reply() -> None:
    """How long a call waited for its turn."""
    clock = Ticking()
    here = Governor("here", Rates(concurrent_calls=1), clock=clock)
    permit = here.enter_now(1)
    assert permit is not None
    async with anyio.create_task_group() as group:
        handle = group.start_soon(Governed(Scripted([used(20)]), here).reply, REQUEST)
        for _ in range(3):
            await checkpoint()
        clock.advance(7.0)
        here.answered(permit, calls=1, tokens=1)
    assert handle.return_value.waited_seconds == pytest.approx(7.0)


async def test_another_endpoint_answers_for_one_that_is_overfull() -> None:
    """What was billed on the way is in the usage."""
    failed = ModelUnreachable("lost in the middle")
    failed.usage = Usage(calls=1, input_tokens=5)
    first = Scripted([Overloaded("full"), failed])
    model = Fallback([first, Scripted([used(20), used(20)])])
    assert (await model.reply(REQUEST)).usage.calls == 1
    assert (await model.reply(REQUEST)).usage.calls == 2
