"""Which talk a chat goes on with, and how a new one begins."""

from __future__ import annotations

from contextlib import AsyncExitStack

from msgspec import Struct, structs

from orchestra.errors import InputError
from orchestra.journal.records import SessionRecord
from orchestra.resume.host import Resuming
from orchestra.resume.start import Start, start_of
from orchestra.runtime import Runtime
from orchestra.session.chat import CHAT
from orchestra.session.conversation import Conversation
from orchestra.session.diary import Watch
from orchestra.session.session import Session
from orchestra.tools.documents.tools import READ, SEARCH
from orchestra.tools.toolbox import nearest
from orchestra.values.messages import Listen
from orchestra.values.usage import NO_USAGE

_LOOKED_AT = 500
"""Chats, newest first, among which the last one of this agent, user and folder is looked for."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What a person asked for. `documents` is a whole path, "" for none; `session`: one to go on with.

    `user` and `project`: whose memory it has. `reports`: the folder where a talk is saved.
    """

    agent: str
    documents: str = ""
    user: str = ""
    project: str = ""
    session: str = ""
    new: bool = False
    reports: str = ""

    @property
    def start(self) -> Start:
        """How such a talk is started."""
        options = {"agent": self.agent}
        return Start(
            workflow=CHAT,
            documents=self.documents,
            options=options,
            user=self.user,
            project=self.project,
        )

    def as_recorded(self, record: SessionRecord) -> Wanted:
        """The same for a recorded talk; its documents may be elsewhere now. Raises InputError for no talk."""
        start = start_of(record)
        if start.workflow != CHAT:
            raise InputError(f"{record.id} is no talk: `orchestra resume {record.id}` goes on with it.")
        return structs.replace(
            self,
            agent=str(start.options.get("agent", self.agent)),
            documents=self.documents or start.documents,
            user=start.user,
            project=start.project,
        )


class Talk:
    """The chat's session and conversation, once there is something to record.

    `before`: what the talk had taken when its last turn began.
    """

    def __init__(self, runtime: Runtime, wanted: Wanted, watch: Watch, listen: Listen) -> None:
        self.runtime = runtime
        self.wanted = wanted
        self.before = NO_USAGE
        self.session: Session | None = None
        self.conversation: Conversation | None = None
        self._watch = watch
        self._listen = listen

    def check(self) -> None:
        """Raises InputError for an agent that is not there, or cannot work without documents."""
        roles = self.runtime.kit.roles
        role = roles.get(self.wanted.agent)
        if role is None:
            raise InputError(f"No role is called {self.wanted.agent!r}; {nearest(self.wanted.agent, roles)}.")
        if not self.wanted.documents and {SEARCH.name, READ.name} & set(role.tools or ()):
            raise InputError(f"The role {role.name} reads documents: name their folder with --docs.")

    async def last(self) -> SessionRecord | None:
        """The newest talk with this agent, of this user and project, over this folder."""
        wanted = _essence(self.wanted.start)
        found = await self.runtime.kit.journal.sessions(_LOOKED_AT, workflow=CHAT.rpartition(":")[2])
        for record in found:
            if _essence(start_of(record)) == wanted:
                return record
        return None

    async def go_on(self, record: SessionRecord, stack: AsyncExitStack) -> None:
        """Go on with a recorded talk. Raises InputError where another program is at it."""
        how = Resuming(documents=self.wanted.documents)
        opened, _ = await stack.enter_async_context(self.runtime.resumed(record.id, how, watch=self._watch))
        self.session = opened
        await self._converse().catch_up()

    async def begin(self, first: str, stack: AsyncExitStack) -> Conversation:
        """A new talk, known by what is said first."""
        title = first if any(char.isalnum() for char in first) else f"a chat: {first}"
        begun = self.runtime.begin(title, self.wanted.start, watch=self._watch)
        self.session = await stack.enter_async_context(begun)
        return self._converse()

    def _converse(self) -> Conversation:
        assert self.session is not None
        self.conversation = self.session.conversation(self.wanted.agent, listen=self._listen)
        return self.conversation


def _essence(start: Start) -> tuple[object, ...]:
    """What makes two talks the same one."""
    return start.workflow, dict(start.options), start.documents, start.user, start.project
