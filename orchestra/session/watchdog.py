"""Finds what blocks the event loop: a thread hears the loop's heartbeat and looks where it stands."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType

from msgspec import Struct

from orchestra.log import get_logger
from orchestra.tools.running import Calls
from orchestra.tools.toolbox import Toolbox

_BEATS = 4  # heartbeats in the time after which a silent loop counts as blocked

_REMEMBERED = 20
_NOWHERE = (0, 0)
_LOOKS = 3
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Blocked(Struct, frozen=True, kw_only=True):
    """One time that the loop stood still. `tool` and `agent` are "" where no tool's call was to blame.

    `where`: file, line and function that it stood in. `seconds`: how long it had stood when it was found.
    """

    tool: str
    agent: str
    where: str
    seconds: float


@contextmanager
def watched(seconds: float | None, tell: Callable[[Blocked], None]) -> Iterator[None]:
    """Watch the running loop until the block ends; None: do not.

    `tell` is called once for each block, in the watching thread, while the loop still stands.
    """
    if seconds is None:
        yield
        return
    watchdog = _Watchdog(seconds, tell)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.stop()


class _Watchdog:
    def __init__(self, seconds: float, tell: Callable[[Blocked], None]) -> None:
        self._seconds = seconds
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._beat_at = time.monotonic()
        self._over = threading.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._thread = threading.Thread(target=self._watch, name="orchestra-watchdog", daemon=True)

    def start(self) -> None:
        self._beat()
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        if self._timer is not None:
            self._timer.cancel()
        self._thread.join(timeout=1.0)

    def _beat(self) -> None:
        self._beat_at = time.monotonic()
        self._timer = self._loop.call_later(self._seconds / _BEATS, self._beat)

    def _watch(self) -> None:
        told, seen, suspected = 0.0, 0, _NOWHERE
        pause = self._seconds / _BEATS
        woke = time.monotonic()
        while not self._over.wait(pause):
            late = time.monotonic() - woke - pause
            woke += late + pause
            beat_at = self._beat_at
            silent = woke - beat_at
            if late > pause:
                seen = 0  # this thread could not run either: the machine is what is slow
                continue
            if silent < self._seconds or beat_at == told:
                continue
            frame = sys._current_frames().get(self._loop_thread)  # the one way to another thread's stack
            if frame is None or not _is_busy(frame):
                continue
            # A loop with much to do beats late too; one that stands at the same place each time is blocked.
            place = _place(frame)
            seen = seen + 1 if place == suspected else 1
            suspected = place
            if seen == _LOOKS:
                told = beat_at
                self._tell(_blocked(frame, silent))


class Blocks(deque[Blocked]):
    """The last times that the loop stood still; each is logged as it is found."""

    def __init__(self) -> None:
        super().__init__(maxlen=_REMEMBERED)

    def add(self, found: Blocked) -> None:
        """In the watching thread."""
        log_blocked(found)
        self.append(found)


def log_blocked(found: Blocked) -> None:
    """An event that names the tool and the agent."""
    advice = "run it in a thread: make the tool a plain function, or await anyio.to_thread.run_sync"
    get_logger().warning(
        "runtime.blocked",
        tool=found.tool,
        agent=found.agent,
        where=found.where,
        seconds=round(found.seconds, 2),
        advice=advice,
    )


def _is_busy(frame: FrameType) -> bool:
    """Whether the loop runs somebody's code; else it waits, or the machine does not run it at all."""
    folder = os.path.dirname(frame.f_code.co_filename)
    return not folder.endswith(("asyncio", "uvloop")) and frame.f_code.co_name != "select"


def _place(frame: FrameType) -> tuple[int, int]:
    """Where the loop is: inside which tool's call, else at which instruction of whose code."""
    call = _tool_call(frame)
    if call is not None:
        return id(call), -1
    own = next((at for at in _outwards(frame) if _is_own(at, None)), frame)
    return id(own), own.f_lasti


def _tool_call(frame: FrameType) -> FrameType | None:
    return next((at for at in _outwards(frame) if at.f_code in _RUNS), None)


def _blocked(frame: FrameType, seconds: float) -> Blocked:
    call = _tool_call(frame)
    tool = agent = ""
    if call is not None:
        tool = call.f_locals["call"].name
        agent = call.f_locals.get("agent", "")
    shown = next((at for at in _outwards(frame) if _is_own(at, call)), frame)
    where = f"{shown.f_code.co_filename}:{shown.f_lineno} in {shown.f_code.co_name}"
    return Blocked(tool=tool, agent=agent, where=where, seconds=seconds)


def _is_own(frame: FrameType, call: FrameType | None) -> bool:
    """The innermost frame outside the libraries is where the mistake is."""
    name = frame.f_code.co_filename
    foreign = f"{os.sep}site-packages{os.sep}" in name or name.startswith((sys.prefix, sys.base_prefix, "<"))
    return not foreign and (call is None or not name.startswith(_HERE))


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


# An agent's call, and one that is nobody's.
_RUNS: frozenset[CodeType] = frozenset((Calls.run.__code__, Toolbox.run.__code__))
