"""LangGraph: planner, three researchers by Send, writer; a researcher is LangChain's create_agent."""

# mypy: ignore-errors
import operator
import os
from typing import Annotated, TypedDict

os.environ["LANGCHAIN_TRACING_V2"] = os.environ["LANGSMITH_TRACING"] = "false"

import workload
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from shared import http_client

search = tool(workload.search)
model = researcher = graph = None


class State(TypedDict):
    topic: str
    questions: list[str]
    findings: Annotated[list[str], operator.add]
    report: str


async def plan(state: State):
    reply = await model.ainvoke([SystemMessage(workload.PLANNER), HumanMessage(state["topic"])])
    return {"questions": workload.questions_of(reply.content)}


async def research(state: dict):
    found = await researcher.ainvoke({"messages": [HumanMessage(state["question"])]})
    return {"findings": [found["messages"][-1].content]}


async def write(state: State):
    told = workload.writer_prompt(state["topic"], state["findings"])
    reply = await model.ainvoke([SystemMessage(workload.WRITER), HumanMessage(told)])
    return {"report": reply.content}


def make_agent():
    return create_agent(model, [search], system_prompt=workload.RESEARCHER)


async def setup() -> None:
    global model, researcher, graph
    model = ChatOpenAI(
        model=workload.MODEL,
        base_url=workload.BASE_URL,
        api_key=workload.API_KEY,
        http_async_client=http_client(),
    )
    researcher = make_agent()
    made = StateGraph(State)
    for name, node in (("plan", plan), ("research", research), ("write", write)):
        made.add_node(name, node)
    made.add_edge(START, "plan")
    made.add_conditional_edges(
        "plan",
        lambda state: [Send("research", {"question": text}) for text in state["questions"]],
        ["research"],
    )
    made.add_edge("research", "write")
    made.add_edge("write", END)
    graph = made.compile()


async def session(number: int) -> None:
    done = await graph.ainvoke({"topic": workload.TOPIC.format(number=number), "findings": []})
    workload.check_report(done["report"])
