"""PydanticAI: OpenAIChatModel over one client, no instrumentation."""

# mypy: ignore-errors
from __future__ import annotations

import asyncio

import workload
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from shared import openai_client

model = planner = researcher = writer = None


async def setup() -> None:
    global model, planner, researcher, writer
    model = OpenAIChatModel(workload.MODEL, provider=OpenAIProvider(openai_client=openai_client()))
    planner = Agent(model, instructions=workload.PLANNER)
    researcher = make_agent()
    writer = Agent(model, instructions=workload.WRITER)


def make_agent() -> Agent:
    return Agent(model, instructions=workload.RESEARCHER, tools=[workload.search])


async def session(number: int) -> None:
    topic = workload.TOPIC.format(number=number)
    questions = workload.questions_of((await planner.run(topic)).output)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(researcher.run(question)) for question in questions]
    findings = [task.result().output for task in tasks]
    workload.check_report((await writer.run(workload.writer_prompt(topic, findings))).output)
