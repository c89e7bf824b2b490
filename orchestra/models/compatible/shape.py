"""A request as the body that one endpoint takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from orchestra.models.compatible.emulate import action_schema, emulated_messages
from orchestra.models.compatible.encode import encoded, in_order, takes_any
from orchestra.models.compatible.quirks import OutputMode, Quirks
from orchestra.models.compatible.schemas import WireSchema, schema_text, wire_schema
from orchestra.models.compatible.transport import Body
from orchestra.models.settings import TierSetting
from orchestra.values.messages import Message, OutputSpec, Request, ToolSpec

_encode = msgspec.json.Encoder().encode
_ANY_JSON = b'{"type":"json_object"}'
_MOST_CACHED = 4_096
_MOST_FORMS = 512
_MOST_ENDS = 8


class Outgoing(Struct, frozen=True, gc=False):
    """What a body asks for beside its messages, and so how its reply is to be read.

    `mode`: how the output was asked for, None if none was. `emulated`: tools went into the prompt.
    `wrapped`: the value stands under "value". `fields`: the body's fields beyond model and messages.
    `plain`: nothing in the reply is in a place of its own (see `plain`).
    """

    mode: OutputMode | None = None
    emulated: bool = False
    wrapped: bool = False
    fields: tuple[str, ...] = ()
    plain: bool = False


class _Form(Struct, frozen=True, gc=False):
    """A body without its messages and the limit of its reply, for all requests that ask for the same.

    `head` and `tail`: what goes before and after the messages, up to where the limit goes. `quirks`: those
    that messages have to be changed for, None for none. `words`: what the last message ends with. `ends`:
    the tail with what closes the body, by limit. `given`: what the form is known by in the Shaper, kept so
    that its ids stay its own.
    """

    sent: Outgoing
    head: bytes
    tail: bytes
    quirks: Quirks | None
    limit_name: bytes
    words: str
    given: tuple[Any, ...]
    ends: dict[int | None, bytes] = field(default_factory=dict)


class _Making(Struct, frozen=True, gc=False):
    """A body that is made when it is sent; until then it takes no room of its own."""

    form: _Form
    messages: Sequence[Message]
    cache_until: int
    end: bytes

    def __call__(self) -> bytes:
        form = self.form
        return b"".join((form.head, encoded(self.messages, form.quirks, self.cache_until), self.end))


class _Plan(Struct, gc=False):
    """A form in the making. `pieces`: fields whose JSON is made already."""

    messages: Sequence[Message]
    mode: OutputMode | None = None
    emulated: bool = False
    wrapped: bool = False
    words: str = ""
    pieces: list[tuple[str, bytes]] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)


class Shaper:
    """Makes bodies for one model. What does not change between calls is encoded once and kept."""

    def __init__(self, setting: TierSetting) -> None:
        self._setting = setting
        self._head = b'{"model":' + _encode(setting.model) + b',"messages":['
        self._tools: dict[int, tuple[ToolSpec, bytes]] = {}
        self._schemas: dict[int, tuple[Any, WireSchema, bytes]] = {}
        self._forms: dict[tuple[Any, ...], _Form] = {}
        self._formed_by: Quirks | None = None

    def shape(self, request: Request, quirks: Quirks, *, stream: bool = False) -> tuple[Outgoing, Body]:
        tools, most = request.tools, request.max_output_tokens
        if tools and quirks.tools == "emulated":
            plan = self._emulated(request, quirks)
            form, messages = self._form(plan, request, quirks, stream), in_order(plan.messages)
        else:
            messages = request.messages if request.in_order else in_order(request.messages)
            if self._formed_by is not quirks:
                self._forms.clear()
                self._formed_by = quirks
            # What requests of one form have in common.
            choice, warmth = request.tool_choice, request.temperature
            kind = (id(request.output), choice, warmth, most is None, stream, *map(id, tools))
            form = self._forms.get(kind) or self._native_form(kind, request, quirks, stream)
            if form.words:
                messages = with_last_words(messages, form.words)
        end = form.ends.get(most) or self._end(form, most, quirks)
        return form.sent, _Making(form, messages, request.cache_until, end)

    def _end(self, form: _Form, most: int | None, quirks: Quirks) -> bytes:
        """The tail, the limit of the reply, and the last brace."""
        end = b"}"
        if form.limit_name and most is not None:
            caps = (most, quirks.max_output or most, self._setting.max_output or most)
            end = b"%b%d}" % (form.limit_name, min(caps))
        if len(form.ends) > _MOST_ENDS:
            form.ends.clear()
        end = form.ends[most] = form.tail + end
        return end

    def _native_form(self, kind: tuple[Any, ...], request: Request, quirks: Quirks, stream: bool) -> _Form:
        """The form of such requests, kept while the endpoint's quirks are the same."""
        if len(self._forms) > _MOST_FORMS:
            self._forms.clear()
        form = self._form(self._native(request, quirks), request, quirks, stream)
        self._forms[kind] = form
        return form

    def _form(self, plan: _Plan, request: Request, quirks: Quirks, stream: bool) -> _Form:
        self._set_fields(plan, request, quirks)
        if stream:
            plan.fields["stream"] = True
            plan.fields["stream_options"] = {"include_usage": True}
        names = []
        parts: list[bytes] = [b"]"]
        for name, piece in plan.pieces:
            if name not in quirks.without:
                names.append(name)
                parts += (b',"', name.encode(), b'":', piece)
        kept = {name: value for name, value in plan.fields.items() if name not in quirks.without}
        names += kept
        if kept:
            parts += (b",", _encode(kept)[1:-1])
        limit = quirks.limit_field
        limit_name = b""
        if request.max_output_tokens is not None and limit not in quirks.without and limit not in kept:
            limit_name = b',"' + limit.encode() + b'":'
            names.append(limit)
        plain = plan.mode != "tool" and not plan.emulated and not plan.wrapped
        sent = Outgoing(plan.mode, plan.emulated, plan.wrapped, tuple(names), plain)
        changing = None if takes_any(quirks) else quirks
        given = (request.tools, request.output)
        return _Form(sent, self._head, b"".join(parts), changing, limit_name, plan.words, given)

    def _native(self, request: Request, quirks: Quirks) -> _Plan:
        plan = _Plan(request.messages)
        if request.output is not None:
            plan.mode = quirks.mode(bool(request.tools))
            wire, format_json = self._schema(request.output)
            plan.wrapped = wire.wrapped
            if plan.mode == "schema":
                plan.pieces.append(("response_format", format_json))
            elif plan.mode == "json":
                plan.pieces.append(("response_format", _ANY_JSON))
            if plan.mode in {"json", "text"}:
                plan.words = _format_words(request.output, wire)
        if request.tools or plan.mode == "tool":
            plan.pieces.append(("tools", self._tools_json(request, plan.mode)))
            choice = _choice(request, plan.mode)
            if choice is not None:
                plan.fields["tool_choice"] = choice
            if self._setting.parallel_calls is not None:
                plan.fields["parallel_tool_calls"] = self._setting.parallel_calls
        return plan

    def _emulated(self, request: Request, quirks: Quirks) -> _Plan:
        if request.tool_choice == "none":
            told = emulated_messages(request, "")
            request = msgspec.structs.replace(request, messages=tuple(told), tools=())
            plan = self._native(request, quirks)
            if plan.words:
                plan.messages = with_last_words(plan.messages, plan.words)
            return plan
        answer = schema_text(request.output.schema) if request.output is not None else ""
        plan = _Plan(emulated_messages(request, answer), emulated=True)
        plan.mode = "text" if quirks.output == "tool" else quirks.output
        if plan.mode == "schema":
            wire = wire_schema(action_schema(request))
            body = {"name": "action", "schema": wire.schema, "strict": wire.strict}
            plan.pieces.append(("response_format", _encode({"type": "json_schema", "json_schema": body})))
        elif plan.mode == "json":
            plan.pieces.append(("response_format", _ANY_JSON))
        return plan

    def _set_fields(self, plan: _Plan, request: Request, quirks: Quirks) -> None:
        setting = self._setting
        fields = plan.fields
        if request.temperature is not None:
            fields["temperature"] = request.temperature
        if setting.reasoning_effort:
            fields["reasoning_effort"] = setting.reasoning_effort
        if setting.thinking_tokens is not None and quirks.thinking:
            fields.update(_thinking(quirks.thinking, setting.thinking_tokens))
        if setting.extra:
            fields.update(setting.extra)

    def _tools_json(self, request: Request, mode: OutputMode | None) -> bytes:
        known = self._tools
        if len(known) > _MOST_CACHED:
            known.clear()
        parts = []
        for spec in request.tools:
            entry = known.get(id(spec))
            if entry is None or entry[0] is not spec:
                entry = known[id(spec)] = (spec, _tool(spec))
            parts.append(entry[1])
        if mode == "tool" and request.output is not None:
            wire, _ = self._schema(request.output)
            parts.append(
                _tool(
                    ToolSpec(output_tool(request.output), "Give the result, once it is ready.", wire.schema)
                )
            )
        return b"[" + b",".join(parts) + b"]"

    def _schema(self, output: OutputSpec) -> tuple[WireSchema, bytes]:
        known = self._schemas
        entry = known.get(id(output.schema))
        if entry is None or entry[0] is not output.schema:
            if len(known) > _MOST_CACHED:
                known.clear()
            wire = wire_schema(output.schema)
            body = {"name": output.name, "schema": wire.schema, "strict": wire.strict}
            entry = (output.schema, wire, _encode({"type": "json_schema", "json_schema": body}))
            known[id(output.schema)] = entry
        return entry[1], entry[2]


