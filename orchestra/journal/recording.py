"""What all of a session's tracks share: where events go, and what is there already."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct, field

from orchestra.journal.past import AgentPast, Past
from orchestra.redact import Redactor
from orchestra.values.events import Event


async def nothing(_what: object = None) -> None:
    """Where there is nothing to wait for."""


async def at_once(_mark: int, _seconds: float) -> bool:
    """Where all is safe as soon as it is put."""
    return True


def nobody(_event: Event) -> None:
    """Where nothing comes again."""


def no_offer(_event: Event) -> bool:
    """Where every event is waited for."""
    return False


class Recording(Struct, frozen=True, kw_only=True):
    """What all tracks of a session share.

    `put` takes a new event; `offer` does where that needs no waiting, or says no. `watch` takes one that
    comes again. `clean` takes secrets out of a text. `missing` is
    awaited, with the agent's path, before something is made that is not recorded; where nothing may be, it
    raises or never returns. `hurry` has what was put written and gives a mark; `durable` returns when all up
    to a mark is safe, or cannot be made so now; `settled` waits so many seconds at most, more or less, and
    says whether that is so.
    `from_here`: a request that differs from the record is made, and what was recorded after it does not
    count. `loosely`: see `Asked.difference`. `unrecorded`: the empty record of agents without one.
    """

    session: str
    put: Callable[[Event], Awaitable[None]]
    watch: Callable[[Event], None]
    clock: Callable[[], float]
    clean: Redactor
    offer: Callable[[Event], bool] = no_offer
    durable: Callable[[int], Awaitable[object]] = nothing
    settled: Callable[[int, float], Awaitable[bool]] = at_once
    hurry: Callable[[], int] = int
    past: Past | None = None
    unrecorded: AgentPast = field(default_factory=lambda: AgentPast(""))
    missing: Callable[[str], Awaitable[None]] = nothing
    from_here: bool = False
    loosely: bool = False
