"""A bare loop over aiohttp: what HTTP and JSON cost and nothing else."""

# mypy: ignore-errors
from __future__ import annotations

import asyncio
import json

import aiohttp
import orjson
import workload

http = None


async def setup() -> None:
    global http
    http = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
        headers={"authorization": f"Bearer {workload.API_KEY}", "content-type": "application/json"},
        timeout=aiohttp.ClientTimeout(total=600),
        raise_for_status=True,
    )


async def post(body: dict) -> dict:
    async with http.post(workload.BASE_URL + "/chat/completions", data=orjson.dumps(body)) as reply:
        return orjson.loads(await reply.read())["choices"][0]["message"]


async def ask(system: str, user: str) -> str:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return (await post({"model": workload.MODEL, "messages": messages}))["content"]


async def research(question: str) -> str:
    messages = [{"role": "system", "content": workload.RESEARCHER}, {"role": "user", "content": question}]
    while True:
        body = {"model": workload.MODEL, "messages": messages, "tools": [workload.TOOL_SCHEMA]}
        message = await post(body)
        calls = message.get("tool_calls")
        if not calls:
            return message["content"]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        for call in calls:
            found = await workload.search(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": found})


async def session(number: int) -> None:
    topic = workload.TOPIC.format(number=number)
    questions = workload.questions_of(await ask(workload.PLANNER, topic))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(research(question)) for question in questions]
    findings = [task.result() for task in tasks]
    workload.check_report(await ask(workload.WRITER, workload.writer_prompt(topic, findings)))
