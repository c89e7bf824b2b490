"""The extractive model behind the port: it reads the request, and nothing else."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

import anyio.lowlevel
import msgspec

from orchestra.errors import OutputInvalid
from orchestra.models.extractive import findings, planning, reading, review, searching, talk, writing
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
        await anyio.lowlevel.checkpoint()  # it waits for nothing, and others want to go on meanwhile
        began = time.perf_counter()
        calls, value, text = self._answer(request)
        shown = text or (msgspec.json.encode(value).decode() if value is not None else "")
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
        messages, task = _turn(request)
        tools = searching.desk(request.tools)
        if tools.search and request.tool_choice != "none":
            calls = self._look_up(task, messages, tools)
            if calls:
                return calls, None, ""
        if not wanted:
            # Between two tiers the steps end without a value; else the best sentences of all data shown,
            # or in a talk over documents of what was found in them.
            talked = len(messages) < len(request.messages) or not reading.states_a_question(messages)
            hits = reading.hits(messages, ("tool",) if talked and tools.search else ("tool", "user"))
            return (), None, review.plain_answer(task, hits, searched=bool(tools.search))
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

    def _look_up(
        self, task: reading.Task, messages: tuple[Message, ...], tools: searching.Desk
    ) -> tuple[ToolCall, ...]:
        made = reading.calls(messages)
        lookups = searching.next_lookups(
            task, tools, reading.hits(messages), made, reading.listed_sections(messages)
        )
        return tuple(
            ToolCall(
                f"x{len(made) + at}", lookup.tool, json.dumps(dict(lookup.arguments), ensure_ascii=False)
            )
            for at, lookup in enumerate(lookups, 1)
        )


def _turn(request: Request) -> tuple[tuple[Message, ...], reading.Task]:
    """What is to be read and what is asked: of a conversation its last turn, else all of the request."""
    messages, talked = request.messages, None
    if request.output is None and not reading.states_a_question(messages):
        talked = talk.task_of_turn(messages)
    if talked is None:
        return messages, reading.task(messages)
    return talk.this_turn(messages), talked
