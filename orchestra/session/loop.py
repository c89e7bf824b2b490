"""What runs the event loop, found out once for a session.

Each scope, event and task group of anyio asks for it. `anyio.run` says it beforehand; under `asyncio.run` and
in other people's servers it is found anew each time, some forty times a session and a microsecond each.
"""

from __future__ import annotations

try:
    import sniffio
except ImportError:  # anyio asks for the running loop then, which takes no time
    sniffio = None  # type: ignore[assignment]  # as anyio has it


def known() -> str | None:
    """Have it known in this task and those it starts from now on; returns what was known before."""
    if sniffio is None:
        return None
    before = sniffio.current_async_library_cvar.get()
    if before is None:
        sniffio.current_async_library_cvar.set(sniffio.current_async_library())
    return before


def forgotten(before: str | None) -> None:
    """As it was before."""
    if sniffio is not None and before is None:
        sniffio.current_async_library_cvar.set(None)
