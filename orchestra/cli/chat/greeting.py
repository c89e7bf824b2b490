"""What a chat says first and last: who answers, from what, and which talk goes on."""

from __future__ import annotations

import os

from orchestra.cli.chat.opening import Talk
from orchestra.cli.chat.screen import Screen
from orchestra.cli.printing import columns, cut, number, when
from orchestra.config.settings import Resolved
from orchestra.errors import InputError

_EXTRACTIVE = "extractive"
_SHOWN_LINES = 6


class Greeting:
    def __init__(self, screen: Screen, resolved: Resolved, talk: Talk) -> None:
        self._screen = screen
        self._resolved = resolved
        self._talk = talk

    async def first(self) -> None:
        """Who answers and what they can do, then how to go about it."""
        screen, talk = self._screen, self._talk
        role = talk.runtime.kit.roles[talk.wanted.agent]
        documents, problems = 0, tuple[str, ...]()
        if talk.wanted.documents:
            screen.pass_over(f"reading {talk.wanted.documents} …")
            try:
                documents, problems = await talk.runtime.look(talk.wanted.documents)
            except InputError as error:
                if not talk.wanted.session:
                    raise
                problems = (f"{error} The talk goes on without it; --docs says where it is now.",)
            finally:
                screen.pass_over("")
        name = talk.runtime.kit.tiers.model_for(role.final).name
        tiers = self._resolved.settings.tiers.values()
        place = next((tier.endpoint for tier in tiers if tier.model == name and not tier.built_in), "")
        folder = f"{number(documents, 'document')} in {shown_path(talk.wanted.documents)}"
        screen.say(_ability(name, place, folder if documents else ""), bold=True)
        for warning in self._resolved.warnings:
            screen.say(warning, fg="yellow")
        if self._resolved.by_default:
            from orchestra.models.discovery import local_offer

            if offer := await local_offer():
                screen.note(offer)
        for problem in problems:
            screen.note(f"left out: {problem}" if documents else problem)
        screen.note("/help lists the commands, Ctrl-C stops an answer, Ctrl-D leaves")

    def again(self) -> None:
        """Which talk goes on, and how it stood."""
        conversation, session = self._talk.conversation, self._talk.session
        assert conversation is not None
        assert session is not None
        turns = conversation.turns
        since = f" of {when(turns[0].at)}" if turns else ""
        new = "" if self._talk.wanted.session else " (--new begins another)"
        self._screen.note(f"going on with the talk{since}, {number(len(turns), 'turn')}{new}")
        for exchange in conversation.current[-1:]:
            outcome = exchange.outcome
            self._quote("> ", exchange.said)
            self._quote("", outcome.text)
            if outcome.status == "failed":
                self._screen.note(f"({outcome.reason}; ask again if you still want to know)")

    def last(self) -> None:
        """How to go on."""
        session = self._talk.session
        if session is not None:
            self._screen.note(f"session {session.id} (`orchestra chat --session {session.id}` goes on)")

    def _quote(self, mark: str, text: str) -> None:
        lines = text.splitlines()
        for line in lines[:_SHOWN_LINES]:
            self._screen.say(cut(mark + line, columns() - 1), dim=True)
            mark = " " * len(mark)
        if len(lines) > _SHOWN_LINES:
            self._screen.say(f"{mark}… {len(lines) - _SHOWN_LINES} lines more", dim=True)


def shown_path(folder: str) -> str:
    """A folder as short as it can be said from here."""
    near = os.path.relpath(folder) if folder else ""
    return near if len(near) < len(folder) and not near.startswith("..") else folder


def _ability(model: str, place: str, documents: str) -> str:
    """The model that answers, and what it can do."""
    if model == _EXTRACTIVE:
        if documents:
            return f"extractive (built in, no language model) answers with sentences of the {documents}."
        return (
            "extractive (built in, no language model) can only answer with sentences of documents, and there "
            "are none: name a folder with --docs, or a model with --endpoint and --large."
        )
    where = f" at {place}" if place else ""
    if documents:
        return f"{model}{where} answers; it can search and read the {documents}."
    return f"{model}{where} answers from what it knows; --docs gives it documents to read."