def output_tool(output: OutputSpec) -> str:
    """The name of the tool that takes the value in mode "tool"."""
    return f"give_{output.name.lower()}"


def with_last_words(messages: Sequence[Message], words: str) -> list[Message]:
    """The messages with words at the end, in the last one where that is the user's."""
    last = messages[-1] if messages else None
    if last is not None and last.role == "user":
        return [*messages[:-1], Message(role="user", text=f"{last.text}\n\n{words}")]
    return [*messages, Message(role="user", text=words)]


def _format_words(output: OutputSpec, wire: WireSchema) -> str:
    schema = _encode(wire.schema).decode()
    return f"Reply with one JSON object ({output.name}) and nothing else, by this JSON schema:\n{schema}"


def _tool(spec: ToolSpec) -> bytes:
    function = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return _encode({"type": "function", "function": function})


def _choice(request: Request, mode: OutputMode | None) -> Any:
    """None where the endpoint's own default says the same."""
    if mode == "tool" and request.output is not None:
        if not request.tools or request.tool_choice == "none":
            return {"type": "function", "function": {"name": output_tool(request.output)}}
        return "required"
    return None if request.tool_choice == "auto" else request.tool_choice


def _thinking(form: str, tokens: int) -> dict[str, Any]:
    if form == "anthropic":
        return {"thinking": {"type": "enabled", "budget_tokens": tokens}}
    if form == "qwen":
        return {"enable_thinking": True, "thinking_budget": tokens}
    if form == "gemini":
        return {"extra_body": {"google": {"thinking_config": {"thinking_budget": tokens}}}}
    return {"reasoning": {"max_tokens": tokens}}
