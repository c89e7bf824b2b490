"""What tools return, as an agent's context takes it."""

from __future__ import annotations

from functools import partial

from orchestra.agent.desk import Desk
from orchestra.context.returned import Result
from orchestra.tools.showing import as_result
from orchestra.tools.toolbox import ToolResult


async def as_taken(result: ToolResult, path: str, desk: Desk) -> Result:
    """A result for the context of the agent at `path`; its documents become sources of the session."""
    if result.unknown:
        desk.tell(f"{path}: {result.error}")
    if result.error:
        return Result(call=result.call, text=result.error, failed=True)
    desk.ledger.show(path, result.output.passages)
    label = partial(desk.ledger.label, path)
    return await as_result(result, label, desk.policy.result_tokens, desk.counter)
