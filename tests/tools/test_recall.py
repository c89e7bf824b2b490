"""The `recall` tool: what it brings back, and that a long past does not hold up the loop."""

from __future__ import annotations

import anyio
import pytest

from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.tokens import counter_for
from orchestra.errors import ToolArguments
from orchestra.tools.recall import THREAD_CHARACTERS, recall_tool
from orchestra.values.messages import Reply, ToolCall

pytestmark = pytest.mark.anyio


def context_with(text: str) -> Context:
    context = Context("a", "Help.", policy=policy_for("tools"), window=100_000, counter=counter_for("gpt-4o"))
    context.add_input("Read the log.")
    call = ToolCall("c1", "read_log", "{}")
    context.record_reply(Reply(calls=(call,)))
    context.record_results([Result(call=call, text=text)])
    return context


async def test_it_finds_by_words_and_by_reference() -> None:
    """Both ways bring the words back, for one turn."""
    tool = recall_tool(context_with("The pump stopped at 04:17."))
    for wanted in ("when did the pump stop?", "r1"):
        output = await tool.call({"wanted": wanted})
        assert "The pump stopped at 04:17." in output.text
        assert output.ephemeral


@pytest.mark.parametrize("arguments", [{}, {"wanted": " "}, {"wanted": 7}])
async def test_without_words_it_says_what_it_needs(arguments: dict[str, object]) -> None:
    """A call without words is the model's to mend."""
    with pytest.raises(ToolArguments, match="a reference such as r17"):
        await recall_tool(context_with("x")).call(arguments)


async def test_a_long_past_is_indexed_beside_the_loop() -> None:
    """Several searches at once over a long result leave the loop free, and agree."""
    lines = "\n".join(f"Line {n}: valve {n % 97} is open." for n in range(THREAD_CHARACTERS // 20))
    context = context_with(f"{lines}\nThe pump stopped at 04:17.")
    assert context.recollector.backlog > THREAD_CHARACTERS
    tool, found = recall_tool(context), list[str]()

    async def search() -> None:
        found.append((await tool.call({"wanted": "pump stopped"})).text)

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(search)
    assert len(set(found)) == 1
    assert "The pump stopped at 04:17." in found[0]
    assert context.recollector.backlog == 0
