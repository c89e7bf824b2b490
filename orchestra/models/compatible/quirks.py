"""What is peculiar about an endpoint and a model: known, learnt or set by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from orchestra.errors import ConfigError

OutputMode = Literal["schema", "json", "tool", "text"]
"""How a typed value is asked for: a JSON schema the endpoint enforces, "some JSON" with the schema in the
prompt, the arguments of a tool, or plain text with the schema in the prompt."""


class Quirks(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How to speak to one model of one endpoint. The defaults are an endpoint that does as OpenAI's does.

    `output_with_tools`: the mode when tools are offered too; None for the same.
    `tools`: "native"; "emulated" goes through structured output; "unknown" until the first call or check.
    `limit_field`: where the limit of output tokens is written.
    `without`: fields of the body that the endpoint refuses, left out.
    `echo`: the message field in which an assistant's reasoning must come back; "" sends none.
    `system`: "any" place, only "first", or "none" (sent as a user's words).
    `alternate`: two messages of one role in a row must be joined. `short_ids`: call ids must be nine
    letters and digits. `empty_content`: "" in place of null beside tool calls.
    `cache_marks`: the prompt's stable part is marked with cache_control.
    `thinking`: the form in which a budget of thinking tokens is written; "" if it has none.
    `url`: the base URL that worked where the one that was set did not.
    `window`, `max_output`: in tokens, as the endpoint's refusals named them; None if they did not.
    `learnt`: one sentence for each thing found out.
    """

    output: OutputMode = "schema"
    output_with_tools: OutputMode | None = None
    tools: Literal["unknown", "native", "emulated"] = "unknown"
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    without: tuple[str, ...] = ()
    echo: Literal["", "reasoning_content", "reasoning"] = ""
    system: Literal["any", "first", "none"] = "any"
    alternate: bool = False
    short_ids: bool = False
    empty_content: bool = False
    cache_marks: bool = False
    thinking: Literal["", "anthropic", "qwen", "gemini", "openrouter"] = ""
    url: str = ""
    window: int | None = None
    max_output: int | None = None
    learnt: tuple[str, ...] = ()

    def changed(self, sentence: str, **fields: Any) -> Quirks:
        """With these fields, and the sentence that says why."""
        return msgspec.structs.replace(self, **fields, learnt=(*self.learnt, sentence))

    def mode(self, with_tools: bool) -> OutputMode:
        if with_tools and self.output_with_tools is not None:
            return self.output_with_tools
        return self.output


def by_hand(quirks: Quirks, fields: Mapping[str, Any], endpoint: str) -> Quirks:
    """What a person set stands over what is known or learnt. Raises ConfigError for a wrong name or value."""
    if not fields:
        return quirks
    try:
        checked = msgspec.convert(dict(fields), Quirks)
    except msgspec.ValidationError as problem:
        raise ConfigError(f"The quirks of endpoint {endpoint} cannot be used: {problem}") from None
    return msgspec.structs.replace(quirks, **{name: getattr(checked, name) for name in fields})
