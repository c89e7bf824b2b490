"""One turn as a person sees it: the answer as it comes, a line for each tool, and who may stop it."""

from __future__ import annotations

import getpass
import time
from contextlib import suppress

import anyio

from orchestra.cli.chat.looking import total
from orchestra.cli.chat.opening import Talk
from orchestra.cli.chat.reading import Broken, Input
from orchestra.cli.chat.saving import sources
from orchestra.cli.chat.screen import Screen
from orchestra.cli.printing import columns, line, number, seconds
from orchestra.errors import InputError
from orchestra.journal.encoding import decode
from orchestra.session.conversation import Conversation, Exchange
from orchestra.session.session import Session
from orchestra.tools.approval import Answer
from orchestra.values.events import Event
from orchestra.values.handoffs import Outcome
from orchestra.values.messages import Delta

_TICK_SECONDS = 0.2
_WAITS_AFTER_SECONDS = 0.5  # a passing line for what is quicker only flickers
_YES = ("y", "yes", "是", "好")
_WHO = "the user"
_AROUND, _LEAST = 6, 12  # columns beside a call's arguments, and the fewest that they have


class Turn:
    """Shows turns one after another; `hear` and `watch` are told of what happens in them."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self._doing = ""
        self._since = 0.0
        self._called: dict[int, str] = {}
        self._asked: list[tuple[str, str, str]] = []
        self._asks = anyio.Event()
        self._waits = False  # for a person's word
        self._held: list[str] = []
        self._shown = False
        self._stopping = False
        self._talks = False

    def hear(self, piece: Delta | None) -> None:
        """A piece of the answer; None: it begins anew. What a model thinks before it is not shown."""
        if piece is not None:
            if piece.text:
                self._shown = True
                self._do("")
                self.screen.piece(piece.text)
        elif self._shown:
            self._shown = False
            if self.screen.end_answer():
                self.screen.aside("what stands above does not count: the answer begins anew")

    def watch(self, event: Event) -> None:
        """An event of the session."""
        data = event.data
        match event.kind:
            case "call":
                self._do(f"{data['model']} {'sums up' if data.get('purpose') == 'summary' else 'thinks'}")
            case "reply":
                self._do("")
                self._shown = False
                self.screen.end_answer()
            case "tool_called":
                self._called[data["n"]] = event.texts.get("arguments", "")
                self._do(str(data["tool"]))
            case "tool_returned":
                self._do("")
                self._aside(_returned(event, self._called.pop(data["n"], "")))
            case "compacted" if self._talks:
                left = number(len(data["left"]), "block")
                told = f"{left} left the context: {data['before']:,} → {data['after']:,} tokens"
                self._aside(told)
            case "approval" if data["state"] == "asked":
                self._asked.append((data["key"], data["what"], event.texts.get("detail", "")))
                self._asks.set()
            case _:
                if told := _NOTES.get(str(data.get("what")), "") if event.kind == "note" else "":
                    self._aside(told.format(**data))

    async def say(self, talk: Talk, conversation: Conversation, text: str, reader: Input) -> Outcome:
        """Say it, show what comes of it, and return that."""
        session = talk.session
        assert session is not None
        talk.before = total(session.usage)
        self._stopping, self._shown, self._talks = False, False, True
        self._called.clear()
        self._asked.clear()
        async with anyio.create_task_group() as group:
            group.start_soon(self._tick)
            group.start_soon(self._ask, session, conversation, reader)
            outcome = await conversation.say(text)
            group.cancel_scope.cancel()
        self._talks = False
        self._do("")
        self._end(session, conversation, outcome)
        return outcome

    def stop(self, session: Session, conversation: Conversation) -> None:
        """End the answer, not the talk."""
        with suppress(InputError):  # it has just ended by itself, or was stopped before
            session.stop("", who=_WHO, agent=conversation.path)
            self._stopping = True

    def _end(self, session: Session, conversation: Conversation, outcome: Outcome) -> None:
        screen = self.screen
        shown = screen.end_answer()
        if outcome.status == "failed":
            if not self._stopping:
                screen.say(outcome.reason, fg="red")
            elif outcome.text and shown:
                screen.note("(stopped; what stands above stays in the talk as it is)")
            else:
                screen.note("(stopped before there was an answer; what you said stays in the talk)")
            return
        last = Exchange(said="", at=0.0, outcome=outcome)
        if listed := sources(session.ledger, conversation.path, (last,)):
            screen.note("\n".join(f"  [{label}] {where}" for label, where in listed))
        if outcome.status == "partial":
            screen.note(f"({outcome.reason})")

    def _aside(self, text: str) -> None:
        """A line beside the answer; it waits while a person is being asked something."""
        self._held.append(text)
        if not self._waits:
            self._show_held()

    def _show_held(self) -> None:
        held, self._held = self._held, []
        for text in held:
            self.screen.aside(text, indent=2)

    def _do(self, what: str) -> None:
        self._doing, self._since = what, time.monotonic()
        if not what:
            self.screen.pass_over("")

    async def _tick(self) -> None:
        """Say what is waited for, and for how long."""
        while True:
            await anyio.sleep(_TICK_SECONDS)
            spent = time.monotonic() - self._since
            if self._doing and not self._waits and spent > _WAITS_AFTER_SECONDS:
                self.screen.pass_over(f"{self._doing} … {spent:.0f} s (Ctrl-C stops)")

    async def _ask(self, session: Session, conversation: Conversation, reader: Input) -> None:
        """Put what the session asks to the person, one after another."""
        while True:
            await self._asks.wait()
            self._asks = anyio.Event()
            while self._asked:
                key, what, detail = self._asked.pop(0)
                self._waits = True
                self.screen.pass_over("")
                self.screen.say(f"{what} {detail}".rstrip(), fg="yellow")
                try:
                    said = await reader.ask("allow? y or n, or why not: ")
                except Broken:
                    self.stop(session, conversation)
                    return
                finally:
                    self._waits = False
                    self._show_held()
                session.people.answer(key, _answer(said))


def _answer(said: str | None) -> Answer:
    word = (said or "").strip()
    yes = word.lower() in _YES
    reason = "" if yes or word.lower() in ("", "n", "no", "不") else word
    return Answer(approved=yes, reason=reason, by=f"{getpass.getuser()} (chat)")


def _returned(event: Event, arguments: str) -> str:
    """A tool's call and what came of it, in one line; what came of it is seen whatever the width."""
    data = event.data
    found = number(data["passages"], "passage") if data.get("passages") else ""
    spent = seconds(data["seconds"]) if data["seconds"] >= 1 else ""
    outcome = "".join(f" · {part}" for part in (str(data.get("error") or found), spent) if part)
    room = columns() - len(str(data["tool"])) - len(outcome) - _AROUND
    return f"{data['tool']} {line(_told(arguments), max(room, _LEAST))}{outcome}"


def _told(arguments: str) -> str:
    """A call's arguments for a person: the texts in them, or all."""
    try:
        given = decode(arguments)
    except ValueError:
        return arguments
    texts = [value for value in given.values() if isinstance(value, str)] if isinstance(given, dict) else []
    return ", ".join(f"“{text}”" for text in texts) or arguments


_NOTES = {
    "escalated": "the {from} model did not manage; the {to} model goes on",
    "output invalid": "the reply of the {tier} model does not fit: {problem}",
    "window lowered": "the endpoint takes {tokens:,} tokens and no more",
    "budget": "{share:.0%} of the {scope}'s budget is used",
}
