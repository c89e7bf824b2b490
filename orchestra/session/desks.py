"""How an agent's desk is put together: the one place where the wrappers of its tools meet.

tools:  RecordedToolbox ( a person's approval ( what is intended ( Toolbox ) ) )
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import msgspec
from msgspec import Struct

from orchestra.agent.desk import Desk
from orchestra.evidence.ledger import Ledger
from orchestra.journal.track import Track
from orchestra.memory.session import AgentMemory, SessionMemory
from orchestra.session.kit import Kit
from orchestra.session.people import People
from orchestra.spend.purse import Purse
from orchestra.spend.scope import Scopes
from orchestra.tools.finding import Choice
from orchestra.tools.groups import Pool
from orchestra.tools.outputs import Cleaner
from orchestra.tools.place import Place
from orchestra.tools.recorded import Guard, RecordedToolbox
from orchestra.tools.running import Calls
from orchestra.tools.showing import Sizes
from orchestra.values.messages import OutputSpec
from orchestra.values.roles import Role
from orchestra.values.usage import Usage

NO_RULES: Mapping[str, str] = {}


class Common(Struct, frozen=True, kw_only=True):
    """What the desks of one session have in common."""

    kit: Kit
    ledger: Ledger
    scopes: Scopes
    people: People
    clean: Cleaner
    charge: Callable[[str, Usage], None]
    tell: Callable[[str], None]
    durable: Callable[[], Awaitable[None]]
    calls: Calls
    memory: SessionMemory | None = None
    sizes: Sizes = msgspec.field(default_factory=Sizes)


def desk_for(common: Common, role: Role, track: Track, pool: Pool, output: OutputSpec | None) -> Desk:
    """The desk of one agent, recorded on its track."""
    kit = common.kit
    place = Place(track.path, kit.times)
    project = common.memory.whose.project if common.memory is not None else ""
    guard = Guard(
        ask=common.people.ask,
        durable=common.durable,
        calls=common.calls,
        clean=common.clean,
        rules=dict(role.approve) if role.approve else NO_RULES,
        place=place,
        choice=Choice(chooser=kit.chooser, named=pool.named, instructions=role.instructions, project=project),
    )
    return Desk(
        tiers=kit.tiers,
        toolbox=RecordedToolbox(pool.tools, track, guard),
        track=track,
        place=place,
        policy=kit.policies[role.context],
        counter=kit.counter,
        counts=kit.counts,
        ledger=common.ledger,
        purse=Purse(role.name, role.limits.tokens, common.scopes),
        output=output,
        charge=common.charge,
        tell=common.tell,
        memory=AgentMemory(common.memory, track) if common.memory is not None else None,
        meaning=kit.meaning,
        sizes=common.sizes,
    )
