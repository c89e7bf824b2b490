"""Tools for models that know none: offered in the prompt, called through structured output."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from orchestra.models.compatible.parse import RawCall
from orchestra.models.compatible.schemas import schema_text
from orchestra.values.messages import Message, Request, ToolSpec

_encode = msgspec.json.encode


def action_schema(request: Request) -> dict[str, Any]:
    """The schema of one action: a call of one of the tools, or the answer."""
    definitions: dict[str, Any] = {}
    branches: list[Any] = []
    for place, spec in enumerate(request.tools):
        arguments = _hoisted(spec.parameters, f"t{place}_", definitions)
        branches.append(_object({"tool": {"type": "string", "enum": [spec.name]}, "arguments": arguments}))
    if request.tool_choice != "required":
        answer: Any = {"type": "string"}
        if request.output is not None:
            answer = _hoisted(request.output.schema, "a_", definitions)
        branches.append(_object({"answer": answer}))
    schema = _object({"action": {"anyOf": branches}})
    if definitions:
        schema["$defs"] = definitions
    return schema


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _hoisted(schema: Mapping[str, Any], prefix: str, definitions: dict[str, Any]) -> Any:
    """The schema with its definitions moved, under a prefix of their own, to those of the root."""

    def renamed(node: Any) -> Any:
        if isinstance(node, Mapping):
            made = {key: renamed(value) for key, value in node.items() if key not in {"$defs", "definitions"}}
            if isinstance(made.get("$ref"), str):
                made["$ref"] = f"#/$defs/{prefix}{made['$ref'].rpartition('/')[2]}"
            return made
        return [renamed(part) for part in node] if isinstance(node, (list, tuple)) else node

    for key in ("$defs", "definitions"):
        for name, part in schema.get(key, {}).items():
            definitions[prefix + name] = renamed(part)
    return renamed(schema)


def emulated_messages(request: Request, answer_schema: str) -> list[Message]:
    """The prompt in words that need no knowledge of tools: the tools are described, calls and results told.

    With tool_choice "none" only the calls and results are told.
    """
    names = {call.id: call.name for message in request.messages for call in message.calls}
    messages = [_told(message, names) for message in request.messages]
    if request.tool_choice == "none":
        return messages
    words = _tool_words(request, answer_schema)
    if messages and messages[0].role == "system":
        messages[0] = Message(role="system", text=f"{messages[0].text}\n\n{words}")
    else:
        messages.insert(0, Message(role="system", text=words))
    return messages


def _told(message: Message, names: Mapping[str, str]) -> Message:
    if message.role == "tool":
        name = names.get(message.call_id, "tool")
        return Message(role="user", text=f"Result of {name}:\n{message.text}")
    if not message.calls:
        return message
    actions = [
        _encode({"action": {"tool": call.name, "arguments": msgspec.Raw(call.arguments.encode())}}).decode()
        for call in message.calls
    ]
    return Message(role="assistant", text="\n".join(actions))


def _tool_words(request: Request, answer_schema: str) -> str:
    lines = ["Tools:"]
    for spec in request.tools:
        lines.append(f"- {spec.name}: {spec.description} Arguments: {schema_text(spec.parameters)}")
    lines.append("Reply with one JSON object and nothing else.")
    lines.append('To use a tool: {"action":{"tool":"<name>","arguments":{…}}}. Its result comes next.')
    if request.tool_choice != "required":
        shape = f"by this JSON schema: {answer_schema}" if answer_schema else "a text"
        lines.append(f'To finish: {{"action":{{"answer":…}}}}, where the answer is {shape}.')
    return "\n".join(lines)


def action_of(value: Any, names: Sequence[str]) -> RawCall | str | None:
    """A decoded reply as a call, as the answer's text or JSON text, or None if it is neither.

    Models forget the outer object, or call the fields what other houses call them; that is understood.
    """
    if not isinstance(value, Mapping):
        return None
    inner = value.get("action", value)
    if isinstance(inner, str) and inner in names:  # {"action": "search", "arguments": {…}}
        return RawCall(inner, _arguments(value))
    if not isinstance(inner, Mapping):
        return None
    name = inner.get("tool") or inner.get("name") or inner.get("tool_name") or inner.get("function")
    if isinstance(name, Mapping):
        return action_of(name, names)
    if isinstance(name, str) and (name in names or "arguments" in inner):
        return RawCall(name, _arguments(inner))
    if "answer" in inner:
        answer = inner["answer"]
        return answer if isinstance(answer, str) else _encode(answer).decode()
    return None


def _arguments(inner: Mapping[str, Any]) -> str:
    for key in ("arguments", "parameters", "args", "input"):
        if key in inner:
            value = inner[key]
            return value if isinstance(value, str) else _encode(value).decode()
    return "{}"


_TAGGED = re.compile(r"<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|$)", re.DOTALL)


class _Keys(Struct, gc=False):
    """The keys under which `action_of` finds a call; what stands under others is passed over."""

    action: Any = None
    tool: Any = None
    name: Any = None
    tool_name: Any = None
    function: Any = None


_NO_CALL = _Keys()
_keys = msgspec.json.Decoder(_Keys).decode


def calls_in_text(text: str, tools: Sequence[ToolSpec]) -> list[RawCall]:
    """Calls that a model wrote into its text because its server did not take them out.

    Only in tags, or when the text is nothing but one call of a tool that was offered.
    """
    calls: list[RawCall] = []
    candidates = [match[1] for match in _TAGGED.finditer(text)] if "<tool_call>" in text else [text.strip()]
    for candidate in candidates:
        if not candidate.startswith("{"):
            continue
        try:
            if _keys(candidate) == _NO_CALL:
                continue
            names = [spec.name for spec in tools]
            call = action_of(msgspec.json.decode(candidate), names)
        except msgspec.DecodeError:
            continue
        if isinstance(call, RawCall) and call.name in names:
            calls.append(call)
    return calls
