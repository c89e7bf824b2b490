"""What is tried again, when, and what it costs."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import anyio
import pytest

from orchestra.errors import (
    ContextTooLong,
    ModelError,
    ModelRefused,
    ModelThrottled,
    ModelUnreachable,
    OutputInvalid,
)
from orchestra.models.fallback import Fallback
from orchestra.models.retrying import Patience, Retrying
from orchestra.models.scripted import Scripted
from orchestra.values.messages import ANEW, Delta, Message, Reply, Request
from orchestra.values.usage import Usage

pytestmark = pytest.mark.anyio

REQUEST = Request(messages=(Message("user", "Hello"),))
BILLED = Usage(calls=1, input_tokens=10, output_tokens=1, cost=0.5)


class Slept:
    """Notes how long it was to wait, and does not."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def retrying(lines: Sequence[object], **patience: object) -> tuple[Retrying, Scripted, Slept]:
    model, slept = Scripted(lines), Slept()
    made = Retrying(model, Patience(**patience), dice=random.Random(7), sleep=slept)  # type: ignore[arg-type]  # fields
    return made, model, slept


def unreachable(*, retry_after: float | None = None, left_alone: bool = False) -> ModelUnreachable:
    error = ModelUnreachable("down")
    error.retry_after, error.left_alone = retry_after, left_alone
    return error


async def test_what_can_succeed_is_tried_again() -> None:
    """Connections and throttles; the pauses are drawn from ranges that double."""
    model, _, slept = retrying([unreachable(), ModelThrottled("slow"), unreachable(), "hello"])
    assert (await model.reply(REQUEST)).text == "hello"
    assert all(0 <= pause <= most for pause, most in zip(slept.seconds, (0.5, 1.0, 2.0), strict=True))


@pytest.mark.parametrize(
    "error", [ModelRefused("no"), ContextTooLong("long"), OutputInvalid("bad"), ValueError("a bug")]
)
async def test_what_cannot_succeed_is_not(error: Exception) -> None:
    """Refusals, lengths, schemas and bugs are raised as they are, after one call."""
    model, inner, slept = retrying([error, "never"])
    with pytest.raises(type(error)):
        await model.reply(REQUEST)
    assert (len(inner.requests), slept.seconds) == (1, [])


async def test_tries_are_counted() -> None:
    """The last failure is raised when they are used up."""
    model, inner, _ = retrying([unreachable()] * 9, tries=3)
    with pytest.raises(ModelUnreachable):
        await model.reply(REQUEST)
    assert len(inner.requests) == 3


async def test_a_pause_that_was_asked_for_is_kept() -> None:
    """With jitter on top; one that is too long is not begun."""
    model, _, slept = retrying([ModelThrottled("slow", retry_after=7.0), "hello"])
    await model.reply(REQUEST)
    assert 7.0 <= slept.seconds[0] <= 7.5
    model, inner, _ = retrying([ModelThrottled("a day", retry_after=3_600.0), "never"])
    with pytest.raises(ModelThrottled):
        await model.reply(REQUEST)
    assert len(inner.requests) == 1


async def test_a_try_that_cannot_end_in_time_is_not_begun() -> None:
    """Neither when the pause ends too late, nor when less is left than the quickest reply took."""
    model, inner, _ = retrying([ModelThrottled("slow", retry_after=60.0), "never"])
    with anyio.fail_after(30), pytest.raises(ModelThrottled):
        await model.reply(REQUEST)
    assert len(inner.requests) == 1
    quick = Reply(text="x", seconds=40.0)
    model, inner, _ = retrying([quick, unreachable(), "never"])
    await model.reply(REQUEST)
    with anyio.fail_after(30), pytest.raises(ModelUnreachable):
        await model.reply(REQUEST)
    assert len(inner.requests) == 2


async def test_an_endpoint_that_is_left_alone_is_waited_for_or_not() -> None:
    """Until its next probe; but not where another endpoint stands behind."""
    model, _, slept = retrying([unreachable(retry_after=5.0, left_alone=True), "hello"])
    await model.reply(REQUEST)
    assert slept.seconds[0] >= 5.0
    model, inner, _ = retrying([unreachable(retry_after=5.0, left_alone=True)], wait_for_endpoint=False)
    with pytest.raises(ModelUnreachable):
        await model.reply(REQUEST)
    assert len(inner.requests) == 1


def billed(error: ModelError) -> ModelError:
    error.usage = BILLED
    return error


async def test_what_failed_tries_cost_is_charged() -> None:
    """It is in the usage of the reply, and of the error where there is none, streamed or not."""
    for stream in (False, True):
        model, _, _ = retrying([billed(unreachable()), Reply(text="x", usage=BILLED)])
        assert (await last(model, stream)).usage.cost == 1.0
        model, _, _ = retrying([billed(unreachable()), billed(ModelRefused("no"))])
        with pytest.raises(ModelRefused) as caught:
            await last(model, stream)
        assert caught.value.usage.cost == 1.0


async def last(model: Retrying, stream: bool) -> Reply:
    if not stream:
        return await model.reply(REQUEST)
    items = [item async for item in model.stream(REQUEST)]
    assert isinstance(items[-1], Reply)
    return items[-1]


async def test_a_try_after_a_bill_needs_money() -> None:
    """A try that was billed is followed by another only if that can be paid; one that was not, always."""
    asked = []

    def afford(more: int) -> bool:
        asked.append(more)
        return False

    request = Request(messages=REQUEST.messages, afford=afford)
    model, inner, _ = retrying([unreachable(), billed(unreachable()), "never"])
    with pytest.raises(ModelUnreachable):
        await model.reply(request)
    assert (len(inner.requests), asked) == (2, [0])


async def test_a_stream_is_begun_again() -> None:
    """Before its first piece in silence; after it, a delta takes back what was shown."""
    model, inner, _ = retrying([unreachable(), "hello"])
    assert (await last(model, stream=True)).text == "hello"
    assert len(inner.requests) == 2
    hel, hello = Delta("hel"), Delta("hello")
    for wrapped in (retrying_over(Breaking(["hello"])), Fallback([Breaking([]), Scripted(["hello"])])):
        items = [item async for item in wrapped.stream(REQUEST)]
        assert items[:-1] == [hel, ANEW, hello]


class Breaking(Scripted):
    """Its first stream breaks after a piece."""

    broken = False

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if not self.broken:
            self.broken = True
            yield Delta("hel")
            raise unreachable()
        async with aclosing(super().stream(request)) as stream:
            async for item in stream:
                yield item


def retrying_over(model: Scripted) -> Retrying:
    return Retrying(model, dice=random.Random(7), sleep=Slept())


async def test_cancelling_a_pause_ends_it() -> None:
    """A caller that goes away is not tried for."""
    inner = Scripted([ModelThrottled("slow", retry_after=50.0), "never"])
    async with anyio.create_task_group() as group:
        group.start_soon(Retrying(inner).reply, REQUEST)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert len(inner.requests) == 1
