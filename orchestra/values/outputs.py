"""What models can be asked for as typed values, and how such a type is shown to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Struct, structs


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


def faults_of(text: str, kind: type) -> Iterator[str]:
    """All that keeps a JSON text from being a struct, each with its place; msgspec stops at the first."""
    return _faults(msgspec.json.decode(text), kind, ())


def place_of(steps: Sequence[int | str]) -> str:
    """Where in a reply something is, as `claims.0.quotes`."""
    return ".".join(map(str, steps)) or "reply"


def _faults(value: Any, kind: Any, steps: tuple[int | str, ...]) -> Iterator[str]:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if isinstance(value, list) and get_origin(kind) in (tuple, list):
        for number, item in enumerate(value):
            yield from _faults(item, get_args(kind)[0], (*steps, number))
    elif isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, Struct):
        fields = {field.encode_name: field for field in structs.fields(kind)}
        for name, field in fields.items():
            if name in value:
                yield from _faults(value[name], field.type, (*steps, name))
            elif field.required:
                yield f"{place_of((*steps, name))}: it is missing"
        if kind.__struct_config__.forbid_unknown_fields:
            yield from (
                f"{place_of((*steps, name))}: there is no such field" for name in value.keys() - fields
            )
    else:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            yield f"{place_of(steps)}: {error}"


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
