"""orchestra: the whole `research_then_write`: journal on disk, manifests, token counts and evidence on."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import workload
from msgspec import structs

from orchestra.agent.agent import Agent
from orchestra.config.load import load_settings
from orchestra.journal.track import Track
from orchestra.runtime import Runtime
from orchestra.session.session import Session
from orchestra.tools.decorator import tool
from orchestra.tools.port import ToolOutput
from orchestra.tools.toolbox import Toolbox
from orchestra.values.roles import Limits, Role
from orchestra.values.sources import Document, Passage
from orchestra.workflow import research_then_write

_runtime: Runtime | None = None


def _passage(hit: int) -> Passage:
    text = workload.snippet(hit)
    digest = hashlib.sha256(text.encode()).hexdigest()
    document = Document(workload.locator(hit), workload.title(hit), text, digest, kind="web")
    return Passage(document, text, 0, len(text))


PASSAGES = tuple(_passage(hit) for hit in range(workload.HITS))


@tool
async def search(query: str) -> ToolOutput:
    """Search the web and return the ten best hits.

    Args:
        query: What to look for.
    """
    return ToolOutput(text=f"Ten hits for {query}", passages=PASSAGES)


def _role(name: str, instructions: str, output: str, *, tools: tuple[str, ...] = ()) -> Role:
    return Role(
        name=name,
        description=name,
        instructions=instructions,
        tools=tools,
        output=output,
        context="writer" if name == "writer" else "research",
        limits=Limits(steps=12, tokens=120_000, seconds=300),
    )


ROLES = (
    _role("planner", workload.PLANNER, "Plan"),
    _role("researcher", workload.RESEARCHER, "Findings", tools=("search",)),
    _role("writer", workload.WRITER, "Draft"),
)


async def setup() -> None:
    global _runtime
    folder = Path(tempfile.mkdtemp(prefix="orchestra-bench-", dir=os.environ.get("BENCH_STORE") or None))
    given: dict[str, Any] = {"endpoint": workload.BASE_URL, "models": workload.MODEL}
    settings = load_settings(given, environ={}, folder=folder).settings
    # As many calls at once as are asked for, like the others here.
    changed = structs.replace
    free = {name: changed(each, concurrent_calls=None) for name, each in settings.endpoints.items()}
    settings = changed(settings, endpoints=free)
    _runtime = Runtime(settings, roles=ROLES, tools=(search,))
    await _runtime.__aenter__()


async def session(number: int) -> None:
    assert _runtime is not None
    question = workload.TOPIC.format(number=number)
    async with _runtime.session(question) as session:
        report = await research_then_write(session, question)
    assert report.supported_share == 1.0, report
    assert len(report.references) == 9


async def close() -> None:
    assert _runtime is not None
    await _runtime.__aexit__(None, None, None)


_session: Session | None = None


def make_agent() -> object:
    """An agent as a session makes it, with its context, track, budget and toolbox."""
    global _session
    assert _runtime is not None
    if _session is None:
        _session = Session(_runtime.kit, "made", "What?", toolbox=Toolbox((search,)))
    path = _session._paths.next("researcher", "What?")
    role = _session.role("researcher")
    return Agent(role, path, _session._desk(role, Track(path, _session._diary.recording), None, None))
