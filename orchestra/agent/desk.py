"""What an agent is handed to work with."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct

from orchestra.context.policy import Policy
from orchestra.context.tokens import Counter
from orchestra.evidence.ledger import Ledger
from orchestra.journal.track import Track
from orchestra.memory.session import AgentMemory
from orchestra.models.counts import Calibrations
from orchestra.models.meaning import Meaning
from orchestra.models.tiers import Tiers
from orchestra.spend.purse import Purse
from orchestra.tools.place import Place
from orchestra.tools.recorded import RecordedToolbox
from orchestra.tools.showing import Sizes
from orchestra.values.messages import Listen, OutputSpec
from orchestra.values.usage import Usage


class Desk(Struct, frozen=True, kw_only=True):
    """What an agent is handed to work with; it reaches for nothing else.

    `toolbox` is recorded on its `track`, which also has the time. `charge(tier, usage)` books
    a call, `tell` is for what the person has to know. `output`: what the role's output name stands for,
    None for text. `counts`: how endpoints count our tokens. `sizes`: tokens
    of the session's passages. `memory`: what it is given of other sessions.
    `listen` hears the agent's replies as they come; None: nobody does. `meaning`: makes vectors for recall.
    """

    tiers: Tiers
    toolbox: RecordedToolbox
    track: Track
    place: Place
    policy: Policy
    counter: Counter
    counts: Calibrations
    ledger: Ledger
    purse: Purse
    output: OutputSpec | None
    charge: Callable[[str, Usage], None]
    tell: Callable[[str], None]
    memory: AgentMemory | None = None
    sizes: Sizes = msgspec.field(default_factory=Sizes)
    listen: Listen | None = None
    meaning: Meaning | None = None
