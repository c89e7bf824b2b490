"""Every error that `orchestra` raises on purpose.

The tree, compared with the classes by `tests/test_house.py`:

    OrchestraError
    ├── UserError              yours to fix: names the file, the line and the key where it can
    │   ├── RoleError              a role file
    │   ├── ConfigError            orchestra.toml, the environment, a flag
    │   ├── InputError             a question, a folder, a session's name
    │   └── StoreError             the store cannot be opened, read or written
    ├── ToolError              text for the model: the agent reads it and goes on
    │   ├── ToolUnknown            no such tool in this agent's subset
    │   ├── ToolArguments          arguments that do not fit the tool's schema
    │   ├── ToolFailed             the tool ran and said no
    │   └── ToolTimeout            the tool took longer than it may
    └── RunError               a run's failure: an agent's, or the session's
        ├── ModelError             an endpoint's failure
        │   ├── ModelUnreachable       connection, 408, 409, 5xx, silence: worth another try
        │   ├── ModelThrottled         429: worth another try, later
        │   ├── ModelRefused           400, 401, 403, 404: never worth another try
        │   ├── ContextTooLong         the endpoint's window is smaller than the prompt
        │   └── OutputInvalid          the reply does not fit the schema asked for, even after repair
        ├── ContextOverflow        what may never be cut exceeds the budget
        ├── LimitReached           a budget of tokens, money, steps or time is used up
        ├── Overloaded             a bounded queue is full
        └── AgentFailed            an agent ended without a result
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class OrchestraError(Exception):
    """The root: its message is one sentence for a person."""


@contextmanager
def alone() -> Iterator[None]:
    """Take an error that came alone out of the group that a task group wrapped it in.

    A person reads one sentence, and a caller's `except ToolError` works, wherever the error was raised.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        if isinstance(error, BaseExceptionGroup):
            raise
        raise error from error.__cause__


class UserError(OrchestraError):
    """A mistake the person can mend; `file`, `line` (from 1) and `key` say where, None where unknown."""

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        place = ":".join(str(part) for part in (file, line) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)
        self.file = file
        self.line = line
        self.key = key


class RoleError(UserError):
    """A role file that cannot be used as it is."""


class ConfigError(UserError):
    """A setting that cannot be used as it is."""


class InputError(UserError):
    """A question, a folder or a name that leads nowhere."""


class StoreError(UserError):
    """The store cannot be opened, read or written."""


class ToolError(OrchestraError):
    """A tool call that brought no result; its message is written for the model."""


class ToolUnknown(ToolError):
    """The model called a tool it was not offered."""


class ToolArguments(ToolError):
    """The arguments do not fit the tool's schema."""


class ToolFailed(ToolError):
    """The tool ran and could not do it."""


class ToolTimeout(ToolError):
    """The tool took longer than it may."""


class RunError(OrchestraError):
    """A run, or one agent of it, cannot go on."""


class ModelError(RunError):
    """An endpoint failed; `endpoint` and `model` say which, `status` is its HTTP status or None.

    `usage`: the `values.usage.Usage` of the calls that were billed before the failure, None for none.
    """

    def __init__(
        self, message: str, *, endpoint: str = "", model: str = "", status: int | None = None
    ) -> None:
        super().__init__(message)
        self.endpoint = endpoint
        self.model = model
        self.status = status
        self.usage: Any = None


class ModelUnreachable(ModelError):
    """No usable answer arrived; another try may succeed."""


class ModelThrottled(ModelError):
    """The endpoint asked for a pause; `retry_after` is in seconds, None where it did not say."""

    def __init__(
        self,
        message: str,
        *,
        endpoint: str = "",
        model: str = "",
        status: int | None = 429,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, endpoint=endpoint, model=model, status=status)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """The endpoint will answer the same way again; the message says what to change."""


class ContextTooLong(ModelError):
    """The prompt is longer than the endpoint's window; `window` is in tokens, None where it did not say."""

    def __init__(
        self,
        message: str,
        *,
        endpoint: str = "",
        model: str = "",
        status: int | None = 400,
        window: int | None = None,
    ) -> None:
        super().__init__(message, endpoint=endpoint, model=model, status=status)
        self.window = window


class OutputInvalid(ModelError):
    """The reply does not fit the schema asked for; `problem` is what the validation said."""

    def __init__(self, message: str, *, endpoint: str = "", model: str = "", problem: str = "") -> None:
        super().__init__(message, endpoint=endpoint, model=model)
        self.problem = problem


class ContextOverflow(RunError):
    """The blocks that may never be cut exceed the budget; `parts` maps each block's name to its tokens."""

    def __init__(self, message: str, *, parts: dict[str, int] | None = None, budget: int = 0) -> None:
        super().__init__(message)
        self.parts = parts or {}
        self.budget = budget


class LimitReached(RunError):
    """A limit is used up; `limit` names it (tokens, money, steps, seconds)."""

    def __init__(self, message: str, *, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


class Overloaded(RunError):
    """A bounded queue is full; `retry_after` is in seconds, None where unknown."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AgentFailed(RunError):
    """An agent ended without a result; `agent` is its path."""

    def __init__(self, message: str, *, agent: str) -> None:
        super().__init__(message)
        self.agent = agent
