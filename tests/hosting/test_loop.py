"""What runs the event loop is found out once a session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from orchestra import Runtime, Scripted
from tests.team import settings

known = pytest.importorskip("sniffio").current_async_library_cvar


def test_anyio_is_told_as_long_as_a_session_lasts(tmp_path: Path) -> None:
    """Under asyncio's own runner nobody has said it beforehand, and nobody has it said afterwards."""

    async def program() -> None:
        async with Runtime(settings(tmp_path), models={"small": Scripted([])}) as runtime:
            assert known.get() is None
            async with runtime.session("?x"):
                assert known.get() == "asyncio"
            assert known.get() is None

    asyncio.run(program())


def test_what_the_program_said_stays(tmp_path: Path) -> None:
    """A session inside another leaves it to the outer one."""

    async def another(runtime: Runtime) -> None:
        async with runtime.session("?y"):
            assert known.get() == "asyncio"

    async def program() -> None:
        runtime = Runtime(settings(tmp_path), models={"small": Scripted([])})
        async with runtime, runtime.session("?x"):
            await another(runtime)
            assert known.get() == "asyncio"

    asyncio.run(program())
