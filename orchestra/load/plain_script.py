"""Answers for any request: words, or the plainest value that fits a schema; and scripts read from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestra.errors import InputError
from orchestra.load.behaviour import Call, Say, Script

_WORDS = "the quick brown fox jumps over a lazy dog while rain falls on an old stone bridge near town".split()  # noqa: SIM905 - a list of words reads better as words


def words(count: int) -> str:
    """So many words of one token each, always the same."""
    return " ".join(_WORDS[place % len(_WORDS)] for place in range(count)) + "."


def value_for(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """The plainest value that fits a schema."""
    root = root or schema
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        definitions = root.get("$defs") or root.get("definitions") or {}
        return value_for(definitions.get(name, {}), root, depth + 1) if depth < 8 else None
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return value_for(schema[key][0], root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        required = schema.get("required", list(properties))
        return {name: value_for(properties[name], root, depth + 1) for name in required if name in properties}
    if kind == "array":
        least = max(1, schema.get("minItems", 1)) if depth < 6 else schema.get("minItems", 0)
        return [value_for(schema.get("items", {}), root, depth + 1) for _ in range(least)]
    plain: dict[Any, Any] = {
        "integer": schema.get("minimum", 1),
        "number": 1.0,
        "boolean": True,
        "null": None,
    }
    return plain.get(kind, "text")


def by_schema(body: Mapping[str, Any]) -> Say | None:
    """The plainest value for a request with a JSON schema; nothing for others."""
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    return Say(json.dumps(value_for(schema))) if schema else None


def from_file(path: str) -> Script:
    """A script from a JSON file: a list of rules, the first that fits answers.

    A rule: `when` (a text that must stand in some message, left out: always), `model` (a name, left out:
    any), and one of `text`, `json` (a value), `call` ({"name", "arguments"}). Raises InputError.
    """
    try:
        rules = json.loads(Path(path).read_text(encoding="utf-8"))
        checked = [(rule.get("when", ""), rule.get("model", ""), _say(rule)) for rule in rules]
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as wrong:
        raise InputError(f"The script cannot be read: {wrong}", file=path) from None

    def script(body: Mapping[str, Any]) -> Say | None:
        told = json.dumps(body.get("messages", ()), ensure_ascii=False)
        for when, model, say in checked:
            if when in told and model in ("", body.get("model")):
                return say
        return None

    return script


def _say(rule: Mapping[str, Any]) -> Say:
    if "call" in rule:
        return Say(calls=(Call(rule["call"]["name"], json.dumps(rule["call"].get("arguments", {}))),))
    return Say(json.dumps(rule["json"], ensure_ascii=False) if "json" in rule else str(rule["text"]))
