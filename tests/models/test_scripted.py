"""The scripted model: what users test their workflows with."""

from __future__ import annotations

import anyio
import pytest
from pydantic import BaseModel

from orchestra.errors import ModelThrottled, OutputInvalid
from orchestra.models.scripted import HANG, Scripted
from orchestra.models.tiers import Tiers
from orchestra.values.messages import Delta, Reply, ToolCall
from tests.models.opened import asks, output

pytestmark = pytest.mark.anyio


class Answer(BaseModel):
    n: int


async def test_list() -> None:
    """A list answers in its order, and every request is kept."""
    call = ToolCall("c1", "search", "{}")
    model = Scripted(["one", call, '{"n": 1}', Answer(n=2), Reply(text="whole"), ModelThrottled("wait")])
    assert (await model.reply(asks())).text == "one"
    assert (await model.reply(asks())).calls == (call,)
    assert (await model.reply(asks(output=output(Answer)))).value == Answer(n=1)
    assert (await model.reply(asks())).value == Answer(n=2)
    assert (await model.reply(asks())).text == "whole"
    with pytest.raises(ModelThrottled):
        await model.reply(asks("last"))
    assert [request.messages[-1].text for request in model.requests] == ["Hello?"] * 5 + ["last"]
    with pytest.raises(AssertionError, match="no line left"):
        await model.reply(asks())


async def test_function() -> None:
    """A function sees the request; a text that does not fit the output is an OutputInvalid."""
    model = Scripted(lambda request: request.messages[-1].text.upper())
    items = [item async for item in model.stream(asks("hm"))]
    assert items[0] == Delta("HM")
    with pytest.raises(OutputInvalid, match="not a Answer"):
        await model.reply(asks(output=output(Answer)))


async def test_hang() -> None:
    """A call that hangs ends when it is cancelled, and leaves nothing behind."""
    model = Scripted([HANG])
    with anyio.move_on_after(0.01) as scope:
        await model.reply(asks())
    assert scope.cancelled_caught
    assert model.hanging == 0


def test_tiers() -> None:
    """Tiers are found by their own name, by a model's name, and by "inherit"."""
    small, large = Scripted([], name="tiny"), Scripted([], name="huge")
    tiers = Tiers.of(small, large)
    assert tiers.model_for("small") is small
    assert tiers.model_for("huge") is large
    assert tiers.model_for("inherit", inherited="small") is small
    assert Tiers({"only": small}).tier_of("large") == "only"
