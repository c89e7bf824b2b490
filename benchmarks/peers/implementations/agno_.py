"""Agno: Agent over OpenAIChat, telemetry off, no database."""

# mypy: ignore-errors
from __future__ import annotations

import asyncio
import os

os.environ["AGNO_TELEMETRY"] = "false"

import workload
from agno.agent import Agent
from agno.models.openai import OpenAIChat
from shared import openai_client

model = planner = researcher = writer = None


async def setup() -> None:
    global model, planner, researcher, writer
    model = OpenAIChat(id=workload.MODEL, async_client=openai_client(), role_map=None)
    planner = Agent(model=model, system_message=workload.PLANNER, telemetry=False)
    researcher = make_agent()
    writer = Agent(model=model, system_message=workload.WRITER, telemetry=False)


def make_agent() -> Agent:
    return Agent(model=model, system_message=workload.RESEARCHER, tools=[workload.search], telemetry=False)


async def session(number: int) -> None:
    topic = workload.TOPIC.format(number=number)
    questions = workload.questions_of((await planner.arun(topic)).content)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(researcher.arun(question)) for question in questions]
    findings = [task.result().content for task in tasks]
    workload.check_report((await writer.arun(workload.writer_prompt(topic, findings))).content)
