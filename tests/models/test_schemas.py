"""Schemas by the rules of strict endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from orchestra.load.plain_script import value_for
from orchestra.models.compatible.emulate import action_schema
from orchestra.models.compatible.schemas import wire_schema
from orchestra.session.outputs import output_spec
from orchestra.values.drafts import OUTPUTS
from orchestra.values.messages import Message, OutputSpec, Request, ToolSpec
from tests.models.loopback import completion, serving
from tests.models.opened import SEARCH, asks, opened, output


class Inner(BaseModel):
    kind: Literal["a", "b"] = "a"
    note: str | None = Field(default=None, description="A note.")


class Outer(BaseModel):
    inner: Inner = Field(description="With words beside a reference.")
    many: list[Inner] = []
    either: int | str = 3


def strict_faults(node: Any, path: str = "") -> list[str]:
    """What OpenAI's strict mode would refuse."""
    faults = []
    if isinstance(node, Mapping):
        if node.get("type") == "object":
            if node.get("additionalProperties") is not False:
                faults.append(f"{path}: open")
            if set(node.get("required", ())) != set(node.get("properties", {})):
                faults.append(f"{path}: not all required")
        faults += [
            f"{path}.{key}" for key in ("default", "oneOf", "title") if key in node and "." + key not in path
        ]
        if "$ref" in node and len(node) > 1 and path:
            faults.append(f"{path}: words beside a reference")
        for key, value in node.items():
            inside = (
                {f"{key}.{name}": part for name, part in value.items()}
                if key in ("properties", "$defs")
                else {}
            )
            for name, part in (inside or {key: value}).items():
                faults += strict_faults(part, f"{path}/{name}")
    elif isinstance(node, list):
        for place, part in enumerate(node):
            faults += strict_faults(part, f"{path}/{place}")
    return faults


@pytest.mark.parametrize("kind", [*OUTPUTS.values(), Outer, Inner], ids=lambda kind: kind.__name__)
def test_schemas_become_strict(kind: type) -> None:
    """Every output of ours, and defaults, unions and references, pass strict rules."""
    spec = output_spec(kind)
    wire = wire_schema(spec.schema)
    assert wire.strict
    assert not wire.wrapped
    assert strict_faults(wire.schema) == []
    spec.validate(msgspec.json.encode(value_for(wire.schema)).decode())


def test_what_has_no_strict_form_is_not_sent_as_strict() -> None:
    """A free map keeps its meaning and goes out without the flag."""
    wire = wire_schema(
        {"type": "object", "properties": {"map": {"type": "object", "additionalProperties": True}}}
    )
    assert not wire.strict
    assert wire.schema["properties"]["map"]["additionalProperties"] is True


SCALARS = st.sampled_from(
    [{"type": "string"}, {"type": "integer", "default": 1}, {"enum": ["a", "b"]}, {"const": 3}]
)
SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1).map(
            lambda properties: {"type": "object", "title": "T", "properties": properties}
        ),
        inner.map(lambda items: {"type": "array", "items": items}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"oneOf": parts}),
    ),
    max_leaves=8,
)


@given(SCHEMAS)
def test_law(schema: dict[str, Any]) -> None:
    """For any schema: the root is an object, and a schema called strict is."""
    wire = wire_schema(schema)
    assert wire.schema["type"] == "object"
    if wire.strict:
        assert strict_faults(wire.schema) == []


@pytest.mark.anyio
async def test_a_list_is_wrapped_and_unwrapped() -> None:
    """A value whose schema is no object travels in one, and comes out as itself."""
    async with serving(completion('{"value": [1, 2]}')) as here, opened(here.url) as model:
        reply = await model.reply(asks(output=output(list[int])))
    assert reply.value == [1, 2]
    sent = here.seen[0].body["response_format"]["json_schema"]["schema"]
    assert (sent["type"], sent["required"]) == ("object", ["value"])


def test_actions_of_tools_with_definitions() -> None:
    """Schemas of several tools share one root without their definitions meeting."""
    tools = tuple(ToolSpec(name, "Do.", Outer.model_json_schema()) for name in ("first", "second"))
    spec = OutputSpec("Outer", Outer.model_json_schema(), Outer.model_validate_json)
    request = Request(messages=(Message(role="user", text="x"),), tools=(*tools, SEARCH), output=spec)
    schema = action_schema(request)
    assert set(schema["$defs"]) == {"t0_Inner", "t1_Inner", "a_Inner"}
    value = value_for(schema)
    assert value["action"]["tool"] == "first"
    Outer.model_validate(value["action"]["arguments"])
    assert strict_faults(wire_schema(schema).schema) == []
