"""Every row of the journal, searched for canaries of other sessions than the row's own."""

from __future__ import annotations

import json
from collections.abc import Mapping

from orchestra.journal.reading import Reader
from orchestra.load.witness import Witness


async def search_journal(reader: Reader, owners: Mapping[str, int], witness: Witness) -> dict[str, str]:
    """Search all rows; returns the sessions' status in the journal, by id.

    `owners`: which load session a journal's session is; those that are not there are searched as nobody's.
    """
    statuses: dict[str, str] = {}
    for session in await reader.sessions(None):
        owner = owners.get(session.id, -1)
        statuses[session.id] = session.status
        if owner < 0:
            continue
        events = await reader.events(session.id)
        texts = await reader.texts(where for event in events for where in event.texts.values())
        question = await reader.text(session.question)
        witness.search(f"{session.title}\n{question}", owner, "the journal's row of the session")
        witness.searched["journal rows"] += 1 + len(events)
        for event in events:
            place = f"a journal row ({event.kind}, {event.agent or 'session'})"
            witness.search(json.dumps(event.data), owner, place)
            for name in event.texts.values():
                witness.search(texts[name], owner, place)
    return statuses
