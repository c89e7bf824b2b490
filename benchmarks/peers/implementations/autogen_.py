"""AutoGen's agentchat: an agent holds its conversation, so that each session makes its own."""

# mypy: ignore-errors
from __future__ import annotations

import asyncio
import logging

import workload
from autogen_agentchat.agents import AssistantAgent
from autogen_core import EVENT_LOGGER_NAME
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from shared import http_client

logging.getLogger(EVENT_LOGGER_NAME).setLevel(logging.ERROR)
search = FunctionTool(workload.search, description="Search the web and return the ten best hits.")
model = None


async def setup() -> None:
    global model
    model = OpenAIChatCompletionClient(
        model=workload.MODEL, base_url=workload.BASE_URL, api_key=workload.API_KEY, http_client=http_client()
    )


def make_agent() -> AssistantAgent:
    return AssistantAgent(
        "researcher",
        model,
        tools=[search],
        system_message=workload.RESEARCHER,
        max_tool_iterations=5,
        reflect_on_tool_use=False,
    )


async def ask(agent: AssistantAgent, task: str) -> str:
    return (await agent.run(task=task)).messages[-1].content


async def session(number: int) -> None:
    topic = workload.TOPIC.format(number=number)
    planner = AssistantAgent("planner", model, system_message=workload.PLANNER)
    questions = workload.questions_of(await ask(planner, topic))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(make_agent(), question)) for question in questions]
    findings = [task.result() for task in tasks]
    writer = AssistantAgent("writer", model, system_message=workload.WRITER)
    workload.check_report(await ask(writer, workload.writer_prompt(topic, findings)))
