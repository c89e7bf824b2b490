"""What is unwise in a tool's schema, as a model sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from orchestra.roles.finding import Finding
from orchestra.roles.tool_words import begins_with_verb
from orchestra.values.messages import ToolSpec

_DEEPEST = 20
_EXAMPLE = re.compile(
    r"(?:\be\.g\.,?|\bfor example,?|\bfor instance,?|\bsuch as|\bexamples?:|\blike|例如|比如|如[:：])\s*"
    r"[\"'`“]?([^\"'`”\s,;)，。；）]+)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[<>{}\[\]…]|\.\.\.|x{3,}|#{2,}|\bexample\.(?:com|org|net)\b|\b(?:YYYY|MM|DD|HH)\b|^(?:foo|bar|baz|your)",
    re.IGNORECASE,
)
_REAL = re.compile(r"\d{3,}|[\w.+-]+@[\w-]+\.\w+|https?://|[A-Za-z]+[-_]\d+|\d+[-/.:]\d+")


def lint_tool(spec: ToolSpec) -> tuple[Finding, ...]:
    """All findings of a tool's schema; each begins with the tool's name."""
    return tuple(_tool(spec))


def _tool(spec: ToolSpec) -> Iterator[Finding]:
    if not begins_with_verb(spec.name):
        yield Finding(
            key=spec.name, sentence="the name does not begin with a verb, such as search_, read_ or list_."
        )
    yield from _text(spec.name, spec.description)
    yield from _schema(spec.name, spec.parameters, 0)


def _schema(key: str, schema: Any, depth: int) -> Iterator[Finding]:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        here = f"{key}.{name}"
        if name.lower() == "id":
            yield Finding(key=here, sentence='say what it identifies, such as "document_id".')
        yield from _examples(here, inner)
        yield from _schema(here, inner, depth + 1)
    for word in ("items", "additionalProperties"):
        yield from _schema(f"{key}[]", schema.get(word), depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        options = schema.get(word)
        for inner in options if isinstance(options, (list, tuple)) else ():
            yield from _examples(key, inner)
            yield from _schema(key, inner, depth + 1)
    for word in ("$defs", "definitions"):
        inner_schemas = schema.get(word)
        for name, inner in inner_schemas.items() if isinstance(inner_schemas, Mapping) else ():
            yield from _schema(f"{key}.{name}", inner, depth + 1)


def _examples(key: str, schema: Any) -> Iterator[Finding]:
    if not isinstance(schema, Mapping):
        return
    many = schema.get("examples")
    values = [*(many if isinstance(many, (list, tuple)) else ()), schema.get("example")]
    for value in values:
        if looks_real(value):
            yield _finding(key, str(value))
    yield from _text(key, schema.get("description"))


def _text(key: str, description: Any) -> Iterator[Finding]:
    for match in _EXAMPLE.finditer(description if isinstance(description, str) else ""):
        if looks_real(match[1].rstrip(".")):
            yield _finding(key, match[1].rstrip("."))


def _finding(key: str, value: str) -> Finding:
    mend = f"<{key.split('.')[-1]}>"
    return Finding(
        key=key, sentence=f'the example "{value}" looks real and may be copied into a call; write {mend}.'
    )


def looks_real(value: Any) -> bool:
    """Whether a model could take an example for data: an id, a date, an address, a number of three digits."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return False
    text = str(value)
    return bool(_REAL.search(text)) and not _PLACEHOLDER.search(text)
