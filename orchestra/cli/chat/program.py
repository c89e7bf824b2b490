"""The chat's loop: read, answer, read; Ctrl-C ends what runs and never the program."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import AsyncExitStack

import anyio
import click

from orchestra.cli.chat.answering import Turn
from orchestra.cli.chat.greeting import Greeting
from orchestra.cli.chat.looking import occupancy, total
from orchestra.cli.chat.opening import Talk, Wanted
from orchestra.cli.chat.reading import Broken, Input, input_for, unheard
from orchestra.cli.chat.screen import Screen
from orchestra.cli.chat.slash import Slash
from orchestra.cli.main import INTERRUPTED
from orchestra.cli.printing import cost, joined, number
from orchestra.config.settings import Resolved
from orchestra.errors import InputError, RunError, alone
from orchestra.journal.records import SessionRecord
from orchestra.runtime import Runtime

PROMPT = "> "


class Chat:
    """One call of `orchestra chat`."""

    def __init__(self, wanted: Wanted, resolved: Resolved) -> None:
        self._wanted = wanted
        self._resolved = resolved
        self._screen = Screen()
        self._turn = Turn(self._screen)
        self._interrupt: Callable[[], None] | None = None
        self._talk: Talk | None = None

    async def run(self) -> int:
        code = INTERRUPTED
        with alone():
            async with anyio.create_task_group() as group:
                group.start_soon(self._signals, group.cancel_scope)
                with unheard():
                    async with Runtime(self._resolved.settings) as runtime, AsyncExitStack() as stack:
                        code = await self._in(runtime, stack)
                group.cancel_scope.cancel()
        if code == INTERRUPTED:
            click.echo("orchestra: interrupted", err=True)
        return code

    async def _in(self, runtime: Runtime, stack: AsyncExitStack) -> int:
        record = None
        if self._wanted.session:
            record = await runtime.kit.journal.find_session(self._wanted.session)
            self._wanted = self._wanted.as_recorded(record)
        talk = self._talk = Talk(runtime, self._wanted, self._turn.watch, self._turn.hear)
        talk.check()
        slash = Slash(talk, self._screen)
        reader = input_for(self._screen, slash.choices, self._foot)
        greeting = Greeting(self._screen, self._resolved, talk)
        await greeting.first()
        await self._go_on(talk, record, stack, greeting)
        if talk.conversation is not None and talk.session is not None:
            talk.before = total(talk.session.usage)
            reader.remember(each.said for each in talk.conversation.turns)
        with self._screen.there():
            while not slash.leaving and not self._screen.gone:
                try:
                    await self._next(talk, slash, stack, reader)
                except Broken:
                    self._screen.note("Ctrl-D or /quit leaves; Ctrl-C stops an answer.")
                except (InputError, RunError) as error:  # a role or a store to be mended ends the program
                    self._screen.say(str(error), fg="red")
        greeting.last()
        return 0

    async def _go_on(
        self, talk: Talk, record: SessionRecord | None, stack: AsyncExitStack, greeting: Greeting
    ) -> None:
        """The talk that was named, or the last one, unless a new one is wanted."""
        wanted = self._wanted
        if record is None and not wanted.new:
            record = await talk.last()
        if record is None:
            return
        self._screen.muted = True
        try:
            await talk.go_on(record, stack)
        except InputError:
            if wanted.session:
                raise
            self._screen.muted = False
            self._screen.note(f"the last talk, {record.id}, is open in another window: this is a new one")
            return
        finally:
            self._screen.muted = False
        greeting.again()

    async def _next(self, talk: Talk, slash: Slash, stack: AsyncExitStack, reader: Input) -> None:
        """One input and what comes of it."""
        if self._screen.live:
            self._screen.say()
        typed = await reader.read(PROMPT)
        if typed is None or self._is_stopped(talk):
            slash.leaving = True
        else:
            await self._take(typed.strip(), talk, slash, stack, reader)

    async def _take(self, typed: str, talk: Talk, slash: Slash, stack: AsyncExitStack, reader: Input) -> None:
        if not typed:
            return
        if typed.startswith("/") and not typed.startswith("//"):
            await self._stoppable(slash, typed)
            return
        text = typed.removeprefix("/") if typed.startswith("//") else typed
        conversation = talk.conversation or await talk.begin(text, stack)
        session = talk.session
        assert session is not None
        self._interrupt = lambda: self._turn.stop(session, conversation)
        try:
            await self._turn.say(talk, conversation, text, reader)
        finally:
            self._interrupt = None

    async def _stoppable(self, slash: Slash, typed: str) -> None:
        """A command, which Ctrl-C ends."""
        with anyio.CancelScope() as scope:
            self._interrupt = scope.cancel
            try:
                await slash(typed)
            finally:
                self._interrupt = None
        if scope.cancelled_caught:
            self._screen.note("(stopped)")

    def _is_stopped(self, talk: Talk) -> bool:
        """Whether somebody else has ended the session."""
        if talk.session is None or not talk.session.stopped:
            return False
        self._screen.say(f"The talk was stopped: {talk.session.stopped}.", fg="red")
        return True

    def _foot(self) -> str:
        """The line below what is being typed."""
        talk = self._talk
        if talk is None or talk.session is None or talk.conversation is None:
            return f"{self._wanted.agent} · /help"
        usage = total(talk.session.usage)
        turns = number(len(talk.conversation.current), "turn")
        money = cost(usage) if usage.cost != 0 else ""
        return joined((self._wanted.agent, turns, occupancy(talk.conversation), money, "/help"))

    async def _signals(self, everything: anyio.CancelScope) -> None:
        ends = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
        with anyio.open_signal_receiver(signal.SIGINT, *ends) as signals:
            async for number_ in signals:
                if number_ == signal.SIGINT and self._interrupt is not None:
                    self._interrupt()
                else:
                    everything.cancel()
