"""A bare loop over the official client, with its fastest transport (aiohttp)."""

# mypy: ignore-errors
from __future__ import annotations

import asyncio
import json

import openai  # noqa: F401 - its import is part of what is measured
import workload
from shared import openai_client

client = None


async def setup() -> None:
    global client
    client = openai_client()


async def ask(system: str, user: str) -> str:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    reply = await client.chat.completions.create(model=workload.MODEL, messages=messages)
    return reply.choices[0].message.content


async def research(question: str) -> str:
    messages = [{"role": "system", "content": workload.RESEARCHER}, {"role": "user", "content": question}]
    while True:
        reply = await client.chat.completions.create(
            model=workload.MODEL, messages=messages, tools=[workload.TOOL_SCHEMA]
        )
        message = reply.choices[0].message
        if not message.tool_calls:
            return message.content
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        for call in message.tool_calls:
            found = await workload.search(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": found})


async def session(number: int) -> None:
    topic = workload.TOPIC.format(number=number)
    questions = workload.questions_of(await ask(workload.PLANNER, topic))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(research(question)) for question in questions]
    findings = [task.result() for task in tasks]
    workload.check_report(await ask(workload.WRITER, workload.writer_prompt(topic, findings)))
