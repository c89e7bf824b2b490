"""A recorded session, run again with nothing but its record."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from orchestra.config.load import load_settings
from orchestra.config.settings import Settings
from orchestra.journal.past import load_past
from orchestra.journal.reading import Reader
from orchestra.resume.absent import AbsentTool, absent_models, recorded_tools
from orchestra.resume.start import AnyWorkflow, arguments_of, start_of, workflow_at
from orchestra.runtime import Runtime
from orchestra.tools.port import Tool
from orchestra.values.roles import Role

_ABSENT = "The tool is not there in a replay, and its result is not in the record: resume the session first."


class Replaying(Struct, frozen=True, kw_only=True):
    """What a replay takes from here and not from the record.

    `workflow` None: the session's own, imported. `settings` None: what the command line would find.
    `roles` and `tools`: over those of the settings and the record, by name.
    """

    workflow: AnyWorkflow | None = None
    settings: Settings | None = None
    roles: tuple[Role, ...] = ()
    tools: tuple[Tool, ...] = ()


PLAIN = Replaying()


async def replay(reader: Reader, prefix: str, how: Replaying = PLAIN) -> Any:
    """What the session's workflow returns, byte for byte what it returned when it was recorded.

    Raises RecordDiffers where roles, tools, workflow or settings have changed since then, and where the
    record ends before its session does.
    """
    record = await reader.find_session(prefix)
    past = await load_past(reader, record, replay=True)
    start = start_of(record)
    settings = how.settings or load_settings({}, for_models=False).settings
    settings = structs.replace(settings, store=":memory:")
    specs = await recorded_tools(reader, past)
    tools = _tools(how.tools, [AbsentTool(spec, _ABSENT) for spec in specs])
    work = how.workflow or workflow_at(start.workflow)
    host = Runtime(settings, models=absent_models(start), roles=how.roles, tools=tools)
    async with host as runtime, runtime.replayed(past) as session:
        return await work(session, past.question, *arguments_of(start))


def _tools(given: Iterable[Tool], recorded: Iterable[Tool]) -> tuple[Tool, ...]:
    """The recorded ones in their order, each replaced by the given one of its name."""
    own = {tool.spec.name: tool for tool in given}
    return tuple(own.get(tool.spec.name, tool) for tool in recorded)
