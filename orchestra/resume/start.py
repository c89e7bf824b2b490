"""How a session was started, as its record says."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import anyio
import msgspec
from msgspec import Struct

from orchestra.errors import InputError
from orchestra.journal.records import SessionRecord
from orchestra.workflow import Options

OWN_WORKFLOW = "orchestra.workflow:research_then_write"
AnyWorkflow = Callable[..., Awaitable[Any]]


class Start(Struct, frozen=True, kw_only=True):
    """What a session was started with; stands in its record's `config`.

    `workflow`: module:name of its function. `options`: what the workflow was given beside the question.
    `user` and `project`: whose memory it has, "" for none.
    `documents`: the folder as it was named, "" for none. `models` and `windows` by tier. `tools`: their
    names. `trusted`: see `Past`. `forked`: the session and the event it was forked from.
    """

    workflow: str = OWN_WORKFLOW
    options: Mapping[str, Any] = {}
    documents: str = ""
    user: str = ""
    project: str = ""
    models: Mapping[str, str] = {}
    windows: Mapping[str, int] = {}
    version: str = ""
    trusted: int = 0
    forked: tuple[str, int] | None = None


def start_of(record: SessionRecord) -> Start:
    """How a recorded session was started."""
    return msgspec.convert(dict(record.config), Start, strict=False)


@cache
def this_version() -> str:
    """The version of this program, "" where it is not installed."""
    try:
        return version("orchestra")
    except PackageNotFoundError:
        return ""


def place_of(workflow: AnyWorkflow) -> str:
    """`module:name`, by which a workflow is found again."""
    name = getattr(workflow, "__qualname__", type(workflow).__qualname__)
    return f"{getattr(workflow, '__module__', type(workflow).__module__)}:{name}"


def workflow_at(place: str) -> AnyWorkflow:
    """The workflow at `module:name`. Raises InputError where it cannot be imported."""
    module, _, name = place.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"The session's workflow {place} cannot be imported here ({error}): resume it from the program "
            "that ran it, with Runtime.resume(session, workflow=...).",
            key="workflow",
        ) from error
    assert callable(found)
    return found  # type: ignore[no-any-return] # whatever it is, it is called with a session and a question


def arguments_of(start: Start) -> tuple[Any, ...]:
    """What the workflow is given behind session and question."""
    return (Options(**start.options),) if start.workflow == OWN_WORKFLOW else ()


async def resolved(folder: str) -> str:
    """The folder's whole path, so that a run from elsewhere finds it; "" for none."""
    return str(await anyio.Path(folder).resolve()) if folder else ""
