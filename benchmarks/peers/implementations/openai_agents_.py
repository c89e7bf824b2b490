"""OpenAI's Agents SDK over chat completions, tracing off; fresh agents for each session.

One Agent that many runs share makes it look through all of them at each step.
"""

# mypy: ignore-errors
from __future__ import annotations

import asyncio

import workload
from shared import openai_client

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled

set_tracing_disabled(True)
search = function_tool(workload.search)
model = None


async def setup() -> None:
    global model
    model = OpenAIChatCompletionsModel(model=workload.MODEL, openai_client=openai_client())


def make_agent() -> Agent:
    return Agent(name="researcher", instructions=workload.RESEARCHER, model=model, tools=[search])


async def ask(agent: Agent, task: str) -> str:
    return (await Runner.run(agent, task)).final_output


async def session(number: int) -> None:
    topic = workload.TOPIC.format(number=number)
    planner = Agent(name="planner", instructions=workload.PLANNER, model=model)
    questions = workload.questions_of(await ask(planner, topic))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(make_agent(), question)) for question in questions]
    findings = [task.result() for task in tasks]
    writer = Agent(name="writer", instructions=workload.WRITER, model=model)
    workload.check_report(await ask(writer, workload.writer_prompt(topic, findings)))
