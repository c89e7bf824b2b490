"""`@tool`: a typed function becomes a tool, its schema read from hints and docstring."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, overload

import docstring_parser
import pydantic
from msgspec import Struct
from pydantic_core import to_json

from orchestra.errors import ToolArguments, ToolFailed
from orchestra.roles.conditions import Condition, condition_of
from orchestra.tools.port import Effects, ToolOutput
from orchestra.tools.threads import run_in_tool_thread
from orchestra.values.messages import ToolSpec

# What a function raises when the world, not its author, is at fault. The model reads these and goes
# on; anything else is a bug and flies.
EXPECTED = (OSError, ValueError, LookupError, ArithmeticError)


class Manner(Struct, frozen=True, kw_only=True):
    """How a tool is called. `approve`: when a person has to agree (see `roles.conditions`)."""

    effects: Effects = "read"
    seconds: float | None = 60.0
    ephemeral: bool = False
    approve: str | Condition = "never"


class FunctionTool:
    """A tool made of one function; `seconds` None: as long as the agent's deadline allows.

    `check`: what says after a crash whether a call with `effects="write"` took effect, set by `checked_by`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        spec: ToolSpec,
        arguments: type[pydantic.BaseModel],
        manner: Manner,
    ) -> None:
        self._function = function
        self._valid = arguments.__pydantic_validator__.validate_python
        self._is_async = inspect.iscoroutinefunction(function)
        self.spec = spec
        self.effects: Effects = manner.effects
        self.seconds = manner.seconds
        self.ephemeral = manner.ephemeral
        self.approve = manner.approve
        self.check: Callable[[str], Awaitable[ToolOutput | None]] | None = None

    def checked_by(self, function: Callable[[str], Awaitable[Any]]) -> Callable[[str], Awaitable[Any]]:
        """A decorator: an async function of a call's key that returns its result, None if it had no effect.

        It is asked after a crash that left open whether the call took effect.
        """

        async def check(key: str) -> ToolOutput | None:
            result = await function(key)
            return result if result is None or isinstance(result, ToolOutput) else self._output(result)

        self.check = check
        return function

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        """Validate the arguments and run the function, in a worker thread when it is not async."""
        try:
            valid = vars(self._valid(arguments))
        except pydantic.ValidationError as error:
            raise ToolArguments(_problems(self.spec.name, error)) from error
        try:
            if self._is_async:
                result = await self._function(**valid)
            else:
                result = await run_in_tool_thread(functools.partial(self._function, **valid))
        except EXPECTED as error:
            raise ToolFailed(f"{self.spec.name} failed: {error or type(error).__name__}") from error
        return result if isinstance(result, ToolOutput) else self._output(result)

    def _output(self, result: Any) -> ToolOutput:
        """What a tool returned that is no output yet."""
        text = result if isinstance(result, str) else to_json(result, fallback=str).decode()
        return ToolOutput(text=text, ephemeral=self.ephemeral)


def _problems(name: str, error: pydantic.ValidationError) -> str:
    """What was wrong with the arguments, in words a model can act on."""
    parts = [
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    ]
    return f"The arguments of {name} do not fit its schema: {'; '.join(parts)}."


def slim(schema: Any) -> Any:
    """A JSON schema without what a model has no use for: titles, and defaults that are null."""
    if isinstance(schema, list):
        return [slim(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if (key == "title" and isinstance(value, str)) or (key == "default" and value is None):
            continue
        # A property may itself be called "title"; below "properties" the keys are names.
        kept[key] = (
            {name: slim(part) for name, part in value.items()}
            if key in ("properties", "$defs") and isinstance(value, dict)
            else slim(value)
        )
    return kept


@overload
def tool(function: Callable[..., Awaitable[Any]] | Callable[..., Any], /) -> FunctionTool: ...


@overload
def tool(
    *,
    name: str | None = None,
    effects: Effects = "read",
    seconds: float | None = 60.0,
    ephemeral: bool = False,
    approve: str | Condition = "never",
) -> Callable[[Callable[..., Any]], FunctionTool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    effects: Effects = "read",
    seconds: float | None = 60.0,
    ephemeral: bool = False,
    approve: str | Condition = "never",
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Make a tool of a typed function; its docstring is what the model reads.

    Every parameter needs a type hint; a Google, NumPy or reST docstring describes each.
    `effects="write"` says that a call changes something outside: it is never silently repeated.
    `ephemeral` results leave the context after one turn. `approve`: "always", "never", "when ...", or a
    function of the arguments that says when a person has to agree first. Raises TypeError for a function
    that cannot be described, ValueError for a figure or a rule that means nothing.
    """
    if seconds is not None and seconds <= 0:
        raise ValueError(f"seconds must be above zero or None, not {seconds}")
    if isinstance(approve, str):
        condition_of(approve)
    manner = Manner(effects=effects, seconds=seconds, ephemeral=ephemeral, approve=approve)

    def make(target: Callable[..., Any]) -> FunctionTool:
        spec, arguments = _describe(target, name)
        return FunctionTool(target, spec=spec, arguments=arguments, manner=manner)

    return make if function is None else make(function)


def _describe(function: Callable[..., Any], name: str | None) -> tuple[ToolSpec, type[pydantic.BaseModel]]:
    shown: str = name or str(getattr(function, "__name__", type(function).__name__))
    docstring = docstring_parser.parse(inspect.getdoc(function) or "")
    described = {part.arg_name: part.description for part in docstring.params}
    fields: dict[str, Any] = {}
    try:
        signature = inspect.signature(function, eval_str=True)
    except NameError as error:
        raise TypeError(f"tool {shown}: {error}; hints are looked up at module level") from error
    for parameter in signature.parameters.values():
        if parameter.annotation is parameter.empty:
            raise TypeError(f"tool {shown}: parameter {parameter.name} needs a type hint")
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"tool {shown}: parameter {parameter.name} must be callable by name")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (
            parameter.annotation,
            pydantic.Field(default, description=described.get(parameter.name)),
        )
    parts = (docstring.short_description, docstring.long_description)
    description = "\n".join(part for part in parts if part)
    if not description:
        raise TypeError(f"tool {shown}: the docstring is missing, and a model reads nothing else")
    arguments = pydantic.create_model(
        shown, __config__=pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True), **fields
    )
    schema = slim(arguments.model_json_schema())
    return ToolSpec(name=shown, description=description, parameters=schema), arguments
