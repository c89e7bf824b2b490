"""Microsoft Agent Framework: Agent over its chat-completions client, instrumentation off."""

# mypy: ignore-errors
from __future__ import annotations

import asyncio
import os

os.environ["ENABLE_INSTRUMENTATION"] = os.environ["ENABLE_OTEL"] = "false"

import workload
from agent_framework import Agent, tool
from agent_framework_openai import OpenAIChatCompletionClient
from shared import openai_client

search = tool(workload.search, approval_mode="never_require")
model = planner = researcher = writer = None


async def setup() -> None:
    global model, planner, researcher, writer
    model = OpenAIChatCompletionClient(workload.MODEL, async_client=openai_client())
    planner = Agent(model, instructions=workload.PLANNER)
    researcher = make_agent()
    writer = Agent(model, instructions=workload.WRITER)


def make_agent() -> Agent:
    return Agent(model, instructions=workload.RESEARCHER, tools=[search])


async def session(number: int) -> None:
    topic = workload.TOPIC.format(number=number)
    questions = workload.questions_of((await planner.run(topic)).text)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(researcher.run(question)) for question in questions]
    findings = [task.result().text for task in tasks]
    workload.check_report((await writer.run(workload.writer_prompt(topic, findings))).text)
