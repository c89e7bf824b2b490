"""A scripted team for tests: answers every step of the workflow from the request alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import anyio
import msgspec

from orchestra.config.load import load_settings
from orchestra.config.settings import Settings
from orchestra.context.fence import fenced
from orchestra.models.scripted import HANG, Scripted
from orchestra.values.drafts import Draft, Findings, Plan
from orchestra.values.events import Event
from orchestra.values.messages import Reply, Request, ToolCall
from orchestra.values.usage import Usage

USAGE = Usage(calls=1, input_tokens=100, output_tokens=20, cost=0.001)


def settings(folder: Path, **flags: object) -> Settings:
    """Settings of a folder of its own, whatever the environment of the test run says."""
    return load_settings(flags, environ={}, folder=folder).settings


def seen(request: Request) -> str:
    """Everything a request shows."""
    return "\n".join(message.text for message in request.messages)


def task_of(request: Request) -> str:
    """The question that an agent was asked."""
    found = re.search(r"^Question: (.+)$", seen(request), re.MULTILINE)
    assert found is not None, seen(request)
    return found[1]


def plan_of(*questions: str) -> Plan:
    return Plan(title="A title", questions=questions)


def search(query: str) -> Reply:
    call = ToolCall("k1", "search_documents", json.dumps({"query": query}))
    return Reply(calls=(call,), finish="calls", usage=USAGE, model="scripted")


def findings_of(request: Request) -> Findings:
    """One claim: the first sentence of the first passage that the tools returned."""
    for message in request.messages:
        if message.role == "tool":
            for part in fenced(message.text):
                label = re.match(r"\[(s\d+)\]", part.label)
                if label:
                    paragraph = part.text.strip().splitlines()[-1]
                    quote = paragraph.split(". ")[0].rstrip(".") + "."
                    claim = {"statement": quote, "quotes": [{"source": label[1], "text": quote}]}
                    return msgspec.convert({"claims": [claim], "gaps": []}, Findings)
    return Findings(claims=(), gaps=("nothing was found",))


def draft_of(request: Request) -> Draft:
    """Every claim of the brief as a sentence."""
    brief = next(part.text for part in fenced(seen(request)) if part.label == "Claims")
    claims = [msgspec.json.decode(line) for line in brief.splitlines()]
    sentences = [{"text": claim["claim"], "claims": [claim["id"]]} for claim in claims]
    sections = [{"heading": "All", "sentences": sentences}]
    return msgspec.convert({"title": "A title", "summary": sentences[:1], "sections": sections}, Draft)


def team(*questions: str) -> Callable[[Request], object]:
    """A script for the whole workflow: this plan, one search each, one quote each, all claims used."""

    def answer(request: Request) -> object:
        assert request.output is not None
        name = request.output.name
        if name == "Plan":
            return Reply(value=plan_of(*questions), usage=USAGE, model="scripted")
        if name == "Findings":
            if not any(message.role == "tool" for message in request.messages):
                return search(task_of(request))
            return Reply(value=findings_of(request), usage=USAGE, model="scripted")
        return Reply(value=draft_of(request), usage=USAGE, model="scripted")

    return answer


def stuck_at(question: str, *questions: str) -> Callable[[Request], object]:
    """A team whose researcher of `question` never answers."""
    whole = team(*questions)

    def answer(request: Request) -> object:
        if request.output is not None and request.output.name == "Findings" and task_of(request) == question:
            return HANG
        return whole(request)

    return answer


def first_study(reached: anyio.Event) -> Callable[[Event], None]:
    """What watches a session and tells when the first researcher has handed over."""

    def watch(event: Event) -> None:
        if event.kind == "handoff" and event.agent == "researcher.1" and event.data["receiver"] == "brief":
            reached.set()

    return watch


def scripted_team(*questions: str) -> Scripted:
    return Scripted(team(*questions))
