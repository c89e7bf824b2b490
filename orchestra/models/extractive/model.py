"""The extractive model behind the port: it reads the request, and nothing else."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from orchestra.errors import OutputInvalid
from orchestra.models.extractive import findings, planning, reading, review, searching, writing
from orchestra.models.port import whole_as_stream
from orchestra.values.drafts import OUTPUTS
from orchestra.values.messages import Delta, Message, Reply, Request, ToolCall
from orchestra.values.usage import Usage

NAME = "extractive"


def count_roughly(text: str) -> int:
    """Tokens where no exact counter was handed in: words, marks, and one for each wide character."""
    return len(re.findall(r"[A-Za-z0-9]{1,8}|[^\x00-\x7f]|[^\w\s]", text))


class Extractive:
    """A model without a language model: plans by rule, searches, and answers with verbatim sentences.

    `count` gives the tokens of a text; usage costs nothing. Deterministic: the same request, the same reply.
    """

    def __init__(self, count: Callable[[str], int] = count_roughly, *, window: int = 200_000) -> None:
        self._count = count
        self._window = window

    @property
    def name(self) -> str:
        return NAME

    @property
    def window(self) -> int:
        return self._window

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        return 0.0

    async def reply(self, request: Request) -> Reply:
        began = time.perf_counter()
        calls, value, text = self._answer(request)
        shown = text or (value.model_dump_json() if value is not None else "")
        spent = shown + "".join(call.name + call.arguments for call in calls)
        usage = Usage(
            calls=1,
            input_tokens=sum(self._count(message.text) for message in request.messages),
            output_tokens=self._count(spent),
            cost=0.0,
        )
        return Reply(
            text=shown,
            calls=calls,
            value=value,
            usage=usage,
            finish="calls" if calls else "stop",
            model=NAME,
            seconds=time.perf_counter() - began,
        )

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        return whole_as_stream(self, request)

    def _answer(self, request: Request) -> tuple[tuple[ToolCall, ...], Any, str]:
        wanted = request.output.name if request.output else ""
        if request.tools and request.tool_choice != "none":
            calls = self._look_up(request)
            if calls:
                return calls, None, ""
        messages = request.messages
        if not wanted:
            return (), None, self._plain(messages)
        if wanted == "Plan":
            value: Any = planning.plan(reading.task(messages, whole_message=True).question)
            if value is None:
                raise OutputInvalid("The question holds no word to look for; ask it in words.", model=NAME)
        elif wanted == "Findings":
            value = findings.findings(reading.task(messages), reading.hits(messages))
        elif wanted == "Draft":
            value = writing.draft(reading.brief(messages))
        elif wanted == "Review":
            value = review.review(reading.brief(messages), reading.draft_text(messages))
        else:
            raise OutputInvalid(
                f"The extractive model makes {', '.join(OUTPUTS)} and plain text, but not {wanted}; "
                "give this role a language model.",
                model=NAME,
            )
        return (), value, ""

    def _plain(self, messages: tuple[Message, ...]) -> str:
        """Between two tiers the steps end without a value; else the best sentences of all data shown."""
        hits = reading.hits(messages, ("tool", "user"))
        return review.plain_answer(reading.task(messages), hits)

    def _look_up(self, request: Request) -> tuple[ToolCall, ...]:
        made = reading.calls(request.messages)
        lookups = searching.next_lookups(
            reading.task(request.messages),
            searching.desk(request.tools),
            reading.hits(request.messages),
            made,
            reading.listed_sections(request.messages),
        )
        return tuple(
            ToolCall(
                f"x{len(made) + at}", lookup.tool, json.dumps(dict(lookup.arguments), ensure_ascii=False)
            )
            for at, lookup in enumerate(lookups, 1)
        )
