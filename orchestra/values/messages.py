"""What goes to a model and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from orchestra.values.usage import NO_USAGE, Usage

Speaker = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "calls", "length", "filter", "refusal"]
ToolChoice = Literal["auto", "none", "required"]
Purpose = Literal["step", "final", "summary", "check", "repair"]


class ToolCall(Struct, frozen=True, gc=False):
    """One call that a model asked for; `arguments` is the JSON text of an object.

    `extra`: JSON text that the endpoint wants back beside the call (Gemini's thought signature), or "".
    """

    id: str
    name: str
    arguments: str
    extra: str = ""


class Message(Struct, frozen=True, gc=False):
    """One message of a prompt.

    `calls` only with `role="assistant"`; `call_id` only, and always, with `role="tool"`.
    `wire` caches the message as an endpoint's JSON, encoded once by the adapter (b"" until then);
    it takes no part in equality of meaning and is never stored.
    """

    role: Speaker
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    reasoning: str = ""
    wire: bytes = b""


class ToolSpec(Struct, frozen=True, gc=False):
    """A tool as a model sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class OutputSpec(Struct, frozen=True, gc=False):
    """A typed value that is asked for instead of text.

    `validate` takes the JSON text of a reply, returns the value and raises ValueError with a message
    that a model can act on. `key` caches what the journal knows name and schema by, with the two of them.
    """

    name: str
    schema: Mapping[str, Any]
    validate: Callable[[str], Any]
    key: tuple[str, Mapping[str, Any], str] | None = None


class Request(Struct, frozen=True, kw_only=True, gc=False):
    """One model call. `max_output_tokens` and `temperature` None: the endpoint's own default.

    `purpose` tells wrappers (tiers, spend, journal) what the call is for; adapters ignore it.
    `cache_until` is the number of leading messages that the next request is expected to share.
    `in_order`: each call is known to have its results right behind it, and none of them stands elsewhere, as
    in a prompt that a context made; an adapter mends others.
    `session`: whom the call belongs to, for fairness. `tokens`: the prompt's, as the endpoint is expected to
    count them; 0 where nobody has counted. `afford(more)` is asked before each further call that this one
    leads to (a repair, a check, another try after one that was billed), with a prompt that is longer by
    `more` tokens; it holds the money for it, or says no. None: nobody minds.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    output: OutputSpec | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    purpose: Purpose = "step"
    cache_until: int = 0
    in_order: bool = False
    session: str = ""
    tokens: int = 0
    afford: Callable[[int], bool] | None = None


class Reply(Struct, frozen=True, kw_only=True, gc=False):
    """A model's whole answer: text, or calls, or (when an output was asked for) a validated `value`.

    `seconds` is the time from sending to the last byte, `waited_seconds` what the call waited for its turn.
    `exact`: the value is what the output's `validate` makes of this very text.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    value: Any = None
    reasoning: str = ""
    usage: Usage = NO_USAGE
    finish: Finish = "stop"
    model: str = ""
    seconds: float = 0.0
    waited_seconds: float = 0.0
    exact: bool = False


class Delta(Struct, frozen=True, gc=False):
    """A piece of a streamed reply: text, reasoning, or one call that is complete.

    `anew`: the reply begins anew (another try, another endpoint), and what came of it before is void.
    """

    text: str = ""
    reasoning: str = ""
    call: ToolCall | None = None
    anew: bool = False


ANEW = Delta(anew=True)

Listen = Callable[[Delta | None], None]
"""Hears a reply as it comes; None: it begins anew, what was shown of it is to be forgotten."""
