"""What a chat's session is as a workflow: its recorded turns, run again."""

from __future__ import annotations

from orchestra.session.conversation import Exchange
from orchestra.session.session import Session

CHAT = "orchestra.session.chat:chat"
"""Where the workflow is, as the session's record says."""


async def chat(session: Session, question: str) -> tuple[Exchange, ...]:
    """The turns of all conversations in the session's record; nobody is asked anything."""
    del question
    turns: tuple[Exchange, ...] = ()
    for role in session.talkers():
        turns += await session.conversation(role).catch_up()
    return turns
