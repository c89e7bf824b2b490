"""The simulated endpoint in a process of its own, so that it takes no time from the runtime it tests."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from subprocess import DEVNULL, PIPE

import anyio
from anyio.streams.text import TextReceiveStream

from orchestra.errors import RunError
from orchestra.load.plan import LoadPlan

# Not 429: it is how an endpoint sets the pace, and a steady share of it would slow any client to a crawl.
_FAULTS = ("drop", "cut", "error_500", "error_503", "not_json")
_START_SECONDS = 30.0


@asynccontextmanager
async def endpoint_process(plan: LoadPlan) -> AsyncIterator[str]:
    """The base URL of an endpoint that plays the research roles; it ends with the block.

    Faults of all kinds come equally often. Raises RunError where it does not start.
    """
    faults = [f"--fault={name}={plan.faults / len(_FAULTS):.6f}" for name in _FAULTS] if plan.faults else []
    command = [sys.executable, "-c", "from orchestra.cli.main import main; main()", "simulate", "--port=0"]
    command += [f"--first={plan.latency_seconds}", f"--seed={plan.seed}", *faults]
    async with await anyio.open_process(command, stdin=DEVNULL, stdout=PIPE, stderr=None) as process:
        assert process.stdout is not None
        try:
            yield await _address(TextReceiveStream(process.stdout))
        finally:
            process.terminate()
            with anyio.CancelScope(shield=True):
                await process.wait()


async def _address(output: TextReceiveStream) -> str:
    """The address in the first line that it prints."""
    said = ""
    with anyio.move_on_after(_START_SECONDS):
        async for piece in output:
            said += piece
            if "Listening at " in said and "\n" in said.split("Listening at ", 1)[1]:
                return said.split("Listening at ", 1)[1].split()[0]
    raise RunError(f"The simulated endpoint did not start; it said {said.strip()!r}.")
