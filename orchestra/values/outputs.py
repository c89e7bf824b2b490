"""What models can be asked for as typed values, and how such a type is shown to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct


class Output(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The base of every output of ours: frozen, and nothing it does not name.

    Descriptions, of a class its docstring, of a field its `Meta`, are part of the prompt.
    """


def schema_of(kind: type) -> dict[str, Any]:
    """The JSON schema of a struct (or of any type that msgspec knows), letter by letter as pydantic has it.

    A recorded session is resumed only if what it was asked for is what it would be asked for now.
    """
    (root,), others = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    named = {name: _titled(schema) for name, schema in sorted(others.items())}
    if "$ref" not in root:
        whole = dict(root)
    elif root in _references(others):  # it holds itself
        whole = named[_name(root)]
    else:
        whole = named.pop(_name(root))
    return {"$defs": named, **whole} if named else whole


def _name(reference: Mapping[str, str]) -> str:
    return reference["$ref"].rpartition("/")[2]


def _references(schema: Any) -> Iterator[Any]:
    """Every reference in it, at any depth."""
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield {"$ref": schema["$ref"]}
        schema = schema.values()
    elif not isinstance(schema, list):
        return
    for part in schema:
        yield from _references(part)


def _titled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """With a title for each property, and in pydantic's order."""
    made = dict(sorted(schema.items()))
    if "properties" in made:
        made["properties"] = {
            name: dict(sorted({**about, "title": name.replace("_", " ").title()}.items()))
            if "$ref" not in about
            else about
            for name, about in made["properties"].items()
        }
    return made
