"""JSON schemas in the form that strict endpoints take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

_DROPPED = {
    "title",
    "default",
    "examples",
    "example",
    "$schema",
    "$id",
    "$comment",
    "discriminator",
    "uniqueItems",
}
_LOOSE = {
    "patternProperties",
    "prefixItems",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "propertyNames",
}


class WireSchema(Struct, frozen=True):
    """A schema made ready. `strict` is False where its meaning has no strict form; `wrapped`: the value
    stands under the key "value", because the root of a strict schema must be an object."""

    schema: dict[str, Any]
    strict: bool
    wrapped: bool


def wire_schema(schema: Mapping[str, Any]) -> WireSchema:
    """The schema by the providers' rules: every property required, nothing beside them, no defaults, no
    words beside a reference, unions as anyOf, an object at the root."""
    loose = [False]
    made = _node(dict(schema), loose)
    wrapped = made.get("type") != "object" and "$ref" not in made
    if wrapped or "$ref" in made:
        definitions = made.pop("$defs", None)
        if not wrapped and definitions:
            target = definitions.get(made["$ref"].rpartition("/")[2], {})
            made = dict(target)
        else:
            made = _object({"value": made})
        if definitions:
            made["$defs"] = definitions
    return WireSchema(made, not loose[0], wrapped)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _node(node: Any, loose: list[bool]) -> Any:
    if isinstance(node, bool) or not isinstance(node, Mapping):
        loose[0] = True  # `true` as a schema: anything goes
        return {}
    if "$ref" in node:
        return {"$ref": node["$ref"], **_definitions(node, loose)}
    made: dict[str, Any] = {key: value for key, value in node.items() if key not in _DROPPED}
    if _LOOSE & made.keys():
        loose[0] = True
    if "allOf" in made and len(made["allOf"]) == 1:
        only = made.pop("allOf")[0]
        return _node({**only, **made} if "$ref" not in only else only, loose)
    if "oneOf" in made:
        made["anyOf"] = made.pop("oneOf")
    for key in ("anyOf", "allOf"):
        if key in made:
            made[key] = [_node(part, loose) for part in made[key]]
    if "items" in made:
        made["items"] = _node(made["items"], loose)
    made.update(_definitions(node, loose))
    if made.get("type") == "object" or "properties" in made:
        _close(made, loose)
    elif not ({"type", "anyOf", "enum", "const", "allOf"} & made.keys()):
        loose[0] = True
    return made


def _definitions(node: Mapping[str, Any], loose: list[bool]) -> dict[str, Any]:
    return {
        key: {name: _node(part, loose) for name, part in node[key].items()}
        for key in ("$defs", "definitions")
        if key in node
    }


def _close(made: dict[str, Any], loose: list[bool]) -> None:
    """An object with its properties and no others; one that is a free map has no strict form."""
    free = made.get("additionalProperties") not in (None, False) or "properties" not in made
    made["properties"] = {name: _node(part, loose) for name, part in made.get("properties", {}).items()}
    if free:
        loose[0] = True
        return
    made["required"] = list(made["properties"])
    made["additionalProperties"] = False


def schema_text(schema: Mapping[str, Any]) -> str:
    """The schema as it is shown in a prompt: slim, on one line."""
    return msgspec.json.encode(wire_schema(schema).schema).decode()
