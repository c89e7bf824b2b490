"""How an agent's desk is put together: the one place where the wrappers of models and tools meet.

model:  Recorded ( what the runtime opened: retries, governor, adapter )
tools:  RecordedToolbox ( a person's approval ( what is intended ( Toolbox ) ) )
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct

from orchestra.agent.desk import Desk
from orchestra.evidence.ledger import Ledger
from orchestra.journal.track import Recording, Track
from orchestra.models.recorded import Recorded
from orchestra.models.tiers import Tiers
from orchestra.session.kit import Kit
from orchestra.session.people import People
from orchestra.spend.scope import Spend
from orchestra.tools.approval import Answer, Asked
from orchestra.tools.finding import Choice
from orchestra.tools.groups import Pool
from orchestra.tools.outputs import Cleaner
from orchestra.tools.place import Place
from orchestra.tools.recorded import Guard, RecordedToolbox
from orchestra.tools.running import Calls
from orchestra.values.messages import OutputSpec
from orchestra.values.roles import Role
from orchestra.values.usage import Usage


class Common(Struct, frozen=True, kw_only=True):
    """What the desks of one session have in common."""

    kit: Kit
    recording: Recording
    ledger: Ledger
    spend: Spend
    people: People
    clean: Cleaner
    charge: Callable[[str, Usage], None]
    tell: Callable[[str], None]
    durable: Callable[[], Awaitable[None]]
    calls: Calls


def desk_for(common: Common, role: Role, track: Track, pool: Pool, output: OutputSpec | None) -> Desk:
    """The desk of one agent, recorded on its track."""
    kit = common.kit
    place = Place()
    models = {tier: Recorded(model, tier, track) for tier, model in kit.tiers.items()}

    async def ask(asked: Asked) -> Answer:
        return await common.people.ask(asked, track, place)

    guard = Guard(
        ask=ask,
        durable=common.durable,
        calls=common.calls,
        clean=common.clean,
        rules=dict(role.approve),
        place=place,
        choice=Choice(chooser=kit.chooser, named=pool.named, instructions=role.instructions),
    )
    return Desk(
        tiers=Tiers(models, streamed=kit.tiers.streamed),
        toolbox=RecordedToolbox(pool.tools, track, guard),
        track=track,
        place=place,
        policy=kit.policies[role.context],
        counter=kit.counter,
        counts=kit.counts,
        ledger=common.ledger,
        spend=Spend(role.name, tokens=role.limits.tokens, parent=common.spend),
        output=output,
        charge=common.charge,
        tell=common.tell,
    )
