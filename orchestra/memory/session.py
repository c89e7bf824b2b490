"""One session's memory: what it hears is kept, what it is given is on record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import msgspec
from msgspec import Struct

from orchestra.errors import StoreError
from orchestra.journal.faults import StoreBusy
from orchestra.journal.track import Track
from orchestra.log import get_logger
from orchestra.memory.hearing import statements, without_statements
from orchestra.memory.kept import Memory, Whose
from orchestra.memory.replacing import replaced
from orchestra.memory.showing import Shelf, Shown
from orchestra.values.report import Report

if TYPE_CHECKING:
    from orchestra.memory.hearing import Statement

log = get_logger()

SHOWN = "memory shown"  # what a note says of the memories that an agent was given
_TRIES, _PATIENCE_SECONDS = 20, 0.1
"""Of writing while another process holds the store's lock."""
_LONGEST_ANSWER = 3_000
"""Characters of an answer that are kept."""
_MOST_SOURCES = 12


class Library(Struct, frozen=True, kw_only=True):
    """What a session's memory is handed. `do` runs a blocking function of the store, `clean` takes secrets
    out, `count` counts tokens, `clock` gives seconds since the epoch.
    """

    do: Callable[..., Awaitable[Any]]
    clean: Callable[[str], str]
    count: Callable[[str], int]
    clock: Callable[[], float]


class SessionMemory:
    """Made for a session that says whose it is. A store that cannot be used costs the memory, not the run."""

    def __init__(self, whose: Whose, session: str, library: Library, *, replay: bool = False) -> None:
        self.whose = whose
        self._session = session
        self._library = library
        self._replay = replay
        self._shelf: Shelf | None = None

    async def heard(self, text: str) -> None:
        """Keep what the user said of himself, of things by name, and what binds."""
        if self._replay:
            return
        said = await anyio.to_thread.run_sync(statements, self._library.clean(text))
        about = without_statements(text) if said else ""
        await self._keep([(self._memory(each, about), each) for each in said])

    async def reported(self, report: Report) -> None:
        """A question was answered by a report: its supported sentences in short, its sources."""
        if report.partial:
            return
        said = [sentence.text for sentence in report.summary if sentence.supported]
        if not said:
            said = [each.text for part in report.sections for each in part.sentences if each.supported][:3]
        await self.solved(report.question, " ".join(said), [each.locator for each in report.references])

    async def solved(self, question: str, answer: str, sources: Sequence[str]) -> None:
        """Keep a question of the project with its answer; an answer to the same question takes its place."""
        clean = self._library.clean
        asked = " ".join(clean(without_statements(question)).split())
        if self._replay or not self.whose.project or not asked or not answer.strip():
            return
        memory = Memory(
            kind="answer",
            project=self.whose.project,
            key=asked,
            text=clean(answer.strip())[:_LONGEST_ANSWER],
            sources=tuple(dict.fromkeys(map(clean, sources)))[:_MOST_SOURCES],
            session=self._session,
            at=self._library.clock(),
        )
        await self._keep([(memory, None)])

    async def shelf(self) -> Shelf:
        """What other sessions have left, read once; what this one says stands in it."""
        if self._shelf is None:
            from orchestra.memory import shelf

            try:
                known = await self._library.do(shelf.known_to, self.whose)
            except StoreError as error:
                log.warning("memory.unread", reason=str(error))
                known = ()
            others = [memory for memory in known if memory.session != self._session]
            self._shelf = Shelf(others, self._library.count)
        return self._shelf

    def _memory(self, said: Statement, about: str) -> Memory:
        """A user's own; what he says in a project belongs to him there, but for what always holds of him."""
        user = self.whose.user
        everywhere = bool(user) and said.always
        return Memory(
            kind="fact" if said.key else "constraint",
            user=user,
            project="" if everywhere else self.whose.project,
            key=said.key,
            value=said.value,
            text=said.text,
            always=said.always,
            about="" if said.key or said.always else about,
            session=self._session,
            at=self._library.clock(),
        )

    async def _keep(self, new: Sequence[tuple[Memory, Statement | None]]) -> None:
        if not new:
            return
        from orchestra.memory import shelf

        said = {id(memory): statement for memory, statement in new}

        def replaces(memory: Memory, holding: Sequence[Memory]) -> Sequence[int] | None:
            statement = said[id(memory)]
            if statement is not None:
                return replaced(statement, holding)
            same = [other for other in holding if other.kind == "answer" and other.key == memory.key]
            return tuple(other.number for other in same)

        memories = [memory for memory, _ in new]
        for left in reversed(range(_TRIES)):
            try:
                await self._library.do(shelf.keep, memories, replaces)
                return
            except StoreError as error:
                if not left or not isinstance(error, StoreBusy):
                    log.warning("memory.unkept", reason=str(error))
                    return
            await anyio.sleep(_PATIENCE_SECONDS)


class AgentMemory:
    """What one agent is given of its session's memory; nothing twice in the same context."""

    def __init__(self, memory: SessionMemory, track: Track) -> None:
        self._memory = memory
        self._track = track
        self._given: set[int] = set()
        self._spent = 0

    async def heard(self, text: str) -> None:
        """The user said this to the agent itself."""
        await self._memory.heard(text)

    async def shown(self, task: str, tokens: int, *, answers: bool) -> tuple[Shown, ...]:
        """What fits a task, at most so many tokens in the whole context: as recorded, else from the store."""
        track = self._track
        noted = track.noted(SHOWN)
        if noted is not None:
            text = track.texts[noted.texts["memory"]] if "memory" in noted.texts else "[]"
            blocks = tuple(msgspec.json.decode(text, type=list[Shown]))
        else:
            blocks = await self._found(task, tokens - self._spent, answers=answers)
        numbers = [number for block in blocks for number in block.memories]
        self._given.update(numbers)
        self._spent += sum(block.tokens for block in blocks)
        texts = {"memory": msgspec.json.encode(blocks).decode()} if blocks else {}
        await track.put("note", {"what": SHOWN, "memories": numbers}, texts)
        return blocks

    def clear(self) -> None:
        """Its context is empty again."""
        self._given.clear()
        self._spent = 0

    async def _found(self, task: str, tokens: int, *, answers: bool) -> tuple[Shown, ...]:
        shelf = await self._memory.shelf()
        if not len(shelf):
            return ()
        find = partial(shelf.shown, task, tokens, answers=answers, skip=frozenset(self._given))
        return await anyio.to_thread.run_sync(find)
