"""What is known of one model at one endpoint, and how it grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from orchestra.log import get_logger
from orchestra.models.compatible.failures import Said
from orchestra.models.compatible.interpret import Read
from orchestra.models.compatible.learn import Lesson, lesson
from orchestra.models.compatible.memory import QuirksStore
from orchestra.models.compatible.quirks import Quirks, by_hand
from orchestra.models.compatible.shape import Outgoing
from orchestra.values.messages import Request

_MOST_LESSONS = 6
"""Refusals of one call that may each teach something: more than any endpoint is known to need."""

_STRIKES = 2
"""How many calls must come back without any JSON before the endpoint is taken to ignore the format."""


class Subject(Struct, frozen=True, kw_only=True):
    """Whom the knowledge is of. `window`: in tokens, before refusals lowered it. `url`: the base URL.

    `hand`: quirks that a person set; they are in force and are not what is kept.
    """

    endpoint: str
    model: str
    window: int
    url: str = ""
    hand: Mapping[str, Any] = {}


class Knowledge:
    """The quirks in force. They change by lessons that worked, and each change is kept in the store.

    `window`: in tokens, as set or listed, lowered to what a refusal named. `doubts_tools`: nobody has seen
    yet that the endpoint uses tools.
    """

    def __init__(self, subject: Subject, quirks: Quirks, store: QuirksStore) -> None:
        self.subject = subject
        self._hold(by_hand(quirks, subject.hand, subject.endpoint))
        self._remembered = quirks
        self._store = store
        self._strikes = 0

    def _hold(self, quirks: Quirks) -> None:
        self.quirks = quirks
        given, learnt = self.subject.window, quirks.window
        self.window = given if learnt is None else min(learnt, given)
        self.doubts_tools = quirks.tools == "unknown"

    def attempt(self, quirks: Quirks | None = None) -> Attempt:
        """`quirks`: those that were in force when the call began."""
        return Attempt(self, quirks or self.quirks)

    def take(self, *lessons: Lesson) -> None:
        """Hold these for true from now on."""
        quirks = self.quirks
        for one in lessons:
            quirks = one.applied(quirks)
            self._remembered = one.applied(self._remembered)
        if quirks is self.quirks:
            return
        self._hold(quirks)
        endpoint, model = self.subject.endpoint, self.subject.model
        self._store.save(endpoint, model, self._remembered)
        for one in lessons:
            get_logger().info("model.learnt", endpoint=endpoint, model=model, learnt=one.sentence)

    def window_is(self, tokens: int) -> None:
        if tokens < self.window:
            self.take(Lesson(f"has a window of {tokens} tokens", {"window": tokens}))

    def saw_tools(self, request: Request, sent: Outgoing, result: Read) -> bool:
        """Learn from a reply to a request with tools. True where a check is due: tools were offered and not
        used, by an endpoint that has never been seen to use any.

        Words in answer to the check prove that tools are ignored (in answer to "required" they do not:
        Ollama takes tools and no tool_choice). A model that thought until its limit has proved nothing.
        """
        if self.quirks.tools != "unknown" or "tools" not in sent.fields or result.hopeless:
            return False
        checking = request.purpose == "check"
        if result.calls or (checking and result.finish == "length" and not result.text):
            self.take(Lesson("calls tools", {"tools": "native"}))
        elif checking:
            self.ignores_tools()
        return self.quirks.tools == "unknown" and request.tool_choice != "none"

    def ignores_tools(self) -> None:
        self.take(Lesson("takes tools and ignores them", {"tools": "emulated"}))

    def saw_formats(self, sent: Outgoing, results: tuple[Read, ...]) -> None:
        """Replies to a schema or JSON mode that had no JSON at all: the endpoint ignores the format."""
        if sent.mode not in {"schema", "json"} or not results[0].no_json:
            return
        self._strikes += 1
        if self._strikes >= _STRIKES:
            name = (
                "output_with_tools" if "tools" in sent.fields and self.quirks.output_with_tools else "output"
            )
            self.take(Lesson("takes output formats and ignores them", {name: "text"}))


class Attempt:
    """One call's tries: lessons are taken on trial and kept only if the call then succeeds."""

    def __init__(self, knowledge: Knowledge, quirks: Quirks) -> None:
        self._knowledge = knowledge
        self._lessons: list[Lesson] = []
        self.quirks = quirks

    def learn(self, status: int, words: Said, sent: Outgoing) -> bool:
        """True where the refusal teaches something that was not known: another try is worth it."""
        if len(self._lessons) >= _MOST_LESSONS:
            return False
        found = lesson(status, words, sent, self.quirks, self._knowledge.subject.url)
        if found is None:
            return False
        quirks = found.applied(self.quirks)
        if msgspec.structs.replace(quirks, learnt=()) == msgspec.structs.replace(self.quirks, learnt=()):
            return False
        self._lessons.append(found)
        self.quirks = quirks
        return True

    def keep(self) -> None:
        """The call succeeded: what was tried is true."""
        if self._lessons:
            self._knowledge.take(*self._lessons)
