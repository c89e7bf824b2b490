"""An agent hears a reply as it comes: what it says is shown, what it calls may begin."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import msgspec

from orchestra.errors import alone
from orchestra.models.port import parts_of
from orchestra.tools.early import Early
from orchestra.tools.recorded import RecordedToolbox
from orchestra.values.messages import Delta, Listen, Reply


class Hearing:
    """One reply. `early` None: its calls wait until it is recorded."""

    def __init__(self, listen: Listen | None, toolbox: RecordedToolbox, early: Early | None) -> None:
        self.early = early
        self._listen = listen
        self._toolbox = toolbox
        self._heard: list[Delta] = []

    def __call__(self, delta: Delta | None) -> None:
        if delta is None:
            self._forget()
            return
        if self.early is not None and delta.call is not None:
            self._toolbox.begin(self.early, delta.call)
        if self._listen is not None:
            self._heard.append(delta)
            self._listen(delta)

    def ended(self, reply: Reply | None) -> None:
        """The reply is whole and recorded; who listens is left with what it says. None: it was of no use."""
        if reply is None:
            self._forget()
        elif self._listen is not None and not _says(self._heard, reply):
            self._tell_anew()
            for part in parts_of(reply):
                self._listen(part)

    def _forget(self) -> None:
        if self.early is not None:
            self.early.forget()
        self._tell_anew()

    def _tell_anew(self) -> None:
        if self._listen is not None and self._heard:
            self._heard.clear()
            self._listen(None)


@asynccontextmanager
async def hearing(listen: Listen | None, toolbox: RecordedToolbox, *, begin: bool) -> AsyncIterator[Hearing]:
    """What hears one reply. `begin`: its calls may; what was begun ends with the block."""
    if not begin:
        yield Hearing(listen, toolbox, None)
        return
    cancelled: BaseException | None = None
    with alone():
        async with anyio.create_task_group() as group:
            early = Early(group)
            try:
                yield Hearing(listen, toolbox, early)
            except anyio.get_cancelled_exc_class() as error:
                cancelled = error  # kept from the group, which would take it for its own in a shielded turn
            finally:
                early.forget()
    if cancelled is not None:
        raise cancelled


def _says(heard: list[Delta], reply: Reply) -> bool:
    """Whether what was heard is what the reply says; a value may be written in another way."""
    calls = tuple(delta.call for delta in heard if delta.call is not None)
    text = "".join([delta.text for delta in heard])
    if calls != reply.calls:
        return False
    return text.strip() == reply.text.strip() or (reply.value is not None and _same_json(text, reply.text))


def _same_json(text: str, other: str) -> bool:
    try:
        return bool(msgspec.json.decode(text) == msgspec.json.decode(other))
    except msgspec.DecodeError:
        return False
