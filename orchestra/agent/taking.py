"""What tools return, as an agent's context takes it."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.agent.desk import Desk
from orchestra.context.returned import Result
from orchestra.tools.showing import THREAD_CHARACTERS, as_result, cut_in_thread
from orchestra.tools.toolbox import ToolResult


async def taken_in(results: Sequence[ToolResult], path: str, desk: Desk) -> list[Result]:
    """Results for the context of the agent at `path`; their documents become sources of the session."""
    taken = [_taken(result, path, desk) for result in results]
    for at, result in enumerate(taken):
        if len(result.text) > THREAD_CHARACTERS:
            taken[at] = await cut_in_thread(result, desk.policy.result_tokens, desk.counter)
    return taken


def _taken(result: ToolResult, path: str, desk: Desk) -> Result:
    if result.unknown:
        desk.tell(f"{path}: {result.error}")
    if result.error:
        return Result(call=result.call, text=result.error, failed=True)
    labels = desk.ledger.show(path, result.output.passages)
    return as_result(result, labels, desk.sizes, desk.counter)
