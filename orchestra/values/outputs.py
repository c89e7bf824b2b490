"""What models can be asked for as typed values, and how such a type is shown to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Struct, structs

_JSON_TYPES = {str: "string", int: "integer", bool: "boolean"}
_VALUES = ("default", "enum", "const", "examples")  # of a schema: these hold no schemas


class Output(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The base of every output of ours: frozen, and nothing it does not name.

    Descriptions, of a class its docstring, of a field its `Meta`, are part of the prompt.
    """


def schema_of(kind: type) -> dict[str, Any]:
    """The JSON schema of a struct (or of any type that msgspec knows), letter by letter as pydantic has it.

    But for words to choose from, which are in alphabetic order, whichever they were written in.
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
    """Those of its parts; of the whole, where each part is right by itself."""
    whole = kind
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    found: list[str] = []
    if isinstance(value, list) and (item := _item_of(kind)) is not None:
        for number, part in enumerate(value):
            found += _faults(part, item, (*steps, number))
    elif isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, Struct):
        found += _faults_of_fields(value, kind, steps)
    if found:
        yield from found
        return
    try:  # as it was read: other rules hold for what is no JSON any more
        msgspec.json.decode(msgspec.json.encode(value), type=whole)
    except msgspec.ValidationError as error:
        yield f"{place_of(steps)}: {error}"


def _item_of(kind: Any) -> Any:
    """What each item of such a list is, None where it is no list of one kind."""
    items = get_args(kind)
    alike = get_origin(kind) is list or (get_origin(kind) is tuple and items[1:] == (...,))
    return items[0] if alike else None


def _faults_of_fields(
    value: dict[str, Any], kind: type[Struct], steps: tuple[int | str, ...]
) -> Iterator[str]:
    fields = {field.encode_name: field for field in structs.fields(kind)}
    for name, field in fields.items():
        if name in value:
            yield from _faults(value[name], field.type, (*steps, name))
        elif field.required:
            yield f"{place_of((*steps, name))}: it is missing"
    config = kind.__struct_config__
    if config.forbid_unknown_fields:
        for name in value:
            if name not in fields and name != config.tag_field:
                yield f"{place_of((*steps, name))}: there is no such field"


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
    made: dict[str, Any] = _typed(dict(sorted(schema.items())))
    if not made.get("required", True):
        del made["required"]
    if "properties" in made:
        made["properties"] = {
            name: dict(sorted({**about, "title": name.replace("_", " ").title()}.items()))
            if "$ref" not in about
            else about
            for name, about in made["properties"].items()
        }
    return made


def _typed(schema: Any) -> Any:
    """With the type of each choice of words or numbers, at any depth, without which some refuse a schema."""
    if isinstance(schema, list):
        return [_typed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: part if name in _VALUES else _typed(part) for name, part in schema.items()}
    if "properties" in schema:  # by names that mean nothing in a schema
        made["properties"] = {name: _typed(part) for name, part in schema["properties"].items()}
    chosen = made.get("enum")
    if chosen is None or "type" in made:
        return made
    kinds = {_JSON_TYPES.get(type(each)) for each in chosen}
    return dict(sorted({**made, "type": kind}.items())) if len(kinds) == 1 and (kind := kinds.pop()) else made
