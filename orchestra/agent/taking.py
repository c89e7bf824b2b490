"""What tools return, as an agent's context takes it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from orchestra.agent.desk import Desk
from orchestra.context.context import Context
from orchestra.context.returned import Result
from orchestra.tools.showing import THREAD_CHARACTERS, as_result, cut_in_thread
from orchestra.tools.toolbox import ToolResult

_at = attrgetter("at")


async def take_in(results: Sequence[ToolResult], context: Context, desk: Desk) -> None:
    """Put results into an agent's context; their documents become sources of the session."""
    taken: list[Result] = []
    long = False
    for result in results:
        if result.error:
            if result.unknown:
                desk.tell(f"{context.agent}: {result.error}")
            shown = Result(call=result.call, text=result.error, failed=True)
        else:
            labels = desk.ledger.show(context.agent, result.output.passages)
            shown = as_result(result, labels, desk.sizes, desk.counter)
        taken.append(shown)
        long = long or len(shown.text) > THREAD_CHARACTERS
    if long:
        for place, shown in enumerate(taken):
            if len(shown.text) > THREAD_CHARACTERS:
                taken[place] = await cut_in_thread(shown, desk.policy.result_tokens, desk.counter)
    context.record_results(taken, at=max(map(_at, results)))
