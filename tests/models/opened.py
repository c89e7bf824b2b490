"""Models for tests: one adapter on one loopback server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
from pydantic import TypeAdapter

from orchestra.load.simulated import Simulated
from orchestra.models.compatible.memory import QuirksStore
from orchestra.models.opening import Outlook, open_models
from orchestra.models.port import Model
from orchestra.models.settings import Endpoint, TierSetting, Times
from orchestra.session.outputs import output_spec
from orchestra.values.messages import Message, OutputSpec, Request, Speaker, ToolSpec
from orchestra.values.outputs import Output

SEARCH = ToolSpec(
    "search",
    "Search the documents.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)


def output(model: type) -> OutputSpec:
    if issubclass(model, Output):
        return output_spec(model)
    adapter: TypeAdapter[Any] = TypeAdapter(model)
    return OutputSpec(model.__name__, adapter.json_schema(), adapter.validate_json)


def asks(*texts: str, **fields: Any) -> Request:
    """A request with a system message and these, user and assistant in turn."""
    roles: tuple[Speaker, Speaker] = ("user", "assistant")
    turns = [Message(role=roles[place % 2], text=text) for place, text in enumerate(texts or ("Hello?",))]
    return Request(messages=(Message(role="system", text="Be brief."), *turns), **fields)


async def all_closed(endpoint: Simulated) -> None:
    """Returns when the server has seen every connection end, which comes a little after the client's end."""
    with anyio.fail_after(5):
        while endpoint.served.connections_open:
            await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def opened(
    url: str,
    *,
    store: QuirksStore | None = None,
    times: Times | None = None,
    transport: Any = "direct",
    quirks: dict[str, Any] | None = None,
    key: str = "sk-secret-key",
    headers: dict[str, str] | None = None,
    compress_over: int | None = None,
    **setting: Any,
) -> AsyncIterator[Model]:
    """The model `m` at `url`. Tools are taken to be native unless `quirks` says otherwise."""
    endpoint = Endpoint(
        name="here",
        url=url,
        key=key,
        transport=transport,
        times=times or Times(),
        quirks={"tools": "native"} if quirks is None else quirks,
        headers=headers or {},
        compress_over=compress_over,
    )
    tier = TierSetting(endpoint="here", model="m", **setting)
    async with open_models([endpoint], {"small": tier}, Outlook(store=store)) as tiers:
        yield tiers["small"]
