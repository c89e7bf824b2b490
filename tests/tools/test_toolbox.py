"""Tools are named, narrowed and called together."""

from __future__ import annotations

import anyio
import pytest

from orchestra.errors import ConfigError
from orchestra.tools.decorator import tool
from orchestra.tools.toolbox import Toolbox
from orchestra.values.messages import ToolCall

pytestmark = pytest.mark.anyio


@tool
async def read_page(page: int) -> str:
    """Read a page."""
    return f"page {page}"


@tool(seconds=0.01)
async def wait_forever() -> str:
    """Wait."""
    await anyio.sleep_forever()
    return ""


@tool
async def search_pages(query: str) -> str:
    """Search pages."""
    return query


BOX = Toolbox((read_page, wait_forever, search_pages))


def call(name: str, arguments: str = "{}", key: str = "k1") -> ToolCall:
    return ToolCall(id=key, name=name, arguments=arguments)


async def test_results_come_in_the_order_of_the_calls() -> None:
    """A slow call does not change its place, and one that fails does not spoil the rest."""
    results = await BOX.run_all(
        (call("wait_forever", key="a"), call("read_page", '{"page": 2}', "b"), call("serch_pages", key="c"))
    )
    assert [result.call.id for result in results] == ["a", "b", "c"]
    assert results[0].error == "wait_forever did not answer within 0.01 s."
    assert results[1].output.text == "page 2"
    assert results[2].error == "No tool is called 'serch_pages'; nearest: search_pages, read_page."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [("{", "are not JSON"), ("[1]", "must be a JSON object"), ('{"page": "x"}', "page: Input should be")],
)
async def test_arguments_that_make_no_sense_are_told_to_the_model(arguments: str, said: str) -> None:
    """Broken JSON, an array and a wrong type are texts for the model."""
    assert said in (await BOX.run(call("read_page", arguments))).error


async def test_calls_run_at_the_same_time() -> None:
    """Two calls that wait for each other both return."""
    first, second = anyio.Event(), anyio.Event()

    @tool
    async def go_first() -> str:
        """Go."""
        first.set()
        await second.wait()
        return "1"

    @tool
    async def go_second() -> str:
        """Go."""
        second.set()
        await first.wait()
        return "2"

    results = await Toolbox((go_first, go_second)).run_all((call("go_first"), call("go_second")))
    assert [result.output.text for result in results] == ["1", "2"]


async def test_an_enclosing_deadline_is_not_a_tools_time_limit() -> None:
    """Cancellation from outside flies past the toolbox."""
    with anyio.move_on_after(0.01) as scope:
        await Toolbox((tool(seconds=60)(wait_forever._function),)).run(call("wait_forever"))
    assert scope.cancelled_caught


def test_a_role_gets_only_its_tools() -> None:
    """Narrowing keeps the order asked for; an unknown name is refused with the nearest one."""
    assert BOX.narrowed(("search_pages", "read_page")).names == ("search_pages", "read_page")
    with pytest.raises(ConfigError, match="nearest: read_page"):
        BOX.narrowed(("read_pages",))
    with pytest.raises(ConfigError, match="two tools are called 'read_page'"):
        Toolbox((read_page, read_page))
