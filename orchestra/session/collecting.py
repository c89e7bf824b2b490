"""How often the garbage collector looks, while sessions are hosted."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# The interpreter looks after 700 new objects that may hold others: some twenty times a session, and nearly
# all that it looks at then is still in use. After so many it is a tenth of the CPU less, and what waits to
# be found is a few MB (of 5,000, 10,000, 20,000 and 50,000, where the last two gained nothing more).
_NEW_OBJECTS = 10_000


@contextmanager
def collected_seldom() -> Iterator[None]:
    """The collector looks less often inside the block; one that is off, or looks less often, stays so."""
    before = gc.get_threshold()
    if 0 < before[0] < _NEW_OBJECTS:
        gc.set_threshold(_NEW_OBJECTS, *before[1:])
        ours = gc.get_threshold()
        try:
            yield
        finally:
            if gc.get_threshold() == ours:  # nobody has changed it meanwhile
                gc.set_threshold(*before)
    else:
        yield
