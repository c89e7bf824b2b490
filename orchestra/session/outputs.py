"""What a role's `output` stands for: a schema to ask for and the check of what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import msgspec
from pydantic import BaseModel, ValidationError

from orchestra.values.messages import OutputSpec
from orchestra.values.outputs import faults_of, place_of, schema_of

_MOST_FAULTS = 5


@cache
def output_spec(kind: type) -> OutputSpec:
    """The spec of a struct or of a pydantic model; made once for each type."""
    if issubclass(kind, BaseModel):
        return OutputSpec(kind.__name__, kind.model_json_schema(), partial(_validated, kind))
    read = msgspec.json.Decoder(kind).decode

    def validate(text: str) -> Any:
        try:
            return read(text)
        except msgspec.ValidationError as error:
            raise ValueError(_told(list(faults_of(text, kind))) or str(error)) from None

    return OutputSpec(kind.__name__, schema_of(kind), validate)


def _validated(model: type[BaseModel], text: str) -> BaseModel:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        faults = [f"{place_of(fault['loc'])}: {fault['msg']}" for fault in found]
        raise ValueError(_told(faults)) from None


def _told(faults: Sequence[str]) -> str:
    """What was wrong, at most five faults, in words a model can act on: it has one more try for all."""
    more = f"; and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""
    return "; ".join(faults[:_MOST_FAULTS]) + more


def as_json(value: Any) -> str:
    """A handed value as text, for the journal and for models."""
    if isinstance(value, str):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    return "" if value is None else msgspec.json.encode(value, enc_hook=str).decode()
