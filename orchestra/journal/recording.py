"""What all of a session's tracks share: where events go, and what is there already."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct, field

from orchestra.journal.past import AgentPast, Past
from orchestra.journal.pen import Pen
from orchestra.redact import Redactor
from orchestra.values.events import Event


async def nothing(_what: object = None) -> None:
    """Where there is nothing to wait for."""


def nobody(_event: Event) -> None:
    """Where nothing comes again."""


class Recording(Struct, frozen=True, kw_only=True):
    """What all tracks of a session share.

    `pen` takes a new event; `watch` takes one that comes again. `clean` takes secrets out of a text.
    `missing` is awaited, with the agent's path, before something is made that is not recorded; where nothing
    may be, it raises or never returns.
    `from_here`: a request that differs from the record is made, and what was recorded after it does not
    count. `loosely`: see `Asked.difference`. `unrecorded`: the empty record of agents without one.
    """

    session: str
    pen: Pen
    watch: Callable[[Event], None]
    clock: Callable[[], float]
    clean: Redactor
    past: Past | None = None
    unrecorded: AgentPast = field(default_factory=lambda: AgentPast(""))
    missing: Callable[[str], Awaitable[None]] = nothing
    from_here: bool = False
    loosely: bool = False
