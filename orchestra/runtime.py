"""The runtime: hosts many sessions; owns the journal, the models and the indexes, and closes them."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

from orchestra.config.load import load_settings
from orchestra.config.settings import Settings
from orchestra.context.tokens import counter_for
from orchestra.errors import InputError
from orchestra.journal.ids import session_id
from orchestra.journal.journal import Journal
from orchestra.models.port import Model
from orchestra.roles.load import load_roles
from orchestra.session.session import Kit, Session, Watch
from orchestra.spend import Spend
from orchestra.tools.documents.index import DocumentIndex
from orchestra.tools.documents.tools import document_tools
from orchestra.tools.port import Tool
from orchestra.tools.toolbox import Toolbox
from orchestra.values.report import Report
from orchestra.values.roles import Role
from orchestra.workflow import Options, research_then_write

T = TypeVar("T")
Workflow = Callable[[Session, str], Awaitable[T]]


class Runtime:
    """`async with Runtime(...) as runtime:` hosts sessions until the block ends.

    `settings` None: as the command line finds them (orchestra.toml, environment, defaults).
    `models`: tier → Model, in place of what the settings say. `roles`: more roles, by name, over those
    of the settings. `tools`: what every session may use beside its documents.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        models: Mapping[str, Model] | None = None,
        roles: Iterable[Role] = (),
        tools: Iterable[Tool] = (),
        store: str | None = None,
    ) -> None:
        self._settings = settings
        self._models = models
        self._roles = tuple(roles)
        self._tools = tuple(tools)
        self._store = store
        self._stack = AsyncExitStack()
        self._indexes: dict[Path, DocumentIndex] = {}
        self._kit: Kit | None = None
